package leak

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/BurntSushi/toml"
	"github.com/zricethezav/gitleaks/v8/config"
)

// ours are rules that stand in for gitleaks' of the same name, since the later one counts, and such as it lacks. Those it
// lacks are what an agent in a workflow has at hand: the workflow's token, its model's key, the key of its transcripts.
//
// github-app-token: since April 2026 an installation token, the GITHUB_TOKEN of a workflow included, is ghs_ and three
// parts with dots between them
// (https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/), where gitleaks
// 8.30.1 looks for 36 letters.
//
// anthropic-token: next to sk-ant-api03- and sk-ant-admin01- there are the tokens of a subscription, oat01 and ort01.
//
// age-secret-key: age 1.3 has identities after quantum computers, AGE-SECRET-KEY-PQ-1.
//
// private-key: gitleaks takes everything from a line that begins a key to one that ends it, so it finds one in any code
// that reads keys, and none where the end is missing. A key is what has a beginning and then key material, to the end of
// which it goes: a new key in place of an old one has its first lines in common with it.
const ours = `
[[rules]]
id = "github-app-token"
description = "Found a token of a GitHub App or of a workflow, which gives access to repositories."
regex = '''gh[us]_(?:[0-9a-zA-Z]{36}|[0-9a-zA-Z_-]{10,}\.[0-9a-zA-Z_-]{10,}\.[0-9a-zA-Z_-]{20,})'''
entropy = 3
keywords = ["ghu_", "ghs_"]
[[rules.allowlists]]
stopwords = ["00000000"]

[[rules]]
id = "anthropic-token"
description = "Found a key or token of Anthropic, which gives access to a paid account."
regex = '''\bsk-ant-[a-z]{2,8}[0-9]{2}-[0-9a-zA-Z_-]{80,}'''
entropy = 3
keywords = ["sk-ant-"]

[[rules]]
id = "age-secret-key"
description = "Found an age identity, which decrypts what was encrypted for it."
regex = '''AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}'''
keywords = ["age-secret-key-"]

[[rules]]
id = "private-key"
description = "Found a private key, which compromises what it encrypts or signs."
regex = '''(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,400}?[a-z0-9]{12}[a-z0-9+/]{36}[a-z0-9+/=\s\\"',]*'''
keywords = ["-----begin"]
`

// generic is the rule for whatever is assigned to a name like "key" or "token" and looks random.
const generic = "generic-api-key"

// ids are values of the generic rule that are no secrets, beyond the 1,500 words that gitleaks has for it. An alphabet has
// a high entropy, and where tokens are handled there is often one near; so has what names a thing that anybody may know.
func ids() []*config.Allowlist {
	return []*config.Allowlist{{
		StopWords: []string{"0123456789", "1234567890", "abcdefgh"},
		Regexes:   []*regexp.Regexp{regexp.MustCompile(`(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`)},
	}, {
		RegexTarget: "match",
		Regexes:     []*regexp.Regexp{regexp.MustCompile(`(?i)(?:commit|revision|sha-?(?:1|256|512)?|digest|checksum|hash|fingerprint)(?:_?id|s)?\W{1,6}(?:[0-9a-f]{40}|[0-9a-f]{64})\b`)},
	}}
}

// rule is one of gitleaks' with what we need to know beyond it.
type rule struct {
	config.Rule
	brief   *regexp.Regexp // the pattern without prefix, where it begins with that
	generic bool
	own     []string // keywords that are a part of the secret itself
}

// prefix is how gitleaks begins the patterns of values whose kind only the name beside them tells.
const (
	prefix   = `(?i)[\w.-]{0,50}?`
	nameRest = 50
)

// Scanner holds the compiled rules. It may be used by many at once.
type Scanner struct {
	rules  []rule
	global []*config.Allowlist
	words  *ahocorasick.Trie // all keywords
	about  [][]int           // for each of them, the rules that it stands for
	always []int             // rules without a keyword
}

var compiled = sync.OnceValues(func() (*Scanner, error) { return compile(config.DefaultConfig + ours) })

// New gives the scanner. The first call compiles the rules, which takes some 30 ms and 15 MB: to be called when there is
// something to scan.
func New() (*Scanner, error) { return compiled() }

// compile makes a scanner of a configuration of gitleaks.
func compile(text string) (*Scanner, error) {
	all, err := load(text)
	if err != nil {
		return nil, fmt.Errorf("load the rules of gitleaks: %w", err)
	}
	s := &Scanner{global: all.Allowlists}
	words := map[string][]int{}
	slices.Sort(all.OrderedRules)
	for i, id := range slices.Compact(all.OrderedRules) {
		r := rule{Rule: all.Rules[id], generic: id == generic}
		if r.generic {
			r.Allowlists = append(r.Allowlists, ids()...)
		}
		if rest, ok := strings.CutPrefix(pattern(r), prefix); ok {
			r.brief = regexp.MustCompile(`(?i)` + rest)
		}
		r.own = telling(r)
		s.rules = append(s.rules, r)
		if len(r.Keywords) == 0 {
			s.always = append(s.always, i)
		}
		for _, w := range r.Keywords {
			words[w] = append(words[w], i)
		}
	}
	builder := ahocorasick.NewTrieBuilder()
	for w, about := range words {
		builder.AddString(w)
		s.about = append(s.about, about)
	}
	s.words = builder.Build()
	return s, nil
}

func pattern(r rule) string {
	if r.Regex == nil {
		return ""
	}
	return r.Regex.String()
}

// load reads a configuration as gitleaks does. What this loop would not follow is refused, so that a new gitleaks cannot
// bring a rule that is quietly not applied.
func load(text string) (c config.Config, err error) {
	defer func() {
		if broken := recover(); broken != nil { // a pattern that does not compile
			err = fmt.Errorf("%v", broken)
		}
	}()
	var raw config.ViperConfig
	meta, err := toml.Decode(text, &raw)
	if err != nil {
		return c, err
	}
	if rest := meta.Undecoded(); len(rest) > 0 {
		return c, fmt.Errorf("unknown setting %s", rest[0])
	}
	if c, err = raw.Translate(); err != nil {
		return c, err
	}
	for id, r := range c.Rules {
		if len(r.RequiredRules) > 0 || r.SkipReport {
			return c, fmt.Errorf("rule %s depends on another one, which is not followed here", id)
		}
	}
	return c, nil
}

// telling are the keywords that can be a part of the secret itself rather than of a name beside it. Very short ones tell
// nothing: "s." or "ey" are anywhere.
func telling(r rule) []string {
	if r.generic {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Keywords), func(w string) bool { return len(w) < 3 })
}

// tells says that a secret found by the rule names its issuer, so that it is one wherever it stands.
func (r *rule) tells(secret string) bool {
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(r.own, func(w string) bool { return strings.Contains(secret, w) })
}
