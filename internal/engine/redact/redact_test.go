package redact_test

import (
	"context"
	"encoding/base64"
	"fmt"
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
	t := thread.New(&thread.World{Lookup: func(string) (string, bool) { return "", false }, Secrets: secrets}, model.Event{}, nil, nil)
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
