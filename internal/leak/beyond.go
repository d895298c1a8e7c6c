package leak

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// more is the part of a rule of ours that its pattern does not express.
type more struct {
	find  func(text string, m []int, file string) (from, to int) // bounds of the secret by a match and its groups; to is 0 for none
	check func(secret string) bool
	vague bool // only its context makes it a secret
}

var beyond = map[string]more{
	"url-password":          {find: urlPassword},
	"netrc-password":        {find: netrcPassword},
	"aws-secret-access-key": {find: awsSecret},
	"password-literal":      {find: passwordLiteral, vague: true},
	"discord-bot-token":     {check: numbered},
	"jwt":                   {check: webToken},
	generic:                 {vague: true},
}

// mixed says that a value is more than words with something between them.
func mixed(value string) bool {
	return kinds(value) >= 3 || kinds(value) == 2 && strings.ContainsAny(value, "0123456789")
}

// nowhere says that a host is an example, or one that only some network knows.
func nowhere(host string) bool {
	if strings.HasPrefix(host, "127.") || host == "0.0.0.0" || !strings.Contains(host, ".") {
		return true
	}
	ends := []string{".local", ".localhost", ".test", ".example", ".invalid", "example.com", "example.org", "example.net", ".internal"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(host, end) })
}

// ofAPassword reports whether a name concerns a password, by the words before and after that.
func ofAPassword(before, behind string) bool {
	has := func(s string, list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(s, w) })
	}
	return has(before, "hash", "salt", "wrong", "invalid", "encrypted", "bad", "incorrect", "weak", "min_", "max_") ||
		has(behind, "hash", "file", "path", "field", "polic", "regex", "pattern", "min", "max", "len", "hint", "label", "url", "uri", "reset", "prompt", "placeholder", "error", "message",
			"msg", "salt", "digest", "enc", "title", "text", "name", "type", "valid", "help", "desc", "less", "expire", "strength", "id", "ref", "secret", "key")
}

// numbered reports whether the first part of a Discord token is a number in base64.
func numbered(token string) bool {
	head, _, _ := strings.Cut(token, ".")
	id, err := base64.RawURLEncoding.DecodeString(head)
	return err == nil && len(id) >= 17 && strings.Trim(string(id), "0123456789") == ""
}

// webToken reports whether the first part of a JSON web token is a header of one.
func webToken(token string) bool {
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		Alg, Typ *string
	}
	return err == nil && json.Unmarshal(text, &header) == nil && (header.Alg != nil || header.Typ != nil)
}

// back gives where the word begins that ends at an offset, at most so many bytes before it.
func back(text string, at, most int) int {
	word := text[max(0, at-most):at]
	return at - len(word) + len(strings.TrimRight(word, alphabet+"_.-"))
}

// urlPassword finds the password in scheme://user:password@host, for any scheme.
func urlPassword(text string, m []int, file string) (from, to int) {
	user, password, host := text[m[2]:m[3]], text[m[4]:m[5]], strings.ToLower(text[m[6]:m[7]])
	least := 5
	if instructive(file) || nowhere(host) {
		least = 8
	}
	if plain, err := url.PathUnescape(password); err == nil && plain != "" {
		password = plain
	}
	scheme := back(text, m[0], 20)
	if scheme == m[0] || len(password) < 6 || password == user || user == "" && strings.Contains(password, ":") || !mixed(strings.Trim(password, "!")) || !looksReal(password, least) {
		return 0, 0
	}
	return scheme, m[5]
}

// netrcPassword finds the password in "machine HOST login USER password PASSWORD", in one line or several.
//
// https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
func netrcPassword(text string, m []int, _ string) (from, to int) {
	password := text[m[2]:m[3]]
	if m[0] > 0 && !strings.Contains(" \t\r\n\"'`", text[m[0]-1:m[0]]) || !mixed(password) || strings.Contains(password, "@") || !looksReal(password, 5) {
		return 0, 0
	}
	return m[2], m[3]
}

var (
	awsID   = regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`)
	awsWord = regexp.MustCompile(`[\w/+-]+`)
	behind  = regexp.MustCompile(`^(?:[^\n]*\n){0,3}[^\n]*`) // in the line of an id and three more
	before  = regexp.MustCompile(`(?:[^\n]*\n){0,3}[^\n]*$`)
)

// besideBytes is how far from an id of AWS its secret is at most.
const besideBytes = 200

// awsSecret finds a secret of AWS by the id of its key: it is only a random word of 40 letters. Beyond another id it belongs to
// that one.
func awsSecret(text string, m []int, _ string) (from, to int) {
	after := behind.FindString(text[m[1]:min(len(text), m[1]+besideBytes)])
	if next := awsID.FindStringIndex(after); next != nil {
		after = after[:next[0]]
	}
	if from, to := randomWord(text, m[1], m[1]+len(after)); to > 0 {
		return from, to
	}
	begin := m[0] - len(before.FindString(text[max(0, m[0]-besideBytes):m[0]]))
	if ids := awsID.FindAllStringIndex(text[begin:m[0]], -1); ids != nil {
		begin += ids[len(ids)-1][1]
	}
	return randomWord(text, begin, m[0])
}

// randomWord finds a word that can be a secret of AWS and begins between two offsets.
func randomWord(text string, from, to int) (int, int) {
	for _, at := range awsWord.FindAllStringIndex(text[from:min(len(text), to+41)], -1) {
		begin, end := from+at[0], from+at[1]
		word := text[begin:end]
		cut := begin == from && from > 0 && awsWord.MatchString(text[from-1:from])
		if !cut && begin < to && len(word) == 40 && kinds(strings.Trim(word, "/+")) >= 3 && entropy(word) > 4 &&
			strings.Count(word, "/") < 5 && !strings.ContainsAny(word, "_-") && !strings.Contains(word, "EXAMPLE") {
			return begin, end
		}
	}
	return 0, 0
}

// passwordLiteral finds a value that is assigned to a name like password. Without quotes it has to be more than a name or an
// expression of a program.
func passwordLiteral(text string, m []int, file string) (from, to int) {
	from, to = m[4], m[5]
	value := text[from:to]
	least := 5
	if instructive(file) {
		least = 9
	}
	switch quoted := strings.Contains("\"'`", value[:1]); {
	case quoted:
		from, to = from+1, to-1
		value = text[from:to]
	case to < len(text) && text[to] > ' ' && text[to] < 0x7f && !strings.Contains("\"'`<;,", text[to:to+1]), // it is longer
		strings.ContainsAny(value, "()[]{}<>|\\"), !strings.ContainsAny(value, "!@#$%^&*+~?"), !strings.ContainsAny(value, "0123456789"):
		return 0, 0
	}
	name := strings.ToLower(text[back(text, m[0], 30):m[0]])
	if ofAPassword(name, strings.ToLower(text[m[2]:m[3]])) || kinds(value) < 3 || strings.Contains(value, "://") ||
		strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || !looksReal(value, least) {
		return 0, 0
	}
	return from, to
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) (sum float64) {
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	for _, n := range count {
		if n > 0 {
			sum -= n / float64(len(s)) * math.Log2(n/float64(len(s)))
		}
	}
	return sum
}
