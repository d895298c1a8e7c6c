package leak

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/BurntSushi/toml"
	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/logging"
)

// ours are rules that replace gitleaks' of the same name, since the later one wins, and additional ones. Rules that need
// more than a pattern have a second half in the table beyond.
//
// github-app-token: since April 2026 an installation token, the GITHUB_TOKEN of a workflow included, is ghs_ and three
// parts with dots between them
// (https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/), where gitleaks
// 8.30.1 looks for 36 letters.
//
// anthropic-token: next to sk-ant-api03- and sk-ant-admin01- there are the tokens of a subscription, oat01 and ort01.
//
// age-secret-key: age 1.3 has post-quantum identities, AGE-SECRET-KEY-PQ-1.
//
// discord-bot-token: the first part is the number of the bot, in base64
// (https://docs.discord.com/developers/reference#authentication). Its keywords are how one to nine and any digit begin there.
//
// telegram-token: https://core.telegram.org/bots/api#authorizing-your-bot
//
// jwt: its first part says what it is (https://datatracker.ietf.org/doc/html/rfc7519#section-5), so that it is a secret wherever it
// stands. gitleaks looks at letters only.
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
id = "discord-bot-token"
description = "Found the token of a Discord bot, which acts in every server that the bot is in."
regex = '''\b(?:M[Tjz]|N[DTjz]|O[DT])[A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}\b'''
entropy = 4
keywords = ["mt", "mj", "mz", "nd", "nt", "nj", "nz", "od", "ot"]

[[rules]]
id = "discord-webhook-url"
description = "Found the address of a Discord webhook, which lets anybody post to its channel."
regex = '''(?i)discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{17,20}/[0-9a-z_-]{60,80}'''
entropy = 4
keywords = ["discord.com/", "discordapp.com/"]

[[rules]]
id = "telegram-token"
description = "Found the token of a Telegram bot, which reads and writes in the bot's name."
regex = '''\b[0-9]{8,10}:AA[0-9A-Za-z_-]{32,33}\b'''
entropy = 4
keywords = [":aa"]

[[rules]]
id = "jwt"
description = "Found a JSON web token, which logs in to a service."
regex = '''\bey[AIJ][0-9a-zA-Z_-]{10,}\.[0-9a-zA-Z_-]{10,}\.[0-9a-zA-Z_-]*'''
entropy = 3
keywords = ["eya", "eyi", "eyj"]

[[rules]]
id = "private-key"
description = "Found a private key, which compromises what it encrypts or signs."
regex = '''(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?s:.{0,400}?)[A-Z0-9]{12}[A-Z0-9+/]{36}[A-Z0-9+/=\s\\"',]*'''
keywords = ["-----begin"]

[[rules]]
id = "url-password"
description = "Found an address with a password in it, of a database or another service."
regex = '''://([^\s"'\x60<>/?\\,()|@:]{0,200}):([^\s"'\x60<>/?\\,()|@]{6,200})@([\w.\[-]{1,200})'''
keywords = ["://"]

[[rules]]
id = "netrc-password"
description = "Found a password in a line of a .netrc file."
regex = '''(?:machine\s{1,80}[^\s"'\x60]{1,200}|default)(?:\s{1,80}(?:login|account)\s{1,80}[^\s"'\x60]{1,200}){0,2}\s{1,80}password\s{1,80}([^\s"'\x60]{8,200})'''
keywords = ["machine", "default"]

[[rules]]
id = "aws-secret-access-key"
description = "Found an AWS secret beside the id of an access key: together they are a login."
regex = '''\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b'''
keywords = ["akia", "asia", "abia", "acca"]

[[rules]]
id = "password-literal"
description = "Found a password that stands in the text."
regex = '''(?i)((?:passw|passphrase|pwd)[\w.-]{0,20})(?:["'\x60\]]\]?)?[ \t]{0,20}[:=>]{1,3}[ \t]{0,20}("[!#-~]{8,100}"|'[!-&(-~]{8,100}'|\x60[!-_a-~]{8,100}\x60|[!#-&(-+\x2d-:=-_a-~]{8,100})'''
secretGroup = 2
keywords = ["passw", "passphrase", "pwd"]
`

// generic is gitleaks' rule for random-looking values assigned to names like "key" or "token".
const generic = "generic-api-key"

// ids are harmless values of the generic rule, beyond gitleaks' 1,500 words for it. An alphabet has high entropy, and is
// common where tokens are handled; so is the ID of something public.
var ids = []*config.Allowlist{{
	StopWords: []string{"0123456789", "1234567890", "abcdefgh"},
	Regexes:   []*regexp.Regexp{regexp.MustCompile(`(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`)},
}, {
	RegexTarget: "match",
	Regexes: []*regexp.Regexp{regexp.MustCompile(
		`(?i)(?:commit|revision|sha-?(?:1|256|512)?|digest|checksum|hash|fingerprint)(?:_?id|s)?\W{1,6}(?:[0-9a-f]{40}|[0-9a-f]{64})\b`)},
}}

// Scanner applies gitleaks' rules and ours. It is safe for concurrent use. gitleaks' own detector brings readers of a dozen kinds of
// archives with it, a tenth of our download.
type Scanner struct {
	rules    map[string]config.Rule
	keywords *ahocorasick.Trie   // of all rules, in lower case
	global   []*config.Allowlist // for every rule
}

var compiled = sync.OnceValues(compile)

// New returns the scanner. The first call compiles all patterns, which takes some 40 ms: call it when there is something to
// scan.
func New() (*Scanner, error) { return compiled() }

func compile() (*Scanner, error) {
	logging.Logger = zerolog.Nop() // gitleaks' own writes to stderr, also what it has found
	var settings config.ViperConfig
	if _, err := toml.Decode(config.DefaultConfig+ours, &settings); err != nil {
		return nil, fmt.Errorf("read the rules of gitleaks: %w", err)
	}
	for i := range settings.Rules { // what is before a keyword says nothing of the secret behind it, and takes most of the time
		if r := &settings.Rules[i]; r.ID != generic {
			r.Regex = strings.ReplaceAll(r.Regex, `[\w.-]{0,50}?`, "")
		}
	}
	all, err := settings.Translate()
	if err != nil {
		return nil, fmt.Errorf("compile the rules of gitleaks: %w", err)
	}
	r := all.Rules[generic]
	r.Allowlists = append(r.Allowlists, ids...)
	all.Rules[generic] = r
	var words []string
	for _, r := range all.Rules {
		for _, w := range r.Keywords {
			words = append(words, strings.ToLower(w))
		}
	}
	trie := ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	return &Scanner{rules: all.Rules, keywords: trie, global: all.Allowlists}, nil
}
