package redact_test

import (
	"context"
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

