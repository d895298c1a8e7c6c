package leak_test

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/leak"
)

// leaked is one kind of secret, or one way to hide one, in the text in which an agent would leave it.
type leaked struct {
	kind, path, text, secret string
	rule                     string // by which it is found; "": any
	missed                   string // why it is not found; "": it is
}

// hidden writes tokens as somebody who wants them to pass would.
func hidden() (out []leaked) {
	coded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	way := func(kind, path string, write func(token string) string, missed string) {
		token := "ghp" + "_" + some(36, alnum)
		out = append(out, leaked{kind, path, write(token) + "\n", token, "", missed})
	}
	way("base64", "a.yaml", func(s string) string { return "token: " + coded(s) }, "")
	way("base64 twice", "a.yaml", func(s string) string { return "blob: " + coded(coded("export TOKEN="+s)) }, "")
	way("hexadecimal", "a.txt", func(s string) string { return hex.EncodeToString([]byte(s)) }, "")
	way("base64 in lines", "a.pem", func(s string) string {
		long := coded("# settings of deployment one\nurl = https://github.com\ntoken = " + s)
		return long[:70] + "\n" + long[70:]
	}, "")
	way("split over strings", "a.go", func(s string) string { return "token := \"" + s[:20] + "\" + \"" + s[20:] + "\"" }, "")
	way("split over lines", "a.sh", func(s string) string { return "TOKEN=" + s[:22] + "\\\n  " + s[22:] }, "")
	way("zero-width characters in it", "a.md", func(s string) string {
		return s[:9] + "\u200b" + s[9:20] + "\u2060\u00ad" + s[20:30] + "\ufe0f\U000E0061" + s[30:]
	}, "")
	way("backwards", "a.txt", func(s string) string {
		b := []byte(s)
		slices.Reverse(b)
		return string(b)
	}, "nobody leaks that by mistake")
	way("every letter moved on", "a.txt", func(s string) string {
		return strings.Map(func(r rune) rune { return r + 1 }, s)
	}, "nobody leaks that by mistake")
	return out
}

// kinds are the secrets themselves.
func kinds() []leaked {
	var out []leaked
	by := func(rule, kind, path, before, secret, after string) {
		out = append(out, leaked{kind: kind, path: path, text: "# settings\n" + before + secret + after + "\n", secret: secret, rule: rule})
	}
	found := func(kind, path, before, secret, after string) { by("", kind, path, before, secret, after) }
	for _, s := range secrets() {
		by(s.rule, s.name, "deploy/settings.txt", "value = \"", s.text, "\"")
	}
	hexes := digits + "abcdef"
	strong := func() string { return "v" + some(4, alnum) + "!" + some(3, digits) + "kQ" + some(3, lower) + "#7" }
	found("a GitLab token", ".env", "GITLAB=", "glpat"+"-"+some(20, alnum), "")
	found("a Google key", "app.js", "key: \"", "AI"+"za"+some(35, alnum), "\"")
	found("a Stripe key", "pay.py", "stripe.api_key = \"", "sk"+"_live_"+some(24, alnum), "\"")
	found("a SendGrid key", "mail.rb", "key = '", "S"+"G."+some(22, alnum)+"."+some(43, alnum), "'")
	found("a Hugging Face token", "train.py", "login(\"", "h"+"f_"+some(34, lower), "\")")
	found("a DigitalOcean token", "main.tf", "token = \"", "dop"+"_v1_"+some(64, hexes), "\"")
	found("a PyPI token", ".pypirc", "password: ", "pypi"+"-AgEIcHlwaS5vcmc"+some(60, alnum), "")
	found("a Shopify token", "shop.rb", "t = '", "shp"+"at_"+some(32, hexes), "'")
	found("a Twilio key", "sms.js", "const k = '", "S"+"K"+some(32, hexes), "'")
	found("a Vault token", "ci.sh", "export VAULT_TOKEN=", "hv"+"s."+some(95, alnum), "")
	found("a Postman key", "api.json", "\"k\": \"", "PM"+"AK-"+some(24, hexes)+"-"+some(34, hexes), "\"")
	found("a Slack user token", "bot.py", "t = '", "xo"+"xp-"+some(12, digits)+"-"+some(12, digits)+"-"+some(12, digits)+"-"+some(32, hexes), "'")
	found("a random value under a telling name", "settings.py", "api_key = \"", "8f"+some(30, alnum), "\"")
	by("curl-auth-header", "a header of curl", "deploy.sh", "curl -s https://api.acme.io \\\n  -H \"Authorization: Bearer ", some(32, alnum), "\"")
	by("curl-auth-user", "a login of curl", "deploy.sh", "curl -u \"", "deploy:"+strong(), "\" https://api.acme.io")
	by("password-literal", "a password", "settings.py", "DB_PASSWORD = \"", strong(), "\"")
	by("password-literal", "a password in YAML", "values.yaml", "  adminPassword: ", strong(), "")
	by("url-password", "the address of a database", "app.env", "DATABASE_URL=", "postgres://app:"+some(14, alnum)+"3x", "@db.acme.io:5432/app")
	by("url-password", "an address with a login", "setup.cfg", "index = ", "https://deploy:"+some(14, alnum)+"3x", "@pypi.acme.io/simple")
	by("netrc-password", "a line of .netrc", ".netrc", "machine api.acme.io login deploy password ", some(14, alnum)+"3x", "")
	by("aws-secret-access-key", "an AWS secret beside its id", "creds.csv", "AK"+"IA"+some(16, upper+"234567")+",", some(20, alnum)+"/x9Z"+some(16, alnum+"+"), "")
	by("discord-bot-token", "a token of a Discord bot", "bot.py", "run('", "MTk4NjIyNDgzNDcxOTI1"+"MjQ4.G"+some(5, alnum)+"."+some(38, alnum), "')")
	by("discord-webhook-url", "a webhook of Discord", "notify.sh", "curl -d @- https://", "discord"+".com/api/webhooks/"+some(18, "123456789")+"/"+some(68, alnum), "")
	by("telegram-token", "a token of a Telegram bot", "bot.py", "Bot('", some(10, "123456789")+":A"+"A"+some(33, alnum), "')")
	return append(out, hidden()...)
}

// Of 53 kinds all but two are found.
func TestTheCorpusIsFound(t *testing.T) {
	all, found := kinds(), 0
	for _, k := range all {
		t.Run(k.kind, func(t *testing.T) {
			got := scan(t, leak.Piece{Commit: "c0ffee", Path: k.path, Line: 1, Text: []byte(k.text)})
			if k.missed != "" {
				assert.Empty(t, got, "it is found by now: say so in the table")
				return
			}
			found++
			if assert.NotEmpty(t, got, k.text) {
				last := got[len(got)-1]
				assertRedacted(t, k.secret, last)
				assert.True(t, k.rule == "" || k.rule == last.Rule, "%s, not %s", last.Rule, k.rule)
			}
		})
	}
	assert.GreaterOrEqual(t, len(all), 52)
	assert.Equal(t, len(all)-2, found)
}

// Lines as they stand in every other repository: a finding here keeps somebody's work from being pushed.
var innocent = []string{
	`password = "changeme"`, `password: "password"`, `PASSWORD=secret`, `password = "Passw0rd!"`, `password: 'P@ssw0rd123'`, `DB_PASSWORD=postgres`,
	`password: "Test1234!"`, `pwd = "Admin123!"`, `password = "correct-Horse-battery-staple!"`, `"password": "hunter2"`, `password: "Welcome1!"`, `MYSQL_ROOT_PASSWORD=example`,
	`password = os.environ["DB_PASSWORD"]`, `password: process.env.DB_PASSWORD!`, `PASSWORD=$DB_PASSWORD`, `password = ${DB_PASSWORD:-Ab1!cdef}`, `password: {{ .Values.db.password }}`,
	`password: ${{ secrets.DB_PASSWORD }}`, `password=$(pass show db/App1)`, `password = "<your-Password-1>"`, `password = "xxxxXXXX1!"`, `password = "********"`, `passwd: "%s"`,
	`password := getPassword(ctx, "App1!")`, `if password == user.Password2 {`, `const passwordRegex = "^(?=.*[A-Z])(?=.*[0-9]).{8,}$"`, `password_hash = "$2b$12$KIXQ4f8pGm3Zr9Yt0aBcDe"`,
	`password: !vault |`, `password: ENC[AES256_GCM,data:Kx9!q2Z8,iv:a=,tag:b=,type:str]`, `<label for="password">Password (min. 8 characters, 1 digit!)</label>`,
	`passwordPlaceholder: "Enter 8+ Characters!"`, `password_file: /run/secrets/Db1!pass`, `PasswordResetUrl = "https://Acme1.io/r?x=1!"`, `password: String!`, `password?: string;`,
	`password = "Foo-Bar-123"`, `"password": "My-Secret-Pass1!"`, `password: "Secret2024!"`, `newPassword: "NewPassword456!"`, `password = "1234567890aA!"`,
	`invalidPassword = "x7Kq!9vT"`, `password_min_length = "8"`, `spring.datasource.password=${DB_PASS}`, `ConnectionStrings__Password=__DB_PASSWORD_1__`, `password: op://vault/Db1/password!`,
	`postgres://user:password@localhost/db`, `postgres://postgres:postgres@localhost:5432/test`, `mysql://root:root@127.0.0.1/app`, `redis://:foobared@localhost:6379`,
	`postgres://user:pass1234@db.example.com/x`, `mongodb://admin:admin123@mongo:27017`, `amqp://guest:guest@rabbitmq:5672/`, `postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app`,
	`postgres://$USER:$PASSWORD@host/db`, `postgres://app:{password}@{host}/app`, `https://<user>:<token>@github.com/x/y`, `https://user:TOKEN@github.com/x/y.git`, `https://x-access-token:${TOKEN}@github.com/octo/x`,
	`https://user:p4ssw0rd@example.com`, `mysql://scott:tiger@prod.acme.io/orcl`, `fmt.Sprintf("postgres://%s:%s@%s/%s", user, pass, host, db)`, `http://[::1]:8080/a@b`, `https://acme.io:8443/path@v1.2.3`,
	`https://github.com/actions/checkout@v4`, `https://www.npmjs.com/package/@scope/name`, `ssh://git@github.com:22/x`, `https://acme.io/a:b@c`, `git+ssh://git@host.io:me/x`, `redis://redis:6379/0`,
	`cvs://:pserver:anoncvs1@sources.acme.io:/cvs/src`, `http://user:pa%2Fssword@dummy.faketld/`, `machine m login u password gopher1@golang.org`,
	`http://alice:secret1@localhost:3000`, `ftp://anonymous:anonymous1@ftp.acme.io`, `jdbc:postgresql://localhost:5432/db?user=a&password=b`, `https://user:xxxx1234@host.io`,
	`machine github.com login octocat password ${GITHUB_TOKEN}`, `machine api.github.com login USER password TOKEN`, `machine example.com login me password secret123`,
	`machine learning login page password reset2`, `the machine is down, login with your password`, `default login anonymous password user@site`, `state machine: login -> password -> done1`,
	"id = AK" + "IAIOSFODNN7EXAMPLE\nsecret = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AK" + "IAIOSFODNN7EXAMPLE\n/Home/user/Library/Application/Support/x",
	`export AWS_SECRET_ACCESS_KEY=<secret>`, `aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`, `AWS_SECRET_ACCESS_KEY: ${{ secrets.AWS_SECRET_ACCESS_KEY }}`,
	`DISCORD_TOKEN=your-bot-token`, `https://discord.com/api/webhooks/{id}/{token}`, `https://discord.com/api/webhooks/123456789012345678/TOKEN`, `TELEGRAM_TOKEN=123456:ABC-DEF`,
	`https://api.telegram.org/bot<token>/getMe`, `const id = "MTk4NjIyNDgzNDcxOTI1MjQ4"`, `mtn.abcdef.ghi`, `MTabcdeFghijk1mnopqrst2v` + `.Cl2FMQ.` + `ZnCjm1XVW7vRze4b7Cq4se7kKWs`, `ratio 12345678:AAbb`, `a.b.c.d.e.f`, `Note.js.map.min.something`,
	"the cat\u200bs pass\u00adword", `"\u0070assword: \u0022none\u0022"`, `curl -H "Authorization: Bearer $TOKEN" https://api.acme.io`, `curl -u "$USER:$PASS" https://acme.io`, `curl -u user:password https://acme.io`,
	`"ghp_" + strings.Repeat("a", 36)`, `"prefix ghp_" \`, `npm_config_registry=https://registry.acme.io`, `sha256:3f9c1b7e5d2a8064f1e7c3b95a0d86e24b7f190c3f9c1b7e5d2a8064f1e7c3b9`,
	`-----BEGIN PRIVATE KEY-----`,
}

func TestInnocentLinesAreLeftAlone(t *testing.T) {
	for _, line := range innocent {
		for _, path := range []string{"README.md", "src/settings.py", ".env", "testdata/fixture.json"} {
			assert.Empty(t, scan(t, leak.Piece{Path: path, Line: 1, Text: []byte(line + "\n")}), "%s: %s", path, line)
		}
	}
	assert.Empty(t, scan(t, leak.Piece{Path: "all.txt", Line: 1, Text: []byte(strings.Join(innocent, "\n"))}), "nor one beside the other")
}

func TestALineIsRightWhereCharactersWereDropped(t *testing.T) {
	again()
	token := "npm" + "_" + some(36, alnum)
	text := "\ufeffa\u200b\nb\u00ad\u2060\nc = " + token[:6] + "\u200d" + token[6:] + "\n"
	found := scan(t, leak.Piece{Path: "a", Line: 10, Text: []byte(text)})
	assert.Len(t, found, 1)
	assert.Equal(t, 12, found[0].Line)
	assert.Empty(t, scan(t, leak.Piece{Path: "a", Line: 10, Text: []byte(text), Fresh: []bool{true, true, false}}))

	found = scan(t, leak.Piece{Path: token[:9] + "\u2063" + token[9:], Text: []byte("x")})
	assert.Len(t, found, 1)
	assert.Equal(t, "npm_…, 40 characters", found[0].Path)
}

func TestSecretsOverSeveralLines(t *testing.T) {
	again()
	id, secret, password := "AK"+"IA"+some(16, upper+"234567"), some(20, alnum)+"/x9Z"+some(16, alnum+"+"), some(14, alnum)+"3x"
	for _, c := range []struct {
		name, text, rule string
		line             int
	}{
		{"an AWS secret below its id", "[default]\nid = " + id + "\nregion = eu-west-1\nwhat = " + secret + "\n", "aws-secret-access-key", 4},
		{"an AWS secret above its id", secret + "\n\n" + id + "\n", "aws-secret-access-key", 1},
		{".netrc in lines", "machine api.acme.io\n  login deploy\n  password " + password + "\n", "netrc-password", 3},
		{".netrc with an account", "machine a.io login x account y\n\tpassword " + password + "\n", "netrc-password", 2},
		{"the default of .netrc", "default login x password " + password + "\n", "netrc-password", 1},
	} {
		found := scan(t, leak.Piece{Path: "a.txt", Line: 1, Text: []byte(c.text)})
		at := slices.IndexFunc(found, func(f leak.Finding) bool { return f.Rule == c.rule })
		require.GreaterOrEqual(t, at, 0, c.name)
		assert.Equal(t, c.line, found[at].Line, c.name)
		assertRedacted(t, secret, found[at])
		assertRedacted(t, password, found[at])
	}
	far := id + "\n" + strings.Repeat("one more line\n", 20) + secret + "\n"
	assert.Len(t, scan(t, leak.Piece{Path: "a.txt", Line: 1, Text: []byte(far)}), 1, "far from the id it is any word")
	commit := id + "\n" + some(40, digits+"abcdef") + "\n"
	assert.Len(t, scan(t, leak.Piece{Path: "a.txt", Line: 1, Text: []byte(commit)}), 1, "a commit is no secret")
}

func TestAPasswordInAFileThatShowsSomethingHasToLookLikeOne(t *testing.T) {
	text := []byte("password = \"" + "Kx9!q2" + "Zt\"\n")
	assert.Len(t, scan(t, leak.Piece{Path: "settings.py", Line: 1, Text: text}), 1)
	assert.Empty(t, scan(t, leak.Piece{Path: "tests/settings.py", Line: 1, Text: text}))
}
