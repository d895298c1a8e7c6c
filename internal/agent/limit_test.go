package agent_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// asks is a program in place of Claude Code that asks its model, and then says that it was refused for a limit.
const asks = `#!/bin/bash
case "$*" in *--version*) echo '2.1.0 (Claude Code)'; exit ;; esac
cat >/dev/null
if [ -n "$ASKS" ]; then
	url=${ANTHROPIC_BASE_URL#http://}
	exec 3<>"/dev/tcp/${url%%:*}/${url##*:}"
	printf 'POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}' "$ANTHROPIC_API_KEY" >&3
	cat <&3 >/dev/null
fi
echo '{"type":"result","is_error":true,"api_error_status":429,"result":"This would exceed your rate limit","session_id":"s","total_cost_usd":0}'
exit 1
`

// What Claude Code runs can write a result in its place and end it. A limit that the provider knows nothing of is a failure like
// any other: else such an attempt would cost none, and be made again for ever.
func TestALimitThatAProgramOnlyClaimsIsAFailure(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(asks), 0o755)) //nolint:gosec // a program
	type row struct {
		asks   string
		status int
		kind   agent.Kind
		says   string
	}
	must.Each(t, map[string]row{
		"the provider answers":               {"yes", 200, agent.Model, "reported a limit, but its provider sent none (This would exceed your rate limit)"},
		"the provider is at a limit":         {"yes", 429, agent.Limit, "has reached a limit of its provider (This would exceed your rate limit)"},
		"it asks another provider than that": {"", 200, agent.Limit, "has reached a limit of its provider"},
	}, func(t *testing.T, c row) {
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }))
		defer provider.Close()
		a := must.Get(agent.New(agent.Options{
			Adapter: "claude", Access: []string{"ANTHROPIC_API_KEY=sk-ant-of-the-user", "ANTHROPIC_BASE_URL=" + provider.URL},
			Env: []string{"PATH=" + bin + ":/usr/bin:/bin", "ASKS=" + c.asks}, Temp: t.TempDir(),
			Timeout: time.Minute, Grace: time.Minute, Log: io.Discard, Events: slog.New(slog.DiscardHandler),
		}))(t)
		_, err := a.Run(context.Background(), t.TempDir(), model.Request{Kind: "feedback", Prompt: "please"})
		var failed *agent.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, c.kind, failed.Kind, err)
		assert.ErrorContains(t, err, c.says)
	})
}
