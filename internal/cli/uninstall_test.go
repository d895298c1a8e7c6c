package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// installed is a repository with all that MergeXO makes, beside what looks like it and is somebody else's.
func installed(t *testing.T) *hub {
	t.Helper()
	h := newHub(t, command(answers))
	for _, name := range []string{doctor.WorkflowPath, workflow.SetupPath} {
		h.write("main", name, "# as init wrote it\n")
	}
	const repo = "/api/v3/repos/octo/widgets"
	main := h.api("octo", "GET", repo+"/git/ref/heads/main", nil)["object"].(map[string]any)["sha"]
	for _, ref := range []string{
		"refs/mergexo/turn/7/abc", "refs/mergexo/train/main", "refs/heads/mergexo/checkpoint/7/abc", "refs/heads/agent/small/7-greet", "refs/heads/agent/bugfix/8-open",
		"refs/heads/gh-pr-9/fix", "refs/heads/agent/mine", "refs/heads/mergexo-notes", "refs/heads/agent/small/notes",
	} {
		h.api("octo", "POST", repo+"/git/refs", map[string]any{"ref": ref, "sha": main})
	}
	h.write("agent/bugfix/8-open", "fix.txt", "a fix\n")
	h.api("octo", "POST", repo+"/pulls", map[string]any{"title": "Fix it", "head": "agent/bugfix/8-open", "base": "main"})
	for _, label := range []string{"agent:small-job", "agent:ignore", "mergexo:freeze", "external:accept", "agent", "merge"} {
		h.raw("octo", "POST", repo+"/labels", map[string]any{"name": label, "color": "ededed"})
	}
	h.store("MERGEXO_SIGNING_KEY", "signs")
	h.store("MERGEXO_PRIVATE_KEY", "an App's")
	h.store("OPENAI_API_KEY", "a model's")
	for _, name := range []string{"MERGEXO_APP_ID", "REGION"} {
		h.api("octo", "POST", repo+"/actions/variables", map[string]any{"name": name, "value": "12"})
	}
	return h
}

// kept is what of that is there.
func (h *hub) kept() string {
	var names struct{ Labels, Secrets, Variables []string }
	var list []struct{ Name string }
	require.NoError(h.t, json.Unmarshal(h.raw("octo", "GET", "/api/v3/repos/octo/widgets/labels", nil), &list))
	for _, l := range list {
		names.Labels = append(names.Labels, l.Name)
	}
	for name := range h.secrets() {
		names.Secrets = append(names.Secrets, name)
	}
	for _, v := range h.api("octo", "GET", "/api/v3/repos/octo/widgets/actions/variables", nil)["variables"].([]any) {
		names.Variables = append(names.Variables, v.(map[string]any)["name"].(string))
	}
	return string(must.Get(json.Marshal(names))(h.t)) + "\n" + h.refs()
}

func TestUninstallRemovesWhatIsMergeXOs(t *testing.T) {
	t.Parallel()
	h := installed(t)
	before := h.refs()
	got := program(t, h.terminal("octo"), "uninstall").exits(t, 2)
	assert.Equal(t, "mergexo: uninstall removes what nobody can restore: add --dry-run to see what, then --yes\n", got.errout)
	dry := program(t, h.terminal("octo"), "uninstall", "--dry-run").ok(t)
	golden.Text(t, "uninstall/dry.txt", strings.ReplaceAll(dry.out, h.url, "https://github.com"))
	assert.Equal(t, before, h.refs())
	assert.Len(t, h.secrets(), 3, "a dry run changes nothing")

	got = program(t, h.terminal("octo"), "uninstall", "--yes").ok(t)
	golden.Text(t, "uninstall/done.txt", strings.ReplaceAll(got.out, h.url, "https://github.com"))
	left := h.kept()
	assert.Contains(t, left, `"Secrets":["OPENAI_API_KEY"],"Variables":["REGION"]`)
	for _, stays := range []string{`"agent"`, `"merge"`, `"bug"`, "refs/heads/agent/mine", "refs/heads/mergexo-notes", "refs/heads/agent/small/notes", "refs/heads/agent/bugfix/8-open", "refs/heads/main"} {
		assert.Contains(t, left, stays)
	}
	for _, goes := range []string{"agent:", "mergexo:", "external:", "refs/mergexo/", "checkpoint", "7-greet", "gh-pr-9"} {
		assert.NotContains(t, left, goes)
	}
	assert.Contains(t, program(t, h.terminal("octo"), "uninstall", "--yes").out, "There is nothing to remove.\n")
}

// What GitHub refuses holds nothing else up, and is told at the end.
func TestUninstallGoesOnWhereGitHubRefuses(t *testing.T) {
	t.Parallel()
	h := installed(t)
	h.raw("", "PUT", "/_sandbox/faults", []map[string]any{{"match": map[string]any{"method": "DELETE", "path": "/api/v3/repos/octo/widgets/actions/secrets/MERGEXO_SIGNING_KEY"}, "status": 403}})
	got := program(t, h.terminal("octo"), "uninstall", "--yes")
	assert.NotEqual(t, 0, got.exit)
	assert.Contains(t, got.out, "could not remove the secret MERGEXO_SIGNING_KEY\n")
	assert.Contains(t, got.out, "removed the hidden ref refs/mergexo/train/main\n")
	assert.Contains(t, got.errout, "MERGEXO_SIGNING_KEY")
	assert.Len(t, h.secrets(), 2)
}
