package agent_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
)

// What Claude Code runs can write a result in its place and end it. A limit that the provider knows nothing of is a failure like
// any other: else such an attempt would cost none, and be made again for ever.
func TestALimitThatAProgramOnlyClaimsIsAFailure(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	says := `{"type":"result","is_error":true,"api_error_status":429,"result":"This request would exceed your rate limit","session_id":"s","total_cost_usd":0}`
	script := "#!/bin/sh\ncase \"$*\" in *--version*) echo '2.1.0 (Claude Code)'; exit;; esac\ncat >/dev/null\necho '" + says + "'\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o755)) //nolint:gosec // a program
	a, err := agent.New(agent.Options{
		Adapter: "claude", Access: []string{"ANTHROPIC_API_KEY=sk-ant-of-the-user"}, Env: []string{"PATH=" + bin + ":/usr/bin:/bin"}, Temp: t.TempDir(),
		Timeout: time.Minute, Grace: time.Minute, Log: io.Discard, Events: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	_, err = a.Run(context.Background(), dir, model.Request{Kind: "feedback", Prompt: "please"})
	var failed *agent.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, agent.Model, failed.Kind, err)
	assert.ErrorContains(t, err, "says that it is at a limit of its provider, and the provider has said nothing of one")
}
