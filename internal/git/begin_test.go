package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

const fresh = "mergexo/issue-5"

func TestBeginMakesABranchOnTheTipOfTheBase(t *testing.T) {
	for name, more := range map[string][]string{"full": nil, "depth 1": {"--depth=1"}, "partial": {"--filter=blob:none"}, "own clone": nil} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			dir := h.workspace("main", more...)
			h.grow("main", 60)
			tip := h.commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
			if name == "own clone" {
				dir = ""
			}
			c := h.open(dir)
			sha, err := c.Begin(ctx, fresh, "main")
			require.NoError(t, err)
			assert.Equal(t, tip, sha)
			if name != "partial" {
				assert.Equal(t, 1, c.NetworkCalls())
			}
			assert.Equal(t, "one\n", read(t, c.Dir(), "a.txt"))
			assert.Equal(t, "refs/heads/"+fresh, h.git(c.Dir(), "symbolic-ref", "HEAD"))
			assert.Empty(t, h.git(c.Dir(), "status", "--porcelain"))
			assert.Equal(t, tip, h.git(c.Dir(), "rev-parse", "origin/main"))
			assert.Empty(t, h.tip("refs/heads/"+fresh), "the server has no such branch yet")
			local, err := c.Tip(ctx)
			require.NoError(t, err)
			assert.Equal(t, tip, local)

			write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			made, ok, err := c.Commit(ctx, "change")
			require.NoError(t, err)
			require.True(t, ok)
			relation, err := c.Relation(ctx, tip, made)
			require.NoError(t, err)
			assert.EqualValues(t, "ahead", relation)
			theirs := h.commit("main", "theirs", map[string]string{"b.txt": "b\n"})
			tips, err := c.FetchOrigin(ctx, "main")
			require.NoError(t, err)
			require.Equal(t, theirs, tips["main"])
			merged, err := c.MergeOrigin(ctx, theirs, "Merge main")
			require.NoError(t, err)
			require.NoError(t, c.Publish(ctx, git.Publish{Branch: fresh, SHA: merged}))
			assert.Equal(t, merged, h.tip("refs/heads/"+fresh))
			require.NoError(t, c.Reset(ctx, tip))
			assert.NoFileExists(t, filepath.Join(c.Dir(), "b.txt"))
		})
	}
}

func TestBeginMovesAnOlderBranchAndCleansUp(t *testing.T) {
	h := newHub(t)
	h.commit(fresh, "an earlier attempt", map[string]string{"old.txt": "old\n"})
	dir := h.workspace(fresh)
	h.git(h.dev, "push", "-q", "origin", ":"+fresh)
	tip := h.commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
	h.commit("other", "elsewhere", nil)
	write(t, dir, map[string]string{"untracked.txt": "x\n", "build.log": "kept\n", "README.md": "changed\n"})
	write(t, dir, map[string]string{".git/index.lock": "left by somebody who was killed"})
	c := h.open(dir)
	sha, err := c.Begin(ctx, fresh, "main")
	require.NoError(t, err)
	assert.Equal(t, dir, c.Dir())
	assert.Equal(t, tip, sha)
	assert.Equal(t, tip, h.git(dir, "rev-parse", "refs/heads/"+fresh))
	for _, gone := range []string{"old.txt", "untracked.txt"} {
		assert.NoFileExists(t, filepath.Join(dir, gone))
	}
	assert.Equal(t, "widgets\n", read(t, dir, "README.md"))
	assert.Equal(t, "kept\n", read(t, dir, "build.log"))
	_, err = h.try(dir, "rev-parse", "--verify", "-q", "refs/remotes/origin/"+fresh)
	assert.Error(t, err, "origin/%s would name what the server does not have", fresh)

	h.git(dir, "update-index", "--assume-unchanged", "a.txt")
	write(t, dir, map[string]string{"a.txt": "hidden\n"})
	require.NoError(t, c.Restore(ctx, "main", "other", h.tip("main")))
	tip = h.commit("main", "later", nil)
	_, err = c.Begin(ctx, "mergexo/issue-6", "main")
	require.NoError(t, err, "a further one on the same checkout")
	assert.Equal(t, []string{tip}, c.Tips(), "and nothing of the one before")
	assert.Equal(t, "one\n", read(t, dir, "a.txt"))
}

func TestBeginNamesTheBaseThatIsMissing(t *testing.T) {
	h := newHub(t)
	var none *git.ErrNoRef
	_, err := h.open(h.workspace("main")).Begin(ctx, fresh, "develop")
	require.ErrorAs(t, err, &none)
	assert.Equal(t, "refs/heads/develop", none.Ref)

	require.NoError(t, os.RemoveAll(h.bare))
	h.git(h.dev, "init", "-q", "--bare", "--initial-branch=main", h.bare)
	empty := filepath.Join(t.TempDir(), "empty")
	h.git(t.TempDir(), "init", "-q", "--initial-branch=main", empty)
	h.git(empty, "remote", "add", "origin", h.url)
	for _, workspace := range []string{empty, ""} {
		c := h.open(workspace)
		_, err = c.Begin(ctx, fresh, "main")
		require.ErrorAs(t, err, &none, "an empty repository")
		assert.Equal(t, "refs/heads/main", none.Ref)
		assert.Equal(t, 1, c.NetworkCalls())
	}
	for _, pair := range [][2]string{{"main", "main"}, {"", "main"}, {fresh, ""}, {"a..b", "main"}, {"a:b", "main"}} {
		_, err = h.open("").Begin(ctx, pair[0], pair[1])
		assert.ErrorContains(t, err, "not two branches")
	}
}

func TestBeginGivesADamagedWorkspaceUp(t *testing.T) {
	h := newHub(t)
	dir := h.workspace("main")
	tip := h.commit("main", "meanwhile", map[string]string{"a.txt": "one\n"})
	c := h.open(dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git", "objects")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "objects"), nil, 0o644))
	sha, err := c.Begin(ctx, fresh, "main")
	require.NoError(t, err)
	assert.Equal(t, tip, sha)
	assert.NotEqual(t, dir, c.Dir())
}
