package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

func TestRestoreUsesTheWorkspaceWithOneNetworkCall(t *testing.T) {
	must.Each(t, map[string][]string{"full": nil, "depth 1": {"--depth=1"}}, func(t *testing.T, more []string) {
		h := gittest.NewHub(t)
		head := h.Commit("agent/small/7-x", "work", map[string]string{"a.txt": "one\n"})
		base := h.Commit("main", "meanwhile", map[string]string{"b.txt": "b\n"})
		dir := h.Workspace("main", more...)
		c := h.Restored("agent/small/7-x", "main", head, dir)
		assert.Equal(t, dir, c.Dir())
		assert.Equal(t, 1, c.NetworkCalls())
		assert.Equal(t, "one\n", gittest.Read(t, dir, "a.txt"))
		assert.NoFileExists(t, filepath.Join(dir, "b.txt"))
		assert.Equal(t, "refs/heads/agent/small/7-x", h.Git(dir, "symbolic-ref", "HEAD"))
		assert.Empty(t, h.Git(dir, "status", "--porcelain"))
		assert.Equal(t, base, h.Git(dir, "rev-parse", "origin/main"))
		assert.Equal(t, head, h.Git(dir, "rev-parse", "origin/agent/small/7-x"))
		assert.False(t, gittest.Must(gittest.Dirty(c))(t))
	})
}

func TestRestoreMakesAnOwnCloneWhenTheWorkspaceIsNoneOfThisRepository(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	head := h.Grow("agent/x", 60)
	other := h.Workspace("main")
	h.Git(other, "remote", "set-url", "origin", "https://github.com/octo/gadgets")
	inner := filepath.Join(h.Workspace("main"), "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	must.Each(t, map[string]string{
		"none": "", "another repository": other, "no checkout": t.TempDir(), "below a checkout": inner, "missing": filepath.Join(t.TempDir(), "gone"),
	}, func(t *testing.T, workspace string) {
		c := h.Restored("agent/x", "main", head, workspace)
		assert.NotEqual(t, workspace, c.Dir())
		assert.Equal(t, 1, c.NetworkCalls())
		assert.Equal(t, "one\n", gittest.Read(t, c.Dir(), "a.txt"))
		assert.Equal(t, "50", h.Git(c.Dir(), "rev-list", "--count", "HEAD"), "the clone is bounded")
		require.NoError(t, c.Close())
		assert.NoDirExists(t, c.Dir())
	})
}

func TestRestoreFromAPartialCloneLeavesNothingToFetchLater(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("main", "first", map[string]string{"c.txt": "first\n"})
	head := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	h.Commit("main", "second", map[string]string{"c.txt": "second\n"})
	dir := h.Workspace("main", "--filter=blob:none") // which has c.txt's second text only
	c := h.Open(dir)
	gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x"))(t, "before the first restore, as when a stage is taken up")
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", head))
	assert.Equal(t, dir, c.Dir())
	assert.Equal(t, "first\n", gittest.Read(t, dir, "c.txt"))
	assert.Equal(t, 3, c.NetworkCalls(), "once more for the head, and the files that the clone left out")
	gittest.Write(t, dir, map[string]string{"a.txt": "three\n"})
	sha := gittest.Committed(t, c, "change")
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: head, SHA: sha}))
}

func TestRestoreCleansUpWhatWasGoingOn(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("main", "base", map[string]string{"a.txt": "base\n"})
	head := h.Commit("agent/x", "ours", map[string]string{"a.txt": "ours\n"})
	theirs := h.Commit("main", "theirs", map[string]string{"a.txt": "theirs\n"})
	must.Each(t, map[string][]string{
		"merge": {"merge", "origin/main"}, "rebase": {"rebase", "origin/main"}, "cherry-pick": {"cherry-pick", theirs}, "detached": {"checkout", "-q", "--detach", "origin/main"},
	}, func(t *testing.T, begin []string) {
		dir := h.Workspace("agent/x")
		_, _ = h.Try(dir, begin...)
		gittest.Write(t, dir, map[string]string{"untracked.txt": "x", "nested/dir/new": "x", "README.md": "changed\n", "build.log": "kept\n"})
		h.Git(dir, "init", "-q", "other-repository")
		h.Git(dir, "add", "nested")
		gittest.Write(t, dir, map[string]string{".git/index.lock": "left by somebody who was killed"})
		h.Restored("agent/x", "main", head, dir)
		assert.Equal(t, "ours\n", gittest.Read(t, dir, "a.txt"))
		assert.Equal(t, "widgets\n", gittest.Read(t, dir, "README.md"))
		for _, gone := range []string{"untracked.txt", "nested", "other-repository"} {
			assert.ErrorIs(t, gittest.Err(os.Lstat(filepath.Join(dir, gone))), os.ErrNotExist, gone)
		}
		assert.Equal(t, "kept\n", gittest.Read(t, dir, "build.log"), "ignored files stay")
		assert.NotContains(t, h.Git(dir, "status"), "in progress")
		assert.Contains(t, h.Git(dir, "status"), "nothing to commit, working tree clean")
		assert.Equal(t, "refs/heads/agent/x", h.Git(dir, "symbolic-ref", "HEAD"))
	})
}

func TestRestoreSaysWhereTheHeadIsWhenItMoved(t *testing.T) {
	h := gittest.NewHub(t)
	old := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	moved := h.Commit("agent/x", "two", map[string]string{"a.txt": "two\n"})
	c := h.Open(h.Workspace("main"))
	err := checkout.Restore(gittest.Ctx, c, "agent/x", "main", old)
	assert.Equal(t, git.ErrHeadMoved{Branch: "agent/x", Want: old, Seen: moved}, *gittest.As[*git.ErrHeadMoved](t, err))
	assert.Equal(t, 2, c.NetworkCalls(), "one look more")
}

func TestRestoreNamesTheBranchThatIsGone(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	h.Git(h.Dev, "push", "-q", "origin", ":agent/x")
	c := h.Open("")
	assert.Equal(t, "refs/heads/agent/x", gittest.As[*git.ErrNoRef](t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", head)).Ref)
}

func TestRestoreDoesWithoutABaseThatIsGone(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	assert.Equal(t, "one\n", gittest.Read(t, h.Restored("agent/x", "release/9", head, "").Dir(), "a.txt"))
}

func TestRestoreWorksInALinkedWorktree(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	main := h.Workspace("main", "--depth=1")
	linked := filepath.Join(t.TempDir(), "linked")
	h.Git(main, "worktree", "add", "-q", "--detach", linked)
	c := h.Restored("agent/x", "main", head, linked)
	assert.Equal(t, linked, c.Dir())
	assert.Equal(t, "one\n", gittest.Read(t, linked, "a.txt"))
	gittest.Write(t, linked, map[string]string{"a.txt": "two\n"})
	assert.Equal(t, gittest.Committed(t, c, "second"), h.Git(linked, "rev-parse", "HEAD"))
	assert.Equal(t, "main", h.Git(main, "branch", "--show-current"), "the other worktree is not touched")
}

func TestRestoreTakesCredentialsOut(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	temp := t.TempDir()
	dir := h.Workspace("main")
	include, key := filepath.Join(temp, "git-credentials-1234.config"), filepath.Join(temp, "1234")
	gittest.Write(t, temp, map[string]string{"git-credentials-1234.config": "[http]\n\textraheader = " + gittest.Header + "\n", "1234": "private key"})
	outside := filepath.Join(t.TempDir(), "git-credentials-9.config")
	require.NoError(t, os.WriteFile(outside, []byte("[http]\n"), 0o644))
	h.Git(dir, "config", "includeIf.gitdir:"+dir+"/.git.path", include)
	h.Git(dir, "config", "--add", "includeIf.gitdir:/github/workspace/.git.path", "/github/runner_temp/git-credentials-1234.config")
	h.Git(dir, "config", "--add", "include.path", outside)
	h.Git(dir, "config", "--add", "include.path", "../shared.config")
	h.Git(dir, "config", "core.sshCommand", `ssh -i "`+key+`" -o StrictHostKeyChecking=yes`)
	h.Git(dir, "config", "credential.helper", "store")
	h.Git(dir, "config", "url.https://x-access-token:"+gittest.Token+"@github.com/.insteadOf", "git@github.com:")
	h.Git(dir, "config", "remote.origin.url", strings.Replace(h.Url, "://", "://x-access-token:"+gittest.Token+"@", 1))
	gittest.Write(t, dir, map[string]string{".git/modules/deep/sub/config": "[http \"https://github.com/\"]\n\textraheader = " + gittest.Header + "\n"})

	assert.Equal(t, dir, h.Restored("agent/x", "main", head, dir, func(o *git.Options) { o.Temp = temp }).Dir())
	kept := gittest.Read(t, dir, ".git/config") + gittest.Read(t, dir, ".git/modules/deep/sub/config")
	for _, secret := range []string{gittest.Token, "basic", "extraheader", "git-credentials", "sshCommand", "store"} {
		assert.NotContains(t, kept, secret)
	}
	assert.Contains(t, kept, "../shared.config", "other includes stay")
	assert.Contains(t, kept, "url = "+h.Url)
	assert.NoFileExists(t, include)
	assert.NoFileExists(t, key)
	assert.FileExists(t, outside, "only the runner's temporary directory is ours to clean")
}

// A workflow may put its checkout into a directory of the workspace, or have several: the agent can read all of them.
func TestRestoreTakesCredentialsOutOfOtherCheckouts(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	temp, top, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	withHeader := "[http \"https://github.com/\"]\n\textraheader = " + gittest.Header + "\n"
	gittest.Write(t, elsewhere, map[string]string{".git/config": withHeader})
	gittest.Write(t, temp, map[string]string{"git-credentials-77.config": withHeader, "kept.bundle": "work"})
	gittest.Write(t, top, map[string]string{
		"src/.git/config": withHeader + "[core]\n\tbare = false\n", "src/.git/modules/sub/config": withHeader, "octo/client/.git/config": withHeader,
		"src/example.com/octo/deep/.git/config": withHeader + "[core]\n\tsshCommand = ssh -i " + filepath.Join(temp, "kept.bundle") + "\n",
		"broken/.git/config":                    "[", "plain/file": "x",
	})
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(top, "link")))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, ".git"), filepath.Join(top, "plain", ".git")))
	c := h.Restored("agent/x", "main", head, top, func(o *git.Options) { o.Temp = temp })
	assert.NotEqual(t, top, c.Dir(), "it works in its own clone")
	for _, file := range []string{"src/.git/config", "src/.git/modules/sub/config", "octo/client/.git/config", "src/example.com/octo/deep/.git/config"} {
		assert.NotContains(t, gittest.Read(t, top, file), "extraheader", file)
	}
	assert.FileExists(t, filepath.Join(temp, "kept.bundle"), "an agent may have named it")
	assert.Contains(t, gittest.Read(t, top, "src/.git/config"), "bare = false")
	assert.NoFileExists(t, filepath.Join(temp, "git-credentials-77.config"))
	assert.Equal(t, withHeader, gittest.Read(t, elsewhere, ".git/config"), "links lead to what is not ours")

	gittest.Write(t, top, map[string]string{"broken/.git/config": "[\n" + withHeader})
	require.Error(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", head), "a token stays in a file that git cannot change")
}

func TestABranchCanEndWithABlankOfUnicode(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("agent/x", "other", map[string]string{"a.txt": "other\n"})
	head := h.Commit("agent/x\u00a0", "work", map[string]string{"a.txt": "one\n"})
	assert.Equal(t, head, h.Agent(h.Restored("agent/x\u00a0", "main", head, h.Workspace("agent/x")), "rev-parse", "HEAD"))
}

func TestATrackingRefThatCannotBeMovedCostsNothingElse(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	dir := h.Workspace("main")
	h.Git(dir, "update-ref", "-d", "refs/remotes/origin/agent/x")
	h.Git(dir, "update-ref", "refs/remotes/origin/agent", "HEAD")
	c := h.Restored("agent/x", "main", head, dir)
	assert.Equal(t, "refs/heads/agent/x", h.Agent(c, "symbolic-ref", "HEAD"))
	assert.Equal(t, head, h.Agent(c, "rev-parse", "HEAD"))
}
