package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestBeginMakesABranchOnTheTipOfTheBase(t *testing.T) {
	for name, more := range map[string][]string{"depth 1": {"--depth=1"}, "partial": {"--filter=blob:none"}, "own clone": nil} {
		t.Run(name, func(t *testing.T) {
			h := gittest.NewHub(t)
			dir := h.Workspace("main", more...)
			h.Grow("main", 60)
			tip := h.Commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
			if name == "own clone" {
				dir = ""
			}
			c := h.Open(dir)
			assert.Equal(t, tip, gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t))
			if name != "partial" {
				assert.Equal(t, 1, c.NetworkCalls())
			}
			assert.Equal(t, "one\n", gittest.Read(t, c.Dir(), "a.txt"))
			assert.Equal(t, "refs/heads/"+gittest.Fresh, h.Git(c.Dir(), "symbolic-ref", "HEAD"))
			assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"))
			assert.Equal(t, tip, h.Git(c.Dir(), "rev-parse", "origin/main"))
			assert.Empty(t, h.Tip("refs/heads/"+gittest.Fresh), "the server has no such branch yet")
			assert.Equal(t, tip, gittest.Must(checkout.BranchTip(gittest.Ctx, c, ""))(t))

			gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			assert.EqualValues(t, "ahead", gittest.Must(history.Relation(gittest.Ctx, c, tip, gittest.Committed(t, c, "change")))(t))
			theirs := h.Commit("main", "theirs", map[string]string{"b.txt": "b\n"})
			require.Equal(t, theirs, gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main"))(t)["main"])
			merged := gittest.Must(checkout.MergeOrigin(gittest.Ctx, c, theirs, "Merge main"))(t)
			require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: gittest.Fresh, SHA: merged}))
			assert.Equal(t, merged, h.Tip("refs/heads/"+gittest.Fresh))
			require.NoError(t, checkout.Reset(gittest.Ctx, c, tip))
			assert.NoFileExists(t, filepath.Join(c.Dir(), "b.txt"))
		})
	}
}

func TestBeginMovesAnOlderBranchAndCleansUp(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit(gittest.Fresh, "an earlier attempt", map[string]string{"old.txt": "old\n"})
	dir := h.Workspace(gittest.Fresh)
	h.Git(h.Dev, "push", "-q", "origin", ":"+gittest.Fresh)
	tip := h.Commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
	h.Commit("other", "elsewhere", nil)
	gittest.Write(t, dir, map[string]string{"untracked.txt": "x\n", "build.log": "kept\n", "README.md": "changed\n"})
	gittest.Write(t, dir, map[string]string{".git/index.lock": "left by somebody who was killed"})
	c := h.Open(dir)
	sha := gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	assert.Equal(t, dir, c.Dir())
	assert.Equal(t, tip, sha)
	assert.Equal(t, tip, h.Git(dir, "rev-parse", "refs/heads/"+gittest.Fresh))
	for _, gone := range []string{"old.txt", "untracked.txt"} {
		assert.NoFileExists(t, filepath.Join(dir, gone))
	}
	assert.Equal(t, "widgets\n", gittest.Read(t, dir, "README.md"))
	assert.Equal(t, "kept\n", gittest.Read(t, dir, "build.log"))
	_, err := h.Try(dir, "rev-parse", "--verify", "-q", "refs/remotes/origin/"+gittest.Fresh)
	assert.Error(t, err, "origin/%s would name what the server does not have", gittest.Fresh)

	h.Git(dir, "update-index", "--assume-unchanged", "a.txt")
	gittest.Write(t, dir, map[string]string{"a.txt": "hidden\n"})
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "main", "other", h.Tip("main")))
	tip = h.Commit("main", "later", nil)
	gittest.Must(checkout.Begin(gittest.Ctx, c, "mergexo/issue-6", "main"))(t, "a further one on the same checkout")
	assert.Equal(t, []string{tip}, history.FetchedTips(c), "and nothing of the one before")
	assert.Equal(t, "one\n", gittest.Read(t, dir, "a.txt"))
}

func TestBeginNamesTheBaseThatIsMissing(t *testing.T) {
	h := gittest.NewHub(t)
	none := gittest.As[*git.ErrNoRef](t,
		gittest.Err(checkout.Begin(gittest.Ctx, h.Open(h.Workspace("main")), gittest.Fresh, "develop")))
	assert.Equal(t, "refs/heads/develop", none.Ref)

	require.NoError(t, os.RemoveAll(h.Bare))
	h.Git(h.Dev, "init", "-q", "--bare", "--initial-branch=main", h.Bare)
	empty := filepath.Join(t.TempDir(), "empty")
	h.Git(t.TempDir(), "init", "-q", "--initial-branch=main", empty)
	h.Git(empty, "remote", "add", "origin", h.Url)
	for _, workspace := range []string{empty, ""} {
		c := h.Open(workspace)
		require.ErrorAs(t, gittest.Err(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main")), &none, "an empty repository")
		assert.Equal(t, "refs/heads/main", none.Ref)
		assert.Equal(t, 1, c.NetworkCalls())
	}
	for _, pair := range [][2]string{{"main", "main"}, {"", "main"}, {gittest.Fresh, ""}, {"a..b", "main"}, {"a:b", "main"}} {
		assert.ErrorContains(t, gittest.Err(checkout.Begin(gittest.Ctx, h.Open(""), pair[0], pair[1])), "not two branches")
	}
}

func TestBeginGivesADamagedWorkspaceUp(t *testing.T) {
	h := gittest.NewHub(t)
	dir := h.Workspace("main")
	tip := h.Commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
	c := h.Open(dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git", "objects")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "objects"), nil, 0o644))
	assert.Equal(t, tip, gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t))
	assert.NotEqual(t, dir, c.Dir())
}
