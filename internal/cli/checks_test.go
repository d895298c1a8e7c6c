package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A fine-grained personal token cannot read check runs: a merge that waits for them says so, and so do why and doctor.
func TestATokenThatCannotReadCheckRunsIsTold(t *testing.T) {
	h := newHub(t, "[repo]\ntrack = [\"agent/*\"]\n[merge]\ntests = \"none\"\napprovals = 0\nrequired_checks = [\"ci\"]\n")
	head := h.api("octo", "GET", "/api/v3/repos/octo/widgets/git/ref/heads/agent/greet", nil)["object"].(map[string]any)["sha"]
	h.api("github-actions[bot]", "POST", "/api/v3/repos/octo/widgets/check-runs", map[string]any{"name": "ci", "head_sha": head, "conclusion": "success"})
	h.api("octo", "POST", "/api/v3/repos/octo/widgets/issues/1/comments", map[string]any{"body": "/mergexo merge"})
	const fine = "GITHUB_TOKEN=github_pat_sandbox-octo"
	const says = "waiting for the check `ci` (MergeXO cannot see it); a fine-grained personal token cannot read check runs, so waiting does not help: " +
		"give MergeXO the workflow's own token or that of a GitHub App, then repeat the command"

	got := program(t, append(h.terminal("octo"), fine), "why", "--pr", "1")
	assert.Contains(t, got.out, says)
	assert.NotContains(t, program(t, h.terminal("octo"), "why", "--pr", "1").out, "fine-grained", "any other token can")
	assert.Contains(t, program(t, h.terminal("octo"), "why", "--pr", "1", "--all").out, "passed: `ci`")

	got = program(t, append(h.delivered("issue_comment", 5), fine), "run", "--json").exits(t, 75)
	said := h.bodies(1)
	assert.Contains(t, said[len(said)-1], "Waiting for the check `ci` (MergeXO cannot see it); a fine-grained personal token cannot read check runs, so waiting does not help: ")

	got = program(t, append(h.terminal("octo"), fine), "doctor", "--json")
	assert.Contains(t, got.out, "a fine-grained personal token cannot read check runs: with this token, a merge never sees its checks")
	assert.NotContains(t, program(t, h.terminal("octo"), "doctor", "--json").out, "check runs")
}
