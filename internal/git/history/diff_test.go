package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

func TestADiffIsWhatGitShowsWhateverIsConfigured(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("main", "old", map[string]string{"a.txt": gittest.Lines("a", 20, nil), "gone.txt": "x\n"})
	h.Git(h.Dev, "checkout", "-q", "-b", "agent/x")
	h.Commit("agent/x", "new", map[string]string{"a.txt": gittest.Lines("a", 20, map[int]string{10: "changed"}), "grün.txt": "new\n"})
	dir := h.Workspace("agent/x")
	for key, value := range map[string]string{"diff.noprefix": "true", "color.ui": "always", "diff.external": "/bin/false", "diff.context": "0"} {
		h.Git(dir, "config", key, value)
	}
	must.Each(t, map[string]string{"in a workspace": dir, "in a partial clone": ""}, func(t *testing.T, workspace string) {
		c := h.Open(workspace)
		met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
		diff := gittest.Must(history.Diff(gittest.Ctx, c, met.MergeBase, met.HeadSHA))(t)
		assert.Contains(t, diff, "--- a/a.txt\n+++ b/a.txt\n@@ -8,7 +8,7 @@")
		assert.Contains(t, diff, "+++ b/grün.txt\n@@ -0,0 +1 @@\n+new\n")
		assert.NotContains(t, diff, "gone.txt")
	})
	assert.ErrorContains(t, gittest.Err(history.Diff(gittest.Ctx, h.Open(dir), "--all", h.Tip("main"))), "not commit ids")
}
