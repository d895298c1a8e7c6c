package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What GITHUB_TOKEN opens and pushes starts runs that wait for somebody's approval; what people push does not.
func TestRunsOfGitHubTokenWaitForApproval(t *testing.T) {
	w, c := townWithClone(t)
	c.commit(".github/workflows/ci.yml", "name: CI\non:\n  pull_request:\n")
	c.commit(".github/workflows/opened.yml", "on: {pull_request: {types: [opened]}}\n")
	c.commit(".github/workflows/one.yaml", "name: One\non: pull_request\n")
	c.commit(".github/workflows/push.yml", "name: Push\non: [push]\n")
	c.commit(".github/workflows/broken.yml", "on: [\n")
	c.push(".github/workflows/README.md", "on: pull_request\n")
	runs := func() (all []string) {
		for _, r := range w.as("octo", "GET", repoPath+"/actions/runs", nil).want(200).obj()["workflow_runs"].([]any) {
			r := r.(obj)
			all = append(all, r["name"].(string)+" "+r["event"].(string)+" "+r["status"].(string)+" "+r["conclusion"].(string)+" "+r["head_sha"].(string)[:7])
		}
		return all
	}
	b := w.clone("actions")
	sha := b.branch("x", "a.txt", "a\n")
	n := w.pull("actions", "x")
	held := func(sha string, names ...string) (want []string) {
		for _, name := range names {
			want = append(want, name+" pull_request completed action_required "+sha[:7])
		}
		return want
	}
	opened := held(sha, ".github/workflows/opened.yml", "One", "CI")
	require.Equal(t, opened, runs())
	require.Equal(t, []string{"pull_request.opened", "workflow_run.completed", "workflow_run.completed", "workflow_run.completed"}, w.delivered(w.deliveries()-4))

	sha = b.commit("a.txt", "b\n")
	b.git("push", "-q", "origin", "x")
	require.Equal(t, append(held(sha, "One", "CI"), opened...), runs())
	c.git("fetch", "-q")
	c.git("checkout", "-q", "x")
	c.push("a.txt", "c\n")
	require.Len(t, runs(), 5)
	c.branch("y", "y.txt", "y\n")
	w.pull("octo", "y")
	require.Len(t, runs(), 5, "what people do starts runs elsewhere")
	require.Positive(t, n)
}
