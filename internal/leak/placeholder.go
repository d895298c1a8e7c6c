package leak

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// standIns are words used as placeholders for passwords, and passwords that anybody would try first: longer ones before
// their prefixes.
var standIns = sync.OnceValue(func() *strings.Replacer {
	list := strings.Fields(`
		passphrase password passwort passwd passwrd passw0rd p@ssw0rd p@ssword p@$$w0rd pa$$w0rd pa$$word pa55word p4ssw0rd p455w0rd passcode pass pwd
		secrets secret s3cret s3cr3t credentials credential creds confidential private
		changeme change replaceme replace update please insert enter choose provide setme fillme fill
		your yours our mine this that here the some any my me is not
		examples example sample demonstration demo dummy fake mock tests testing tester test fixture placeholder default invalid
		wrong incorrect correct valid strong weak secure unsafe insecure good bad new old current previous other another random very long
		administrator admin root username user login guest owner someone somebody anonymous
		welcome qwertyuiop qwerty letmein iloveyou monkey dragon hunter2 hunter tiger scott swordfish correcthorsebatterystaple horse battery staple
		foobared foobar foo bar baz qux todo fixme tbd redacted hidden masked censored removed none null undefined empty nothing
		string value text token keys key api auth access
		databases database postgresql postgres mysql mariadb mongodb mongo redis rabbitmq mssql oracle kafka minio grafana jenkins db sql server service host
		development dev localhost local staging stage production prod super temporary temp tmp
		alice bob carol acme corp company hello world
		0123456789 123456789 987654321 12345678 1234567 123456 654321 12345 54321 1234 4321 123 321
		abcdefghijklmnopqrstuvwxyz abcdefgh abcdef abcde abcd abc zyx xyz asdfgh asdf zxcvbn`)
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(list))
	for _, w := range list {
		pairs = append(pairs, w, "")
	}
	return strings.NewReplacer(pairs...)
})

// references mark places where a program inserts the password, and prefixes of hashed or encrypted passwords.
var references = strings.Fields("${ $( {{ }} <% %> %( %s %v %d %q %w #{ ... *** ●● •• … ENC[ !vault AES256 $2a$ $2b$ $2y$ $argon2 $scrypt $pbkdf2 $5$ $6$ $1$ {SSHA} pbkdf2 op:// vault: env: file: arn: " +
	"process.env os.environ getenv( environ[ secrets. vars. env.")

// address matches a path, the name of a file or host, and a URL.
var address = regexp.MustCompile(`^(?:/[A-Za-z_.-]+/|\.{1,2}/|~/|[A-Za-z]:\\)|://|\.[a-z]{2,5}$`)

// Plausible reports whether a value that is said to be a secret can be one: it has 8 bytes, and is no plain word, path, address or
// placeholder. What is longer than those are is one anyway.
func Plausible(value string) bool {
	return len(value) > 200 || len(value) >= 8 && kinds(value) >= 2 && !address.MatchString(value) && looksReal(value, 5)
}

// looksReal reports whether a value cannot be a placeholder: without common placeholder words, it has at least that many
// letters and digits left, of two kinds, and not just repetitions.
func looksReal(value string, least int) bool {
	if len(value) > 200 || slices.ContainsFunc(references, func(r string) bool { return strings.Contains(value, r) }) {
		return false
	}
	first, last := value[0], value[len(value)-1]
	switch {
	case first == '$' && (strings.Trim(value[1:], capitals+"_0123456789") == "" || strings.Trim(value[1:], small+"_") == ""),
		first == '<' || last == '>',
		first == '%' && last == '%', first == '@' && last == '@', first == '{' && last == '}', first == '[' && last == ']',
		strings.HasPrefix(value, "__"):
		return false
	}
	if kinds(value) < 2 {
		return false
	}
	left := standIns().Replace(strings.ToLower(value))
	var letters []byte
	var distinct [256]bool
	different := 0
	for i := range len(left) {
		c := left[i]
		if strings.IndexByte(alphabet, c) >= 0 && (len(letters) < 2 || c != letters[len(letters)-1]) {
			letters = append(letters, c)
			if !distinct[c] {
				distinct[c] = true
				different++
			}
		}
	}
	year := len(letters) == 4 && (strings.HasPrefix(string(letters), "20") || strings.HasPrefix(string(letters), "19"))
	return len(letters) >= least && different >= 4 && !year
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	small    = "abcdefghijklmnopqrstuvwxyz"
	alphabet = capitals + small + "0123456789"
)

// kinds counts which of lower-case letters, capitals, digits and other characters occur.
func kinds(s string) int {
	var has [4]int
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
			has[0] = 1
		case 'A' <= c && c <= 'Z':
			has[1] = 1
		case '0' <= c && c <= '9':
			has[2] = 1
		default:
			has[3] = 1
		}
	}
	return has[0] + has[1] + has[2] + has[3]
}

// instructive reports whether a file is documentation or an example, so that passwords need stronger evidence.
func instructive(file string) bool {
	file = strings.ToLower(file)
	words := []string{"test", "spec", "fixture", "mock", "example", "sample", "demo", "docs/", "doc/", ".md", ".rst", ".adoc", "readme", "tutorial", "snapshots"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(file, word) })
}
