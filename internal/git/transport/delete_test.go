package transport_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

func TestRewriteMovesABranchFromWhereItIs(t *testing.T) {
	h := gittest.NewHub(t)
	old := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.Commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.Open("")
	gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	require.NoError(t, transport.Rewrite(gittest.Ctx, c, "agent/x", old, base))
	assert.Equal(t, base, h.Tip("refs/heads/agent/x"))
	require.NoError(t, transport.Rewrite(gittest.Ctx, c, "agent/x", old, base), "it exists already")
	assert.Equal(t, base, gittest.Must(transport.BranchTip(gittest.Ctx, c, "agent/x"))(t))

	moved := h.Commit("agent/x", "a person's", map[string]string{"c.txt": "c\n"})
	rejected := gittest.As[*git.ErrRejected](t, transport.Rewrite(gittest.Ctx, c, "agent/x", base, old))
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, h.Tip("refs/heads/agent/x"))

	h.Git(h.Bare, "update-ref", "-d", "refs/heads/agent/x")
	require.ErrorAs(t, transport.Rewrite(gittest.Ctx, c, "agent/x", moved, old), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Empty(t, gittest.Must(transport.BranchTip(gittest.Ctx, c, "agent/x"))(t), "a branch that was deleted is not made again")
	assert.Error(t, transport.Rewrite(gittest.Ctx, c, "agent/x", "", base))

	assert.Error(t, transport.PushCar(gittest.Ctx, c, "agent/x", "", base), "only branches of a train are made so")
	require.NoError(t, transport.PushCar(gittest.Ctx, c, "mergexo/train/main/1", "", base))
	require.ErrorAs(t, transport.PushCar(gittest.Ctx, c, "mergexo/train/main/1", "", old), &rejected)
	assert.Equal(t, base, h.Tip("refs/heads/mergexo/train/main/1"))
}

func TestALostAnswerToARewriteIsUnclear(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]bool{"applied": true, "not applied": false}, func(t *testing.T, applied bool) {
		t.Parallel()
		h := gittest.NewHub(t)
		old := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
		c := h.Open("")
		met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
		h.Lose("/git-receive-pack", applied)
		require.ErrorAs(t, transport.Rewrite(gittest.Ctx, c, "agent/x", old, met.BaseSHA), new(*git.ErrUnclear))
		want := map[bool]string{true: met.BaseSHA, false: old}
		assert.Equal(t, want[applied], gittest.Must(transport.BranchTip(gittest.Ctx, c, "agent/x"))(t))
	})
}

func TestTheBaseIsNeitherRewoundNorBroughtBack(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.Commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.Open("")
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	require.ErrorAs(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "main", Start: base, SHA: met.HeadSHA}),
		new(*git.ErrRewind))
	assert.Equal(t, base, h.Tip("main"))

	h.Git(h.Bare, "update-ref", "refs/heads/main", met.MergeBase) // rewound meanwhile
	h.Git(h.Dev, "fetch", "-q", "origin")
	h.Git(h.Dev, "checkout", "-q", "-B", "main", base)
	tip := h.Git(h.Dev, "commit-tree", "-p", base, "-m", "landed", base+"^{tree}")
	h.Git(h.Dev, "push", "-q", "origin", tip+":refs/heads/tested")
	require.NoError(t, history.FetchCommits(gittest.Ctx, c, tip))
	rejected := gittest.As[*git.ErrRejected](t,
		transport.Publish(gittest.Ctx, c, transport.Update{Branch: "main", Start: base, SHA: tip}))
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, met.MergeBase, h.Tip("main"))
}

func TestDeleteLetsGoOfWhatIsStillWhereItWas(t *testing.T) {
	h := gittest.NewHub(t)
	sha := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	for _, name := range []string{"one", "two", "three"} {
		h.Git(h.Bare, "update-ref", "refs/heads/"+name, sha)
	}
	c := h.Open("")
	gone := git.Ref{Name: "refs/heads/gone", SHA: sha}
	require.NoError(t, transport.Delete(gittest.Ctx, c, git.Ref{Name: "refs/heads/one", SHA: sha}, gone))
	assert.Empty(t, h.Tip("refs/heads/one"))
	require.NoError(t, transport.Delete(gittest.Ctx, c, gone))
	require.NoError(t, transport.Delete(gittest.Ctx, c))

	moved := h.Commit("two", "a person's", map[string]string{"b.txt": "b\n"})
	rejected := gittest.As[*git.ErrRejected](t, transport.Delete(gittest.Ctx, c, git.Ref{Name: "refs/heads/two", SHA: sha}, git.Ref{Name: "refs/heads/three", SHA: sha}))
	assert.Equal(t, "refs/heads/two", rejected.Ref)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, h.Tip("refs/heads/two"))
	assert.Empty(t, h.Tip("refs/heads/three"))

	hook := "#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
	require.ErrorAs(t, transport.Delete(gittest.Ctx, c, git.Ref{Name: "refs/heads/agent/x", SHA: sha}), &rejected)
	assert.Equal(t, git.Protected, rejected.Reason)
	for _, bad := range []git.Ref{{Name: "refs/heads/x"}, {Name: "refs/tags/v1", SHA: sha}, {Name: "x", SHA: sha}, {Name: "refs/heads/a:b", SHA: sha}} {
		assert.ErrorContains(t, transport.Delete(gittest.Ctx, c, bad), "not a branch or a hidden ref", "%v", bad)
	}
}

func TestAnUnclearDeletionIsLookedAt(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]bool{"applied": true, "not applied": false}, func(t *testing.T, applied bool) {
		t.Parallel()
		h := gittest.NewHub(t)
		sha := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
		c := h.Open("")
		h.Lose("/git-receive-pack", applied)
		require.NoError(t, transport.Delete(gittest.Ctx, c, git.Ref{Name: "refs/heads/agent/x", SHA: sha}))
		assert.Empty(t, h.Tip("refs/heads/agent/x"))
	})
}
