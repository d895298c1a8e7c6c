package merging_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

func TestAMergeInAPartialCloneGetsWhatItNeeds(t *testing.T) {
	t.Parallel()
	h := gittest.NewHub(t)
	h.Commit("main", "start", map[string]string{"LIST": "0\n", ".gitattributes": "LIST merge=union\n", "f": gittest.Numbers(20), "n.md": "---\ntags: [a]\n---\n"})
	head := h.Commit("agent/x", "work", map[string]string{"LIST": "0\ntheirs\n", "f": gittest.Numbers(20, "20", "twenty"), "n.md": "---\ntags: [b]\n---\n"})
	base := h.Commit("main", "meanwhile", map[string]string{"LIST": "0\nours\n", "f": gittest.Numbers(20, "1", "one"), "n.md": "---\ntags: [c]\n---\n"})
	c := h.Open(h.Workspace("main", "--filter=blob:none", "--no-checkout"))
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	require.Equal(t, []string{base, head}, []string{met.BaseSHA, met.HeadSHA})
	m := merging.Request{Strategy: model.StrategyUnion, Base: base, Head: head, Title: "T", UnionFields: []string{"tags"}}
	made := gittest.Must(merging.Build(gittest.Ctx, c, m))(t)
	require.NoError(t, merging.Verify(gittest.Ctx, c, m, made))
	for file, want := range map[string]string{"LIST": "0\nours\ntheirs\n", "f": gittest.Numbers(20, "1", "one", "20", "twenty"), "n.md": "---\ntags: [c, b]\n---\n"} {
		assert.Equal(t, want, string(gittest.Must(history.Blob(gittest.Ctx, c, made.Tip, file))(t)))
	}
	m.Strategy = model.StrategyRebase
	conflict := gittest.As[*merging.ErrConflict](t, gittest.Err(merging.Build(gittest.Ctx, c, m)))
	require.Len(t, conflict.Files, 1)
	assert.Equal(t, "<<<<<<< base\ntags: [c]\n=======\ntags: [b]\n>>>>>>> branch", conflict.Files[0].Hunks[0])

	again := h.Commit("again", "the same from another start", map[string]string{"f": gittest.Numbers(20, "1", "one", "20", "twenty"), "LIST": "0\nours\ntheirs\n", "n.md": "---\ntags: [b]\n---\n"})
	there := h.Commit("main", "picked", map[string]string{"n.md": "---\ntags: [b]\n---\n"})
	fresh := h.Open(h.Workspace("main", "--filter=blob:none", "--no-checkout", "--depth=1"))
	require.NoError(t, history.FetchCommits(gittest.Ctx, fresh, head, again))
	assert.True(t, gittest.Must(merging.SameMerge(gittest.Ctx, fresh, there, head, again))(t), "with what it takes of history and files")
	assert.NotContains(t, strings.Join(conflict.Paths, " "), "LIST")
}
