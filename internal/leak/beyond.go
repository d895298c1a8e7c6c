package leak

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Checks that a pattern cannot express in linear size, or without false positives.

const (
	keyHeader = 100 // bytes between BEGIN and PRIVATE KEY at most
	keyAhead  = 400 // bytes between a header and the key material at most: there can be others, like the cipher
	keyLetter = 12  // key material begins with as many letters and digits,
	keyLeast  = 48  // and is as long
)

// privateKey finds a header followed by key material, up to its end: a new key may share its first lines with the one it
// replaces. gitleaks matches from a line that begins a key to one that ends it, so it reports any code that reads keys, and
// misses keys without an end.
func privateKey(text string, at int, _ string) (from, to int) {
	i := at + len("-----begin")
	end := i
	for end < len(text) && end-i < keyHeader+len("PRIVATE KEY BLOCK-----") && inHeader(text[end]) {
		end++
	}
	header := strings.ToUpper(text[i:end])
	close := -1
	for _, name := range []string{"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"} {
		if n := strings.Index(header, name); n >= 0 {
			close = i + n + len(name)
		}
	}
	if close < 0 {
		return 0, 0
	}
	letters, material := 0, 0
	for j := close; j < len(text) && j-material <= close+keyAhead; j++ {
		switch c := text[j]; {
		case isCode[c] && c != '_' && c != '-' && c != '/' && c != '+':
			letters++
			material++
		case (c == '/' || c == '+') && letters >= keyLetter:
			material++
		default:
			letters, material = 0, 0
		}
		if material == keyLeast {
			for j < len(text) && (isCode[text[j]] && text[j] != '_' && text[j] != '-' || strings.IndexByte("= \t\r\n\f\v\\\"',", text[j]) >= 0) {
				j++
			}
			return at, j
		}
	}
	return 0, 0
}

func inHeader(c byte) bool {
	return c == ' ' || c == '-' || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// urlPassword finds the password in scheme://user:password@host, for any scheme.
func urlPassword(text string, at int, file string) (from, to int) {
	const longestPart = 200
	scheme := at
	for scheme > 0 && at-scheme < 20 && (inName(text[scheme-1]) || text[scheme-1] == '+') && text[scheme-1] != '_' {
		scheme--
	}
	if scheme == at {
		return 0, 0
	}
	begin := at + len("://")
	colon := -1
	i := begin
scan:
	for ; i < len(text) && i-begin < longestPart; i++ {
		switch c := text[i]; c {
		case ':':
			if colon < 0 {
				colon = i
			}
		case '@':
			break scan
		case ' ', '\t', '\r', '\n', '"', '\'', '`', '<', '>', '/', '?', '\\', ',', '(', ')', '|':
			return 0, 0
		}
	}
	if colon < 0 || i == len(text) || text[i] != '@' {
		return 0, 0
	}
	user, password := text[begin:colon], text[colon+1:i]
	end := i + 1
	for end < len(text) && end-i < longestPart && (inName(text[end]) || text[end] == '[') {
		end++
	}
	host := strings.ToLower(text[i+1 : end])
	least := 5
	if instructive(file) || nowhere(host) {
		least = 8
	}
	if plain, err := url.PathUnescape(password); err == nil && plain != "" {
		password = plain
	}
	if host == "" || len(password) < 6 || password == user || user == "" && strings.Contains(password, ":") || !mixed(strings.Trim(password, "!")) || !looksReal(password, least) {
		return 0, 0
	}
	return scheme, i
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

// netrcPassword finds the password in "machine HOST login USER password PASSWORD", in one line or several.
//
// https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
func netrcPassword(text string, at int, _ string) (from, to int) {
	if at > 0 && strings.IndexByte(" \t\r\n\"'`", text[at-1]) < 0 {
		return 0, 0
	}
	t := tokens{text: text, at: at}
	if t.next() == "machine" && t.next() == "" {
		return 0, 0
	}
	for range 3 {
		switch t.next() {
		case "login", "account":
			t.next()
		case "password":
			if p := t.next(); len(p) >= 8 && mixed(p) && !strings.Contains(p, "@") && looksReal(p, 5) {
				return t.from, t.at
			}
			return 0, 0
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// tokens are what white space separates.
type tokens struct {
	text     string
	from, at int
}

// next gives the next one, at most 200 bytes long, "" for none.
func (t *tokens) next() string {
	i := t.at
	for i < len(t.text) && i-t.at < 80 && strings.IndexByte(" \t\r\n", t.text[i]) >= 0 {
		i++
	}
	t.from = i
	for i < len(t.text) && i-t.from < 200 && strings.IndexByte(" \t\r\n\"'`", t.text[i]) < 0 {
		i++
	}
	t.at = i
	return t.text[t.from:i]
}

const (
	keyID       = 20  // characters of the id of an AWS key
	awsLength   = 40  // characters of the secret of one
	besideLines = 3   // lines before and behind an id in which its secret is looked for,
	besideBytes = 200 // of as many bytes together
)

// awsSecret finds a secret of AWS by the id of its key: it is only a random word of 40 letters.
func awsSecret(text string, at int, _ string) (from, to int) {
	end := at + keyID
	if at > 0 && inWord(text[at-1]) || end > len(text) || end < len(text) && inWord(text[end]) || !isKeyID(text[at:end]) {
		return 0, 0
	}
	limit := end
	for lines := 0; limit < min(len(text), end+besideBytes) && lines <= besideLines; limit++ {
		if text[limit] == '\n' {
			lines++
		}
	}
	if from, to := randomWord(text, end, limit); to > 0 {
		return from, to
	}
	limit = at
	for lines := 0; limit > max(0, at-besideBytes) && lines <= besideLines; limit-- {
		if text[limit-1] == '\n' {
			lines++
		}
	}
	return randomWord(text, limit, at)
}

// isKeyID says that twenty characters are the id of a key of AWS, once their beginning is known to be that of one.
func isKeyID(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < '0' || c > '9' && c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// randomWord finds a word that can be a secret of AWS. What is cut off at the bounds is looked at whole.
func randomWord(text string, from, to int) (int, int) {
	for i := from; i < to; {
		if !isCode[text[i]] {
			i++
			continue
		}
		begin := i
		for i < len(text) && i-begin <= awsLength && isCode[text[i]] && text[i] != '_' && text[i] != '-' {
			i++
		}
		word := text[begin:i]
		if len(word) == keyID && isKeyID(word) {
			return 0, 0 // what is behind it is for another key
		}
		if len(word) == awsLength && kinds(strings.Trim(word, "/+")) >= 3 && entropy(word) > 4 &&
			strings.Count(word, "/") < 5 && !strings.Contains(word, "EXAMPLE") && (begin == 0 || !inWord(text[begin-1])) && (i == len(text) || !isCode[text[i]]) {
			return begin, i
		}
		for i < to && isCode[text[i]] {
			i++
		}
	}
	return 0, 0
}

func inWord(c byte) bool { return inName(c) && c != '.' && c != '-' }

// passwordLiteral finds a value that is assigned to a name like password.
func passwordLiteral(text string, at int, file string) (from, to int) {
	name := at
	for name > 0 && at-name < 30 && inName(text[name-1]) {
		name--
	}
	i := at
	for i < len(text) && i-at < 24 && inName(text[i]) {
		i++
	}
	if ofAPassword(strings.ToLower(text[name:at]), strings.ToLower(text[at:i])) {
		return 0, 0
	}
	if i < len(text) && strings.IndexByte("\"'`]", text[i]) >= 0 {
		i++
		if i < len(text) && text[i] == ']' {
			i++
		}
	}
	blank := func() {
		for n := 0; n < 20 && i < len(text) && (text[i] == ' ' || text[i] == '\t'); n++ {
			i++
		}
	}
	blank()
	operator := i
	for i < len(text) && i-operator < 3 && strings.IndexByte(":=>", text[i]) >= 0 {
		i++
	}
	if i == operator {
		return 0, 0
	}
	blank()
	return literal(text, i, file)
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

// literal reads a string, or a value without quotes, which has to be more than a name or an expression of a program.
func literal(text string, at int, file string) (from, to int) {
	const least, most = 8, 100
	quote := byte(0)
	if at < len(text) && strings.IndexByte("\"'`", text[at]) >= 0 {
		quote = text[at]
		at++
	}
	i := at
	for ; i < len(text) && i-at <= most; i++ {
		c := text[i]
		if c <= ' ' || c == quote || quote == 0 && strings.IndexByte("\"'`<;,", c) >= 0 || c >= high {
			break
		}
	}
	value := text[at:i]
	if len(value) < least || len(value) > most || quote != 0 && (i == len(text) || text[i] != quote) || kinds(value) < 3 {
		return 0, 0
	}
	if quote == 0 && (strings.ContainsAny(value, "()[]{}<>|\\") || !strings.ContainsAny(value, "!@#$%^&*+~?") || !strings.ContainsAny(value, "0123456789")) {
		return 0, 0
	}
	if strings.Contains(value, "://") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") {
		return 0, 0
	}
	wanted := 5
	if instructive(file) {
		wanted = 9
	}
	if !looksReal(value, wanted) {
		return 0, 0
	}
	return at, i
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
