package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

func TestExtraArgumentsCannotOpenWhatIsShut(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, c := range []struct {
		adapter string
		args    []string
	}{
		{"codex", []string{"--sandbox", "danger-full-access"}},
		{"codex", []string{"--sandbox=danger-full-access"}},
		{"codex", []string{"-sdanger-full-access"}},
		{"codex", []string{"--dangerously-bypass-approvals-and-sandbox"}},
		{"codex", []string{"--oss", "-c", `sandbox_mode="danger-full-access"`}},
		{"codex", []string{`-csandbox_mode="danger-full-access"`}},
		{"codex", []string{"-c=approval_policy=\"on-request\""}},
		{"codex", []string{"--config=mcp_servers.x.command=\"sh\""}},
		{"codex", []string{"-c", "model_reasoning_effort"}},
		{"codex", []string{"-c"}},
		{"codex", []string{"-c", "--oss"}},
		{"codex", []string{"--add-dir", "/"}},
		{"codex", []string{"--model", "x"}},
		{"codex", []string{"--oss", "resume"}},
		{"codex", []string{"--", "x"}},
		{"claude", []string{"--dangerously-skip-permissions"}},
		{"claude", []string{"--permission-mode=bypassPermissions"}},
		{"claude", []string{"--effort", "high", "--settings", "{}"}},
		{"claude", []string{"--mcp-config=evil.json"}},
		{"claude", []string{"--efort", "high"}},
		{"claude", []string{"--append-system-prompt-file", "x"}},
		{"claude", []string{"-r", "x"}},
		{"claude", []string{"do this"}},
	} {
		_, err := agent.New(agent.Options{Adapter: c.adapter, ExtraArgs: c.args})
		require.Error(t, err, "%v", c.args)
		fmt.Fprintf(&text, "%s %s\n  %s\n", c.adapter, strings.Join(c.args, " "), err)
	}
	golden.Text(t, "extra_args.txt", text.String())

	for _, c := range []struct {
		adapter string
		args    []string
	}{
		{"codex", []string{"-c", "model_reasoning_effort=high", "-csandbox_workspace_write.network_access=true", "--config=model_providers.x={}", "--oss", "--local-provider", "ollama"}},
		{"claude", []string{"--effort", "high", "--max-budget-usd=2", "--append-system-prompt", "be kind"}},
	} {
		assert.NoError(t, must.Err(agent.New(agent.Options{Adapter: c.adapter, ExtraArgs: c.args})))
	}
}
