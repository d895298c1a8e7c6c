package redact_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

const (
	secret = "016C7EnXuFTSSx6Z2fW5s5mR8GfY2B3kQ9aL"
	token  = "ghp" + "_" + secret
	hidden = "[a line with what looks like a secret was left out]"
)

// keys is a thread with secrets of its own.
func keys(secrets ...string) *thread.Thread {
	t := thread.New(&thread.World{Lookup: func(string) (string, bool) { return "", false }, Secrets: secrets, Log: slog.New(slog.DiscardHandler)}, model.Event{}, nil, nil)
	t.Settings = config.Defaults()
	return t
}

func text(said string) string { return redact.Text(context.Background(), keys(), said) }

func TestATokenInACommandOfCurlIsLeftOut(t *testing.T) {
	for _, command := range []string{
		`curl -H "Authorization: Bearer ` + token + `" https://api.github.com/user`,
		`curl -u octocat:` + token + ` https://api.github.com/user`,
	} {
		assert.Equal(t, "I ran\n"+hidden+"\nand it failed.", text("I ran\n"+command+"\nand it failed."), command)
	}
}

func TestAWebTokenIsLeftOut(t *testing.T) {
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + part([]byte(`{"sub":"octocat"}`)) + "." + part([]byte(strings.Repeat("sign", 8)))
	assert.Equal(t, "It printed\n"+hidden+"\nand stopped.", text("It printed\nAuthorization: Bearer "+token+"\nand stopped."))
	other := part([]byte(`{"u":"octocat","a":"map"}`)) + "." + part([]byte(`{"sub":"octocat"}`)) + "." + part([]byte("sign"))
	assert.Equal(t, "It printed "+other+".", text("It printed "+other+"."))
}

func TestTokensAreLeftOutHoweverManyThereAre(t *testing.T) {
	var many, late strings.Builder
	for i := range 150 {
		fmt.Fprintf(&many, "line %d %s\n", i, token)
		fmt.Fprintf(&late, "api_key = \"8f%02dJkQ2mZ7vR4tY9wB1nX5cL%03d\"\n", i%100, i)
	}
	assert.NotContains(t, text(many.String()), secret)
	shown := text(late.String() + token)
	assert.NotContains(t, shown, secret)
	assert.Contains(t, shown, "api_key", "these are not certain")
	key := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC7VJTUt9Us8cKj\n", 20)
	assert.Equal(t, "[the agent's text contained a private key and was left out]", text(many.String()+key))
}

func TestASecretOverSeveralLinesIsLeftOutWithAllOfThem(t *testing.T) {
	block := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("# settings of a deployment\n", 11) + "token = " + token + "\n"))
	var lines []string
	for len(block) > 76 {
		lines, block = append(lines, block[:76]), block[76:]
	}
	lines = append(lines, block)
	assert.Equal(t, "It is\n"+hidden+"\nas it was.", text("It is\n"+strings.Join(lines, "\n")+"\nas it was."))

	assert.Equal(t, "It is\n"+hidden+"\nas it was.", text("It is\n"+token[:12]+"\n"+token[12:]+"\nas it was."))
}

// What is dropped from a comment must not hide a secret before.
func TestNoCharacterThatIsDroppedHidesASecret(t *testing.T) {
	for _, mark := range []string{"\x00", "\x07", "\u0085", "\u202e", "\x1b[0m"} {
		split := func(s string) string { return strings.Join(strings.Split(s, ""), mark) }
		own := keys("our-own-secret-value")
		o := redact.Outcome(context.Background(), own, model.Outcome{
			GeneralComment: "It is\n" + split(token) + "\nand " + split("our-own-secret-value") + ".",
			Summary:        "It is " + split(token),
		})
		assert.Equal(t, "It is\n"+hidden+"\nand ***.", o.GeneralComment, "%q", mark)
		assert.Equal(t, hidden, o.Summary, "%q", mark)
	}
	assert.Equal(t, "a\nb\nc", text("a\r\nb\rc"))
	multi := keys("first line\r\nsecond line")
	assert.Equal(t, "It is ***.", redact.Text(context.Background(), multi, "It is first line\r\nsecond line."))
}

func TestASuggestionForLinesOfWindowsStays(t *testing.T) {
	found := redact.Findings(context.Background(), keys(), []model.Finding{
		{Path: "a.txt", Line: 1, Text: "Say it.", Suggestion: "one\r\ntwo"},
		{Path: "b.txt", Line: 1, Text: "Say it.", Suggestion: "t = " + token[:9] + "\x00" + token[9:]},
		{Path: "c\x00.txt", Line: 1, Text: "Say it."},
	})
	assert.Equal(t, []model.Finding{{Path: "a.txt", Line: 1, Text: "Say it.", Suggestion: "one\r\ntwo"}, {Path: "b.txt", Line: 1, Text: "Say it."}}, found)
}

// with is a thread of an agent that was given a variable.
func with(name, value string) *thread.Thread {
	t := &thread.Thread{World: &thread.World{}, Memory: &thread.Memory{}, Settings: config.Defaults()}
	t.Settings.Agent.PassEnv = []string{name}
	t.Lookup = func(n string) (string, bool) { return value, n == name }
	return t
}

func TestASecretIsFoundAsAgentsQuoteIt(t *testing.T) {
	t.Parallel()
	account := "{\r\n  \"type\": \"service_account\",\r\n  \"pin\": \"opensesame1\"\r\n}\r\n"
	for _, c := range []struct{ value, said, shown string }{
		{" opensesame\n", "It is opensesame.", "It is ***."},
		{"open\"sesame\\", `It is open\"sesame\\ in quotes, open"sesame\ without.`, "It is *** in quotes, *** without."},
		{"opensesame", "opensesameopensesame!", "******!"},
		{"open~sesame", "6f70656e7e736573616d65, 6F70656E7E736573616D65", "***, ***"},
		{"open~sesame", `"\u006f\u0070\u0065\u006e\u007e\u0073\u0065\u0073\u0061\u006d\u0065", "\u006F\u0070\u0065\u006E\u007E\u0073\u0065\u0073\u0061\u006D\u0065"`, `"***", "***"`},
		{account, "Its second line is `\"type\": \"service_account\",`, its third `\"pin\": \"opensesame1\"`.", "Its second line is `\"type\": \"service_account\",`, its third `***`."},
		{account, "All of it:\n" + account, "All of it:\n***\n"},
		{"sesame\nopen-for-sesame-1\nopen-for-sesame-12", "sesame and open-for-sesame-12", "sesame and ***"},
		{"-----BEGIN THING-----\nopensesame\n-----END THING-----", "-----BEGIN THING-----\nclosesesame", "-----BEGIN THING-----\nclosesesame"},
	} {
		assert.Equal(t, c.shown, redact.Text(context.Background(), with("DOOR_KEY", c.value), c.said))
	}
}

func TestAVariableIsPrivateByItsName(t *testing.T) {
	t.Parallel()
	for names, shown := range map[string]string{
		"API_KEY ACCESS_TOKEN client_secret DB_PASSWORD GIT_PASSWD BASIC_AUTH GCP_CREDS PRIVATE_PEM MY_PAT PAT DB_PASS PASS DB_PASS_2 SMTP_PASS1 MYSQL_PWD mysql_pwd " +
			"PGPASSWORD GPG_PASSPHRASE PASSPHRASE_OF_GPG GOOGLE_CREDENTIALS CREDENTIALS_JSON AUTHORIZATION OAUTH_HEADER": "It is ***.",
		"DOOR COMPASS BYPASS PWD OLDPWD PASSED TESTS_PASSED PASSAGE FIRST_PASS_LOG PATH MY_PATH PATTERN PWD_DIR ENCOMPASS AUTHOR GIT_AUTHOR_NAME": "It is opensesame.",
	} {
		for name := range strings.FieldsSeq(names) {
			assert.Equal(t, shown, redact.Text(context.Background(), with(name, "opensesame"), "It is opensesame."), name)
		}
	}
}

// held says in which lines of a text, and by which rules, values are that no commit may hold.
func held(t *thread.Thread, text string, fresh ...bool) (found []string) {
	for _, v := range redact.Values(t) {
		if line, is := v.In([]byte(text), fresh); is {
			found = append(found, fmt.Sprintf("%d %s %s", line, v.Rule, v.What))
		}
	}
	return found
}

func TestOurOwnSecretsAreFoundInWhateverLinesTheyStand(t *testing.T) {
	t.Parallel()
	key := "# created: 2026-01-02T03:04:05Z\n# public key: age1qqq0000000000000000\nAGE-SECRET" + "-KEY-1QQQQQQQQQQQQQQQQQQQQ2222"
	own := keys(key, "short")
	const found = "mergexo a secret of MergeXO's own"
	for text, want := range map[string][]string{
		"a\n" + key:                                          {"1 " + found},
		strings.ReplaceAll(key, "\n", "\r\n"):                {"2 " + found},
		"  " + strings.ReplaceAll(key, "\n", "\n  "):         {"2 " + found},
		strings.ReplaceAll(key, "\n", `\n`):                  {"0 " + found},
		"identity = " + key[strings.LastIndex(key, "\n")+1:]: {"0 " + found},
		"# public key: age1qqq0000000000000000":              nil,
		"short":                                              nil,
	} {
		assert.Equal(t, want, held(own, text), text)
	}
}

func TestAValueThatTheAgentWasGivenIsHeldBackIfItCanBeASecret(t *testing.T) {
	t.Parallel()
	for value, is := range map[string]bool{
		"Kq7-vT2x9":                    true,
		"tk_aB3dE5fG7hJ9kL1m":          true,
		"8f14e45fceea167a5a36dedd4bea": true,
		"/aB3+dE5/fG7hJ9kL1mN3pQ5rS7":  true, // base64
		" Kq7-vT2x9\n":                 true,
		"":                             false,
		"Kq7-vT2":                      false,
		"postgres":                     false,
		"development":                  false,
		"Test1234":                     false,
		"/home/runner/keys/prod-1":     false,
		"./keys/prod-17-a":             false,
		"gha-creds-4711a.json":         false,
		"https://login.acme7.io/token": false,
		"acme7.eu.auth0.com":           false,
	} {
		want := []string(nil)
		if is {
			want = []string{"1 pass_env the value of DB_PASS"}
		}
		text := "host = db\npassword = " + strings.TrimSpace(value) + "\n"
		assert.Equal(t, want, held(with("DB_PASS", value), text), value)
		assert.Empty(t, held(with("DB_HOST", value), text), "no name of a secret")
		assert.Empty(t, held(with("DB_PASS", value), text, true, false), "it was there before")
	}
}

// TestAPlainWordStaysInTheMessageOfACommit: history keeps it, and files may hold it as well.
func TestAPlainWordStaysInTheMessageOfACommit(t *testing.T) {
	given := map[string]string{"DB_PASSWORD": "postgres", "DB_PASS": "Kq7-vT2x9"}
	on := keys()
	on.Lookup = func(name string) (string, bool) { return given[name], given[name] != "" }
	on.Settings.Agent.PassEnv = []string{"DB_PASSWORD", "DB_PASS"}
	const said = "Move to postgres 16, with Kq7-vT2x9"
	assert.Equal(t, "Move to postgres 16, with ***", redact.Message(context.Background(), on, said))
	assert.Equal(t, "Move to *** 16, with ***", redact.Text(context.Background(), on, said))
}

func TestNothingThatAnAgentSaysLeadsWhereItMayNotGo(t *testing.T) {
	const out = "https://evil.example/?d=1"
	said := "See " + out + " and [this](" + out + "), ![x](" + out + "), https://api.example/x, https://github.example/o/r."
	all := func(t *thread.Thread) (texts []string) {
		o := redact.Outcome(context.Background(), t, model.Outcome{
			GeneralComment: said, ReviewReplies: []model.ReviewReply{{ReviewCommentID: 1, Body: said}}, BlockedReason: said, Title: said, Goal: said, Summary: said,
			PRTitle: said, PRSummary: said, RoadmapItems: []model.RoadmapItem{{Title: said, Acceptance: said}},
			FlakyTestReport: &model.FlakyTest{Title: said, Summary: said, RelevantLogURL: out},
		})
		f := redact.Findings(context.Background(), t, []model.Finding{{Path: "a.txt", Text: said}})
		return []string{
			o.GeneralComment, o.ReviewReplies[0].Body, f[0].Text, o.BlockedReason, o.Title, o.Goal, o.Summary, o.PRTitle, o.PRSummary, o.RoadmapItems[0].Title,
			o.RoadmapItems[0].Acceptance, o.FlakyTestReport.Title, o.FlakyTestReport.Summary, o.FlakyTestReport.RelevantLogURL, redact.Unaddressed(t, said),
		}
	}
	open, limited := keys(), keys()
	limited.ServerURL, limited.Settings.Agent.Network = "https://github.example", model.Network{Model: true, Hosts: []string{"api.example"}}
	for i, text := range all(open) {
		assert.Contains(t, text, out, "text %d", i)
		if i < 3 {
			assert.NotContains(t, text, "![", "text %d: whoever opens the page would fetch it", i)
		}
	}
	for i, text := range all(limited) {
		assert.NotContains(t, text, "https://evil", "text %d", i)
		assert.Contains(t, text, "://evil.example/?d=1", "it can be read in text %d", i)
		if i != 13 {
			assert.Contains(t, text, " https://api.example/x, https://github.example/o/r", "text %d", i)
		}
	}
}
