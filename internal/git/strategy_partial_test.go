package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestAMergeInAPartialCloneGetsWhatItNeeds(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.commit("main", "start", map[string]string{"LIST": "0\n", ".gitattributes": "LIST merge=union\n", "f": numbers(20), "n.md": "---\ntags: [a]\n---\n"})
	head := h.commit("agent/x", "work", map[string]string{"LIST": "0\ntheirs\n", "f": numbers(20, "20", "twenty"), "n.md": "---\ntags: [b]\n---\n"})
	base := h.commit("main", "meanwhile", map[string]string{"LIST": "0\nours\n", "f": numbers(20, "1", "one"), "n.md": "---\ntags: [c]\n---\n"})
	c := h.open(h.workspace("main", "--filter=blob:none", "--no-checkout"))
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	require.Equal(t, []string{base, head}, []string{met.BaseSHA, met.HeadSHA})
	m := git.Merge{Strategy: model.StrategyUnion, Base: base, Head: head, Title: "T", UnionFields: []string{"tags"}}
	made, err := c.Build(ctx, m)
	require.NoError(t, err)
	require.NoError(t, c.Verify(ctx, m, made))
	for file, want := range map[string]string{"LIST": "0\nours\ntheirs\n", "f": numbers(20, "1", "one", "20", "twenty"), "n.md": "---\ntags: [c, b]\n---\n"} {
		got, err := c.Blob(ctx, made.Tip, file)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	m.Strategy = model.StrategyRebase
	_, err = c.Build(ctx, m)
	var conflict *git.ErrConflict
	require.ErrorAs(t, err, &conflict)
	require.Len(t, conflict.Files, 1)
	assert.Equal(t, "<<<<<<< base\ntags: [c]\n=======\ntags: [b]\n>>>>>>> branch", conflict.Files[0].Hunks[0])

	again := h.commit("again", "the same from another start", map[string]string{"f": numbers(20, "1", "one", "20", "twenty"), "LIST": "0\nours\ntheirs\n", "n.md": "---\ntags: [b]\n---\n"})
	there := h.commit("main", "picked", map[string]string{"n.md": "---\ntags: [b]\n---\n"})
	fresh := h.open(h.workspace("main", "--filter=blob:none", "--no-checkout", "--depth=1"))
	require.NoError(t, fresh.Have(ctx, head, again))
	ok, err := fresh.SameMerge(ctx, there, head, again)
	require.NoError(t, err)
	assert.True(t, ok, "with what it takes of history and files")
	assert.NotContains(t, strings.Join(conflict.Paths, " "), "LIST")
}
