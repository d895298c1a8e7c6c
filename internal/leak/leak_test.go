package leak_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/must"
)

var ctx = context.Background()

func scan(t testing.TB, p leak.Piece) []leak.Finding {
	t.Helper()
	s := must.Get(leak.New())(t)
	return must.Get(s.Scan(ctx, p))(t)
}

// The secrets here are made when the tests run, and by pieces: a host that looks for secrets in what is pushed to it would
// not take this file otherwise.
const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
)

var random *rand.Rand

// again begins the same draws anew, so that a test gets its own in whatever order tests run.
func again() { random = rand.New(rand.NewPCG(1, 2)) }

// some gives n characters out of a set.
func some(n int, set string) string {
	var b strings.Builder
	for range n {
		b.WriteByte(set[random.IntN(len(set))])
	}
	return b.String()
}

func jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"RS256","typ":"JWT"}`) + "." + part(`{"iss":"github","sub":"`+some(60, alnum)+`"}`) + "." + some(86, alnum+"-_")
}

// pem is a private key as openssl writes it; the key is none.
func pem(kind string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-----%s %sPRIVATE KEY-----\n", "BEGIN", kind)
	for range 12 {
		b.WriteString(some(64, alnum+"+/") + "\n")
	}
	fmt.Fprintf(&b, "%s\n-----%s %sPRIVATE KEY-----\n", some(20, alnum), "END", kind)
	return b.String()
}

type secret struct{ name, text, rule string }

func secrets() []secret {
	again()
	return []secret{
		{"a GitHub personal token", "ghp" + "_" + some(36, alnum), "github-pat"},
		{"a fine-grained GitHub token", "github" + "_pat_" + some(22, alnum) + "_" + some(59, alnum), "github-fine-grained-pat"},
		{"an OAuth token of GitHub", "gho" + "_" + some(36, alnum), "github-oauth"},
		{"an installation token", "ghs" + "_" + some(36, alnum), "github-app-token"},
		{"an installation token since 2026", "ghs" + "_" + some(7, digits) + "_" + jwt(), "github-app-token"},
		{"a token of a GitHub App's user", "ghu" + "_" + some(36, alnum), "github-app-token"},
		{"an AWS key id", "AK" + "IA" + some(16, upper+"234567"), "aws-access-token"},
		{"a Slack bot token", "xo" + "xb-" + some(12, digits) + "-" + some(12, digits) + "-" + some(24, alnum), "slack-bot-token"},
		{"a Slack webhook", "https://hooks.slack" + ".com/services/T" + some(10, upper) + "/B" + some(10, upper) + "/" + some(24, alnum), "slack-webhook-url"},
		{"an npm token", "npm" + "_" + some(36, alnum), "npm-access-token"},
		{"an OpenAI key", "sk" + "-proj-" + some(74, alnum) + "T3Blbk" + "FJ" + some(74, alnum), "openai-api-key"},
		{"an Anthropic key", "sk" + "-ant-api03-" + some(93, alnum) + "AA", "anthropic-api-key"},
		{"a token of a Claude subscription", "sk" + "-ant-oat01-" + some(93, alnum+"-_") + "AA", "anthropic-token"},
		{"an age identity", "AGE-SECRET" + "-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), "age-secret-key"},
		{"a post-quantum age identity", "AGE-SECRET" + "-KEY-PQ-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), "age-secret-key"},
		{"a JSON web token", jwt(), "jwt"},
		{"an RSA key", pem("RSA "), "private-key"},
		{"an OpenSSH key", pem("OPENSSH "), "private-key"},
		{"a PKCS #8 key in one line", strings.ReplaceAll(pem(""), "\n", `\n`), "private-key"},
		{"a key whose end is missing", pem("EC ")[:300], "private-key"},
	}
}

func TestSecretsAreFound(t *testing.T) {
	for _, s := range secrets() {
		for _, where := range []struct{ name, text string }{
			{"alone", s.text},
			{"in a shell script", "set -e\nexport TOKEN=\"" + s.text + "\"\n"},
			{"in YAML", "env:\n  TOKEN: " + s.text + "\n"},
			{"in JSON", "{\n  \"token\": \"" + s.text + "\",\n  \"next\": 1\n}\n"},
			{"with Windows line ends", "a\r\nb = '" + strings.ReplaceAll(s.text, "\n", "\r\n") + "'\r\n"},
		} {
			t.Run(s.name+" "+where.name, func(t *testing.T) {
				found := scan(t, leak.Piece{Commit: "c0ffee", Path: "deploy/settings.txt", Line: 1, Text: []byte(where.text)})
				require.Len(t, found, 1)
				assert.Equal(t, s.rule, found[0].Rule)
				assert.NotEmpty(t, found[0].Description)
				assertRedacted(t, s.text, found[0])
			})
		}
	}
}

// assertRedacted holds that nothing of a secret but its beginning can be read off a finding.
func assertRedacted(t *testing.T, secret string, f leak.Finding) {
	t.Helper()
	shown := fmt.Sprintf("%+v %s", f, f)
	for i := 0; i+8 <= len(secret); i++ {
		if part := secret[i : i+8]; !strings.Contains("-----BEGIN -----END PRIVATE KEY-----", part) {
			assert.NotContains(t, shown, part)
		}
	}
}

func TestWhatIsNoSecretIsLeftAlone(t *testing.T) {
	again()
	type row struct{ path, text string }
	must.Each(t, map[string]row{
		"commit ids":                     {"log.txt", "commit " + some(40, digits+"abcdef") + "\nparent " + some(64, digits+"abcdef") + "\nkey " + some(40, digits+"abcdef") + "\n"},
		"a UUID":                         {"config.yml", "id: 6fa459ea-ee8a-3ca4-894e-db77e160355e\nrequest_key_id: 6fa459ea-ee8a-3ca4-894e-db77e160355e\n"},
		"a UUID under the name of a key": {"pay.json", "{\"idempotency_key\": \"58b90739-c3e8-4b11-85f7-e636d48d72cb\"}\n"},
		"a commit in a variable":         {"ci.yml", "  API_TOOL_COMMIT: " + some(40, digits+"abcdef") + "\n  token_lib_sha256 = \"" + some(64, digits+"abcdef") + "\"\n"},
		"an example of a token":          {"README.md", "createTokenAuth(\"gh" + "s_InstallallationOrActionToken00000000\")\n"},
		"go.sum":                         {"go.sum", "github.com/x/token v1.0.0 h1:" + some(43, alnum+"+/") + "=\ngithub.com/x/token v1.0.0/go.mod h1:" + some(43, alnum) + "=\n"},
		"package-lock.json":              {"web/package-lock.json", `"node_modules/js-tokens": {"version": "4.0.0", "integrity": "sha512-` + some(86, alnum+"+/") + `==", "key": "` + some(40, alnum) + `"}`},
		"a pinned action":                {".github/workflows/ci.yml", "      - uses: actions/checkout@" + some(40, digits+"abcdef") + " # v4\n"},
		"an image by digest":             {"Dockerfile", "FROM golang@sha256:" + some(64, digits+"abcdef") + "\n"},
		"a password for an example":      {"testdata/db.ini", "user = admin\npassword = example\npassword = changeme\nsecret = hunter2\n"},
		"a placeholder":                  {"README.md", "export TOKEN=ghp_" + strings.Repeat("x", 36) + "\nexport API_KEY=<your-api-key-here>\ntoken: ${{ secrets.GITHUB_TOKEN }}\n"},
		"AWS's own example":              {"README.md", "aws_access_key_id = AK" + "IAIOSFODNN7EXAMPLE\n"},
		"names in code":                  {"a.go", "token := os.Getenv(\"TOKEN\")\nauthorization := request.Header.Get(\"Authorization\")\nsecretKey, err := loadSecretKeyFromFile(path)\n"},
		"an alphabet":                    {"a.go", "if strings.Trim(token, \"0123456789abcdef\") != \"\" {\nconst Key = \"sk-stub-0123456789\"\n"},
		"code that reads keys":           {"a.go", "const begin = \"-----BEGIN PRIVATE KEY-----\"\n" + strings.Repeat("// reads what openssl has written, line by line\n", 4) + "const end = \"-----END PRIVATE KEY-----\"\n"},
		"a key that was left out":        {"README.md", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n"},
		"a certificate":                  {"ca.pem", strings.ReplaceAll(pem(""), "PRIVATE KEY", "CERTIFICATE")},
		"a public key":                   {"id.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(43, alnum) + " dev@example.com\n"},
		"an age recipient":               {"recipients.txt", "age1" + some(58, "qpzry9x8gf2tvdw0s3jn54khce6mua7l") + "\n"},
		"a picture in a page":            {"index.html", `<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(some(900, alnum+"\x00\x01\xff"))) + `">`},
		"a commit":                       {"", "tree " + some(40, digits+"abcdef") + "\nparent " + some(40, digits+"abcdef") + "\nauthor Octo Cat <octo@example.com> 1700000000 +0000\n\nAdd the token\n"},
	}, func(t *testing.T, c row) {
		assert.Empty(t, scan(t, leak.Piece{Commit: "c0ffee", Path: c.path, Line: 1, Text: []byte(c.text)}))
	})
}

func TestARandomValueUnderATellingNameIsFoundButNotCertain(t *testing.T) {
	again()
	value := "8f" + some(30, alnum)
	found := scan(t, leak.Piece{Commit: "c0ffee", Path: "settings.py", Line: 7, Text: []byte("DEBUG = 1\napi_key = \"" + value + "\"\n")})
	require.Len(t, found, 1)
	assert.Equal(t, "generic-api-key", found[0].Rule)
	assert.Equal(t, 8, found[0].Line)
	assert.False(t, found[0].Certain)
	assertRedacted(t, value, found[0])
	for _, name := range []string{"api_key", "shared_secret", "hash_token", "commit_key", "password"} {
		text := name + ": 3f9c1b7e5d2a8064f1e7" + "c3b95a0d86e24b7f190c\n"
		assert.Len(t, scan(t, leak.Piece{Path: "settings.yml", Line: 1, Text: []byte(text)}), 1, "%s is no commit", name)
	}
	coded := base64.StdEncoding.EncodeToString([]byte("api_key = \"" + value + "\""))
	assert.Empty(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: []byte(coded)}), "what is decoded has to be certain")
}

func TestNothingInTheTextSpeaksForItself(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	for _, c := range []struct{ path, text string }{
		{"a.py", "t = '" + token + "'  # gitleaks:allow"},
		{".gitleaks.toml", "[allowlist]\nregexes = ['''" + token + "''']"},
		{"gitleaks.toml", token}, {".gitleaksignore", token}, {"node_modules/x/index.js", "k=\"" + token + "\""}, {"go.sum", token},
		{"vendor/github.com/x/y.go", token}, {"picture.png", token}, {"web/yarn.lock", token}, {"jquery.min.js", "var a=\"" + token + "\";"},
	} {
		found := scan(t, leak.Piece{Commit: "c0ffee", Path: c.path, Line: 1, Text: []byte(c.text)})
		require.Len(t, found, 1, c.path)
		assert.True(t, found[0].Certain)
	}
}

func TestOnlyWhatReachesIntoANewLineCounts(t *testing.T) {
	again()
	token := "npm" + "_" + some(36, alnum)
	text := []byte("old = " + token + "\nnew = 1\n")
	assert.Empty(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: text, Fresh: []bool{false, true}}))
	assert.Len(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: text, Fresh: []bool{true, false}}), 1)

	// A new key in place of an old one: its first and last lines were there before.
	key := strings.SplitAfter(pem("OPENSSH "), "\n")
	fresh := make([]bool, len(key))
	assert.Empty(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: []byte(strings.Join(key, "")), Fresh: fresh}))
	fresh[3], fresh[4] = true, true
	found := scan(t, leak.Piece{Path: "a", Line: 41, Text: []byte(strings.Join(key, "")), Fresh: fresh})
	require.Len(t, found, 1)
	assert.Equal(t, 41, found[0].Line)
	assert.Equal(t, 40+len(key)-2, found[0].Last, "the end of a key is none of it")
}

// wide is a text in UTF-16.
func wide(s string, order func([]byte, uint16) []byte) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = order(out, u)
	}
	return out
}

func TestEncodedSecretsAreFound(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	for name, plain := range map[string]string{
		"nothing else":            token,
		"a login":                 "x-access-token:" + token,
		"a key in lines":          "x\n-----BEGIN\x20PRIVATE KEY-----\n" + some(64, alnum) + "\n",
		"a comment in German":     "# Schlüssel\nTOKEN=" + token + "\n",
		"all of it in Greek":      "# Το κλειδί του διακομιστή\nTOKEN=" + token + "\n",
		"a byte order mark":       "\ufeffTOKEN=" + token + "\n",
		"invisible characters":    "TOKEN=" + token[:20] + "\u200b" + token[20:] + "\n",
		"Latin-1":                 "# Schl\xfcssel\nTOKEN=" + token + "\n",
		"an environment":          "HOME=/home/octocat\x00TOKEN=" + token + "\x00LANG=C.UTF-8\x00",
		"a command of PowerShell": string(wide("$env:TOKEN = '"+token+"' # Schlüssel", binary.LittleEndian.AppendUint16)),
	} {
		for how, text := range map[string]string{
			"as actions/checkout writes it": "[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic " + base64.StdEncoding.EncodeToString([]byte(plain)) + "\n",
			"base64":                        "data:\n  .env: " + base64.StdEncoding.EncodeToString([]byte(plain)) + "\n",
			"of another kind":               "data:\n  .env: " + base64.RawURLEncoding.EncodeToString([]byte(plain)) + "\n",
			"hexadecimal":                   "data:\n  .env: " + hex.EncodeToString([]byte(plain)) + "\n",
		} {
			found := scan(t, leak.Piece{Path: "secret.yaml", Line: 1, Text: []byte(text)})
			if assert.Len(t, found, 1, "%s in %s", name, how) {
				assert.Equal(t, 2, found[0].Line)
				assertRedacted(t, token, found[0])
			}
		}
	}
}

func TestBinaryFiles(t *testing.T) {
	again()
	token := "npm" + "_" + some(36, alnum)
	for name, text := range map[string][]byte{
		"a database":     []byte("SQLite format 3\x00\x10\x00\x01\xff\x00" + token + "\x00\x00more"),
		"UTF-16, little": wide("\ufeff$t = '"+token+"'\r\n", binary.LittleEndian.AppendUint16),
		"UTF-16, big":    wide("\ufeff$t = '"+token+"'\r\n", binary.BigEndian.AppendUint16),
	} {
		assert.Len(t, scan(t, leak.Piece{Path: "x.db", Line: 1, Text: text, Binary: true}), 1, name)
	}
	noise := []byte("\x00\x01api_key=\"" + some(30, alnum) + "\"\x00")
	assert.Empty(t, scan(t, leak.Piece{Path: "x.db", Line: 1, Text: noise, Binary: true}), "what is binary has to be certain")
}

func TestNamesOfFiles(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	file := "logs/" + token + ".txt"
	twice := scan(t, leak.Piece{Path: token + "/" + token, Text: []byte(token)})
	require.Len(t, twice, 2)
	assert.Equal(t, "ghp_…, 40 characters/ghp_…, 40 characters", twice[0].Path)
	found := scan(t, leak.Piece{Commit: "c0ffee", Path: file, Text: []byte(file)})
	require.Len(t, found, 1)
	assertRedacted(t, token, found[0])
	assert.Equal(t, "logs/ghp_…, 40 characters.txt", found[0].Path)
	assert.Equal(t, 0, found[0].Line)

	found = scan(t, leak.Piece{Commit: "c0ffee", Path: file, Line: 1, Text: []byte("npm" + "_" + some(36, alnum))})
	require.Len(t, found, 1, "a secret in the file, whose name must not be shown either")
	assertRedacted(t, token, found[0])

	found = scan(t, leak.Piece{Path: "deploy/signing.p12", Text: []byte("deploy/signing.p12")})
	require.Len(t, found, 1)
	assert.Equal(t, "pkcs12-file", found[0].Rule)
	file = "x/token=" + some(30, alnum)
	assert.Empty(t, scan(t, leak.Piece{Path: file, Text: []byte(file)}), "a name has to be certain")

	file = "two\nlines " + token
	found = scan(t, leak.Piece{Path: file, Text: []byte(file)})
	require.Len(t, found, 1)
	assert.Equal(t, 0, found[0].Line, "a name has no lines")
}

func TestCommits(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	raw := "tree 0\nauthor a <b> 1 +0000\n\nSubject\n\nused " + token + "\n"
	found := scan(t, leak.Piece{Commit: strings.Repeat("c0ffee", 7), Line: -2, Text: []byte(raw)})
	require.Len(t, found, 1)
	assert.Equal(t, 3, found[0].Line)
	assert.Equal(t, "c0ffeec0ffee commit message: github-pat (ghp_…, 40 characters)", found[0].String())
}

func TestASecretIsFoundWhereverALongTextIsCut(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	for _, filler := range []string{"x", "x x\n"} {
		for _, at := range []int{0, 128<<10 - 20, 120<<10 - 7, 250 << 10} {
			text := strings.Repeat(filler, at/len(filler)) + " " + token + " " + strings.Repeat(filler, 9<<10)
			found := scan(t, leak.Piece{Path: "a.js", Line: 1, Text: []byte(text)})
			require.Len(t, found, 1, "%q %d", filler, at)
			assert.Equal(t, 1+strings.Count(text[:strings.Index(text, token)], "\n"), found[0].Line)
		}
	}
	// Where a long line is cut, what is left of a longer word must not look like a whole secret.
	cutRight := strings.Repeat("x", 128<<10-41) + " npm" + "_" + some(60, alnum) + strings.Repeat("x", 50<<10)
	assert.Empty(t, scan(t, leak.Piece{Path: "a.js", Line: 1, Text: []byte(cutRight)}))
	cutLeft := strings.Repeat("x", 120<<10) + "AK" + "IA" + some(16, upper+"234567") + " " + strings.Repeat("x", 50<<10)
	assert.Empty(t, scan(t, leak.Piece{Path: "a.js", Line: 1, Text: []byte(cutLeft)}))
}

func TestWhatIsNotLookedAtToTheEndIsAnError(t *testing.T) {
	again()
	s := must.Get(leak.New())(t)
	token := "ghp" + "_" + some(36, alnum)
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.Scan(over, leak.Piece{Commit: "c0ffee", Path: token, Line: 1, Text: []byte(token)})
	require.ErrorIs(t, err, context.Canceled)
	assert.NotContains(t, err.Error(), token[4:])

	require.ErrorIs(t, must.Err(s.All(ctx, leak.Piece{Commit: "c0ffee", Path: "a", Line: 1, Text: make([]byte, leak.Most+1)})), leak.ErrTooMuch)

	_, err = new(leak.Scanner).Scan(ctx, leak.Piece{Commit: "c0ffee", Path: token, Line: 1, Text: []byte(token)})
	require.EqualError(t, err, "scan commit c0ffee for secrets: the scanner failed: runtime error: invalid memory address or nil pointer dereference")
}

func TestLongTextsAreScannedAtOnce(t *testing.T) {
	again()
	text := []byte(strings.Repeat("a secret key\n", 30<<10) + "npm" + "_" + some(36, alnum) + "\n")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { assert.Len(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: text}), 1) })
	}
	all.Wait()
}

func TestAnOldSecretIsNotNewBecauseOfTheNextLine(t *testing.T) {
	again()
	for _, text := range []string{
		"TOKEN_1=ghp" + "_" + some(36, alnum) + "\nNEXT_2=1\n",
		"sk" + "-ant-oat01-" + some(93, alnum) + "AA\nNEXT2\n",
	} {
		assert.Empty(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: []byte(text), Fresh: []bool{false, true}}), text)
		assert.Len(t, scan(t, leak.Piece{Path: "a", Line: 1, Text: []byte(text), Fresh: []bool{true, false}}), 1, text)
	}
}

func TestOfTwoThatOverlapTheCertainOneCounts(t *testing.T) {
	again()
	token := "ghp" + "_" + some(36, alnum)
	for _, text := range []string{
		"curl -H \"Authorization: Bearer " + token + "\" https://api.github.com/user",
		"curl -u octocat:" + token + " https://api.github.com/user",
		"curl -u \"octocat:" + token + "\" https://api.github.com/user",
	} {
		found := scan(t, leak.Piece{Path: "a.sh", Line: 1, Text: []byte(text + "\n")})
		require.Len(t, found, 1, text)
		assert.Equal(t, "github-pat", found[0].Rule)
		assert.True(t, found[0].Certain)
		assertRedacted(t, token, found[0])
	}
}

func TestAWebTokenIsKnownByItsHeader(t *testing.T) {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	payload, sign := part(`{"sub":"1234567890","name":"Jo"}`), "x9Z_"+strings.Repeat("aB3-", 9)
	for header, is := range map[string]bool{
		`{"alg":"HS256","typ":"JWT"}`:      true,
		`{ "typ": "JWT", "kid": "a" }`:     true,
		`{"kid":"???>>>~~~","alg":"none"}`: true, // with - and _ in base64
		`{"1":2,"alg":"HS256"}`:            true,
		`{"u":"octocat","a":"cjf8"}`:       false,
		`{"algorithm":"HS256","v":1}`:      false,
		`{"alg":"HS256","typ":"JWT"`:       false,
	} {
		token := part(header) + "." + payload + "." + sign
		for _, path := range []string{"a.md", "web/package-lock.json"} {
			found := scan(t, leak.Piece{Path: path, Line: 1, Text: []byte("I got " + token + ", it says.\n")})
			if !is {
				assert.Empty(t, found, header)
				continue
			}
			require.Len(t, found, 1, header)
			assert.Equal(t, "jwt", found[0].Rule)
			assert.True(t, found[0].Certain)
			assertRedacted(t, token, found[0])
		}
		assert.Empty(t, scan(t, leak.Piece{Path: "a.md", Line: 1, Text: []byte(part(header) + "\n")}), "a header alone")
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range secrets() {
		f.Add("a.txt", []byte("\nkey = \""+s.text+"\"\n"), false, uint8(1))
	}
	f.Add("web/package-lock.json", []byte("%41\\u0041 QUJDREVGR0hJSktM \xff\x00 U+0041 41414141414141414141414141414141"), true, uint8(0))
	f.Fuzz(func(t *testing.T, path string, text []byte, binary bool, line uint8) {
		p := leak.Piece{Path: path, Line: int(line), Text: text, Binary: binary}
		found, lines := scan(t, p), bytes.Count(text, []byte("\n"))
		assert.Equal(t, found, scan(t, p), "the same every time")
		for _, f := range found {
			name := path != "" && line == 0
			assert.True(t, f.Line <= f.Last && (name || f.Line >= int(line) && f.Last <= int(line)+lines), f)
			assert.LessOrEqual(t, len(f.Excerpt), 40)
			assert.NotContains(t, f.String(), "\n")
		}
		p.Fresh = make([]bool, lines+1)
		for _, f := range scan(t, p) {
			assert.Equal(t, "by its name", f.Excerpt, "nothing else counts when nothing is new")
		}
	})
}
