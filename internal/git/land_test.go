package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

func TestRewriteMovesABranchFromWhereItIs(t *testing.T) {
	h := newHub(t)
	old := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.open("")
	_, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	require.NoError(t, c.Rewrite(ctx, "agent/x", old, base))
	assert.Equal(t, base, h.tip("refs/heads/agent/x"))
	require.NoError(t, c.Rewrite(ctx, "agent/x", old, base), "it is there already")
	at, err := c.Where(ctx, "agent/x")
	require.NoError(t, err)
	assert.Equal(t, base, at)

	moved := h.commit("agent/x", "a person's", map[string]string{"c.txt": "c\n"})
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.Rewrite(ctx, "agent/x", base, old), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, h.tip("refs/heads/agent/x"))

	h.git(h.bare, "update-ref", "-d", "refs/heads/agent/x")
	require.ErrorAs(t, c.Rewrite(ctx, "agent/x", moved, old), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	at, err = c.Where(ctx, "agent/x")
	require.NoError(t, err)
	assert.Empty(t, at, "a branch that was deleted is not made again")
	assert.Error(t, c.Rewrite(ctx, "agent/x", "", base))
}

func TestALostAnswerToARewriteIsUnclear(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			old := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
			c := h.open("")
			met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
			require.NoError(t, err)
			h.lose("/git-receive-pack", applied)
			var unclear *git.ErrUnclear
			require.ErrorAs(t, c.Rewrite(ctx, "agent/x", old, met.BaseSHA), &unclear)
			want := map[bool]string{true: met.BaseSHA, false: old}
			at, err := c.Where(ctx, "agent/x")
			require.NoError(t, err)
			assert.Equal(t, want[applied], at)
		})
	}
}

func TestTheBaseIsNeitherRewoundNorBroughtBack(t *testing.T) {
	h := newHub(t)
	h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.open("")
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	var rewind *git.ErrRewind
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "main", Start: base, SHA: met.HeadSHA}), &rewind)
	assert.Equal(t, base, h.tip("main"))

	h.git(h.bare, "update-ref", "refs/heads/main", met.MergeBase) // rewound meanwhile
	h.git(h.dev, "fetch", "-q", "origin")
	h.git(h.dev, "checkout", "-q", "-B", "main", base)
	tip := h.git(h.dev, "commit-tree", "-p", base, "-m", "landed", base+"^{tree}")
	h.git(h.dev, "push", "-q", "origin", tip+":refs/heads/tested")
	require.NoError(t, c.Have(ctx, tip))
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "main", Start: base, SHA: tip}), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, met.MergeBase, h.tip("main"))
}

func TestDeleteLetsGoOfWhatIsStillWhereItWas(t *testing.T) {
	h := newHub(t)
	sha := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	for _, name := range []string{"one", "two", "three"} {
		h.git(h.bare, "update-ref", "refs/heads/"+name, sha)
	}
	c := h.open("")
	gone := git.Ref{Name: "refs/heads/gone", SHA: sha}
	require.NoError(t, c.Delete(ctx, git.Ref{Name: "refs/heads/one", SHA: sha}, gone))
	assert.Empty(t, h.tip("refs/heads/one"))
	require.NoError(t, c.Delete(ctx, gone))
	require.NoError(t, c.Delete(ctx))

	moved := h.commit("two", "a person's", map[string]string{"b.txt": "b\n"})
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.Delete(ctx, git.Ref{Name: "refs/heads/two", SHA: sha}, git.Ref{Name: "refs/heads/three", SHA: sha}), &rejected)
	assert.Equal(t, "refs/heads/two", rejected.Ref)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, h.tip("refs/heads/two"))
	assert.Empty(t, h.tip("refs/heads/three"))

	hook := "#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(hook), 0o755))
	require.ErrorAs(t, c.Delete(ctx, git.Ref{Name: "refs/heads/agent/x", SHA: sha}), &rejected)
	assert.Equal(t, git.Protected, rejected.Reason)
	for _, bad := range []git.Ref{{Name: "refs/heads/x"}, {Name: "refs/tags/v1", SHA: sha}, {Name: "x", SHA: sha}, {Name: "refs/heads/a:b", SHA: sha}} {
		assert.ErrorContains(t, c.Delete(ctx, bad), "not a branch or a hidden ref", "%v", bad)
	}
}

func TestAnUnclearDeletionIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			sha := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
			c := h.open("")
			h.lose("/git-receive-pack", applied)
			require.NoError(t, c.Delete(ctx, git.Ref{Name: "refs/heads/agent/x", SHA: sha}))
			assert.Empty(t, h.tip("refs/heads/agent/x"))
		})
	}
}
