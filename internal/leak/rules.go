package leak

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"github.com/zricethezav/gitleaks/v8/config"
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
keywords = ["-----begin"]

[[rules]]
id = "url-password"
description = "Found an address with a password in it, of a database or another service."
keywords = ["://"]

[[rules]]
id = "netrc-password"
description = "Found a password in a line of a .netrc file."
keywords = ["machine", "default"]

[[rules]]
id = "aws-secret-access-key"
description = "Found an AWS secret beside the id of an access key: together they are a login."
keywords = ["akia", "asia", "abia", "acca"]

[[rules]]
id = "password-literal"
description = "Found a password that stands in the text."
keywords = ["passw", "passphrase", "pwd"]
`

// more is the part of a rule of ours that is not a pattern.
type more struct {
	find  func(text string, at int, file string) (from, to int) // bounds of a secret by the keyword at an offset; to is 0 for none
	check func(secret string) bool
	vague bool // only its context makes it a secret
}

var beyond = map[string]more{
	"private-key":           {find: privateKey},
	"url-password":          {find: urlPassword},
	"netrc-password":        {find: netrcPassword},
	"aws-secret-access-key": {find: awsSecret},
	"password-literal":      {find: passwordLiteral, vague: true},
	"discord-bot-token":     {check: numbered},
	"jwt":                   {check: webToken},
}

// generic is the rule for random-looking values assigned to names like "key" or "token".
const generic = "generic-api-key"

// ids are harmless values of the generic rule, beyond gitleaks' 1,500 words for it. An alphabet has high entropy, and is
// common where tokens are handled; so is the ID of something public.
func ids() []*allowlist {
	return []*allowlist{{
		StopWords: []string{"0123456789", "1234567890", "abcdefgh"},
		Regexes:   []string{`(?i)^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`},
	}, {
		RegexTarget: "match",
		Regexes:     []string{`(?i)(?:commit|revision|sha-?(?:1|256|512)?|digest|checksum|hash|fingerprint)(?:_?id|s)?\W{1,6}(?:[0-9a-f]{40}|[0-9a-f]{64})\b`},
	}}
}

// Scanner holds the rules. It is safe for concurrent use.
type Scanner struct {
	rules  []*rule
	global []*allowlist
	words  *words  // all keywords
	about  [][]use // for each of them, the rules that it stands for
	always []*rule // rules without a keyword
	idle   chan *worker
}

// use is a keyword of a rule.
type use struct {
	rule           *rule
	number, length int // which of the rule's keywords
}

var compiled = sync.OnceValues(func() (*Scanner, error) { return compile(config.DefaultConfig + ours) })

// New returns the scanner. The first call reads the rules, which takes some 10 ms and 2 MB: call it when there is something
// to scan. Patterns are compiled when one of their keywords occurs.
func New() (*Scanner, error) { return compiled() }

// compile makes a scanner of a configuration of gitleaks.
func compile(text string) (*Scanner, error) {
	all, err := load(text)
	if err != nil {
		return nil, fmt.Errorf("load the rules of gitleaks: %w", err)
	}
	s := &Scanner{global: all.lists(), idle: make(chan *worker, 16)}
	number := map[string]int{}
	var list []string
	for i, r := range all.Rules {
		r.index = i
		s.rules = append(s.rules, r)
		if len(r.Keywords) == 0 {
			s.always = append(s.always, r)
		}
		for k, w := range r.Keywords {
			n, ok := number[w]
			if !ok {
				n = len(list)
				number[w] = n
				list = append(list, w)
				s.about = append(s.about, nil)
			}
			s.about[n] = append(s.about[n], use{r, k, len(w)})
		}
	}
	s.words = newWords(list)
	return s, nil
}

// settings are the parts of gitleaks' configuration that matter here.
type settings struct {
	Title, Description, MinVersion string
	Rules                          []*rule
	AllowList                      *allowlist
	Allowlists                     []*allowlist
}

func (c *settings) lists() []*allowlist { return both(c.Allowlists, c.AllowList) }

// both merges the lists of a newer and an older syntax.
func both(lists []*allowlist, old *allowlist) []*allowlist {
	if old != nil {
		lists = append(lists, old)
	}
	return lists
}

// load reads a configuration like gitleaks, with the rules sorted by name. It refuses anything unsupported, so that a new
// gitleaks cannot bring a rule that is silently not applied.
func load(text string) (*settings, error) {
	c := &settings{}
	meta, err := toml.Decode(text, c)
	if err != nil {
		return nil, err
	}
	if rest := meta.Undecoded(); len(rest) > 0 {
		return nil, fmt.Errorf("unknown setting %s", rest[0])
	}
	for _, a := range c.lists() {
		if len(a.TargetRules) > 0 {
			return nil, fmt.Errorf("an allow list is for the rule %s only, which is not followed here", a.TargetRules[0])
		}
	}
	byID := map[string]*rule{}
	for _, r := range c.Rules {
		if err := r.complete(); err != nil {
			return nil, err
		}
		byID[r.ID] = r // of two of a name, the later one counts
	}
	c.Rules = slices.SortedFunc(func(yield func(*rule) bool) {
		for _, r := range byID {
			if !yield(r) {
				return
			}
		}
	}, func(a, b *rule) int { return cmp.Compare(a.ID, b.ID) })
	return c, nil
}

// complete adds what follows from a rule's settings.
func (r *rule) complete() error {
	if len(r.Required) > 0 || r.SkipReport {
		return fmt.Errorf("rule %s depends on another one, which is not followed here", r.ID)
	}
	r.more = beyond[r.ID]
	if r.Regex == "" && r.Path == "" && r.find == nil {
		return fmt.Errorf("rule %s has no pattern", r.ID)
	}
	for _, c := range commands {
		if rest, ok := strings.CutPrefix(r.Regex, c.text); ok {
			r.Regex, r.after, r.Keywords = rest, c.word, c.keywords
		}
	}
	r.Allowlists = both(r.Allowlists, r.AllowList)
	for i, w := range r.Keywords {
		r.Keywords[i] = strings.ToLower(w)
	}
	slices.Sort(r.Keywords)
	r.Keywords = slices.Compact(r.Keywords)
	if r.ID == generic {
		r.vague = true
		r.Allowlists = append(r.Allowlists, ids()...)
	}
	for _, a := range r.Allowlists {
		if err := a.valid(); err != nil {
			return fmt.Errorf("rule %s: %w", r.ID, err)
		}
	}
	return nil
}
