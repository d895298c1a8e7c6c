package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names replaces what differs from one run to the next by placeholders that do not, each of its own kind, so that what was
// recorded can still be decoded: a number by a number, a SHA by 40 hexadecimal digits. Secrets go. It begins again with each
// step, so that a record does not depend on which other steps were run.
type names struct {
	secrets []string
	people  map[string]string         // names of accounts, of the repository and of our directory: their placeholders
	words   *regexp.Regexp            // any of them
	seen    map[string]map[string]int // by kind, in the order in which they came
}

func newNames(w *world) *names {
	n := &names{seen: map[string]map[string]int{}, people: map[string]string{w.repo.String(): "owner/scratch", w.dir: "DIR", w.repo.Name: "scratch"}}
	for _, s := range w.secrets {
		if s != "" {
			n.secrets = append(n.secrets, s, base64.StdEncoding.EncodeToString([]byte("x-access-token:"+s)))
		}
	}
	maps.Copy(n.people, w.logins)
	delete(n.people, "")
	words := slices.Collect(maps.Keys(n.people))
	slices.SortFunc(words, func(a, b string) int { // "app[bot]" before "app"
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var patterns []string
	for _, word := range words {
		pattern := regexp.QuoteMeta(word)
		if isWord(word[0]) {
			pattern = `\b` + pattern
		}
		if isWord(word[len(word)-1]) {
			pattern += `\b`
		}
		patterns = append(patterns, pattern)
	}
	n.words = regexp.MustCompile(strings.Join(patterns, "|"))
	return n
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// count gives each different text of a kind a number, from 1 on.
func (n *names) count(kind, text string) int {
	if n.seen[kind] == nil {
		n.seen[kind] = map[string]int{}
	}
	if n.seen[kind][text] == 0 {
		n.seen[kind][text] = len(n.seen[kind]) + 1
	}
	return n.seen[kind][text]
}

var (
	tokenLike  = regexp.MustCompile(`\b(?:gh[opusr]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,}|v1\.[0-9a-f]{40}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+)|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----`)
	urlLike    = regexp.MustCompile(`\b(?:https?|git|ssh|svn)://[^\s"'<>)\]]+|\bgit@[^\s"']+`)
	shaLike    = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	timeLike   = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?`)
	requestID  = regexp.MustCompile(`\b[0-9A-F]{4}:[0-9A-F]{4,}(?::[0-9A-F]+)*\b`)
	mailLike   = regexp.MustCompile(`\b[\w.+\[\]-]+@[\w-]+(?:\.[\w-]+)+\b`)
	numberLike = regexp.MustCompile(`(#|number of |/pulls/|/pull/|/issues/)(\d+)\b`)
)

const (
	noTime = "2000-01-01T00:00:00Z"
	noURL  = "https://url.invalid"
)

// text replaces what differs within a text.
func (n *names) text(s string) string {
	for _, secret := range n.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	s = tokenLike.ReplaceAllString(s, "***")
	s = urlLike.ReplaceAllString(s, noURL)
	s = mailLike.ReplaceAllString(s, "mail@example.invalid")
	s = shaLike.ReplaceAllStringFunc(s, func(sha string) string {
		if strings.Trim(sha, "0") == "" {
			return sha // no object
		}
		return fmt.Sprintf("%040x", n.count("sha", sha))
	})
	s = timeLike.ReplaceAllString(s, noTime)
	s = requestID.ReplaceAllString(s, "REQUEST")
	s = n.words.ReplaceAllStringFunc(s, func(word string) string { return n.people[word] })
	return numberLike.ReplaceAllStringFunc(s, func(found string) string {
		m := numberLike.FindStringSubmatch(found)
		return m[1] + strconv.Itoa(n.count("number", m[2]))
	})
}

// ids are keys whose value names one thing; what they name is told by the last word.
var idKey = regexp.MustCompile(`^(?:id|databaseId|fullDatabaseId|\w+_id|run_number|suite)$`)

// constant are numbers that say nothing about the answer.
var constant = map[string]bool{"remaining": true, "cost": true, "used": true, "reset": true, "size": true, "watchers": true, "watchers_count": true,
	"network_count": true, "subscribers_count": true, "open_issues": true, "open_issues_count": true}

// cursors are opaque.
var cursors = map[string]bool{"cursor": true, "endCursor": true, "startCursor": true}

// normal is the value under a key, with everything replaced that differs.
func (n *names) normal(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := facts{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[n.text(k)] = n.normal(k, v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = n.normal(key, v[i])
		}
		return out
	case json.Number:
		switch {
		case constant[key]:
			return json.Number("1")
		case key == "number":
			return json.Number(strconv.Itoa(n.count("number", v.String())))
		case idKey.MatchString(key):
			return json.Number(strconv.Itoa(n.count("id", v.String())))
		}
		return v
	case string:
		return n.word(key, v)
	}
	return v
}

func (n *names) word(key, v string) any {
	switch {
	case v == "":
		return v
	case cursors[key]:
		return "CURSOR"
	case key == "fullDatabaseId":
		return strconv.Itoa(n.count("id", v))
	case key == "node_id" || key == "id":
		return fmt.Sprintf("NODE_%d", n.count("node", v))
	case key == "abbreviatedOid":
		return "0000001"
	}
	return n.text(v)
}
