package git_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

var ctx = context.Background()

func TestRestoreUsesTheWorkspaceWithOneNetworkCall(t *testing.T) {
	for name, more := range map[string][]string{"full": nil, "depth 1": {"--depth=1"}} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			head := h.commit("agent/small/7-x", "work", map[string]string{"a.txt": "one\n"})
			base := h.commit("main", "meanwhile", map[string]string{"b.txt": "b\n"})
			dir := h.workspace("main", more...)
			c := h.open(dir)
			require.NoError(t, c.Restore(ctx, "agent/small/7-x", "main", head))
			assert.Equal(t, dir, c.Dir())
			assert.Equal(t, 1, c.NetworkCalls())
			assert.Equal(t, "one\n", read(t, dir, "a.txt"))
			assert.NoFileExists(t, filepath.Join(dir, "b.txt"))
			assert.Equal(t, "refs/heads/agent/small/7-x", h.git(dir, "symbolic-ref", "HEAD"))
			assert.Empty(t, h.git(dir, "status", "--porcelain"))
			assert.Equal(t, base, h.git(dir, "rev-parse", "origin/main"))
			assert.Equal(t, head, h.git(dir, "rev-parse", "origin/agent/small/7-x"))
			dirty, err := c.Dirty(ctx)
			require.NoError(t, err)
			assert.False(t, dirty)
		})
	}
}

func TestRestoreMakesAnOwnCloneWhenTheWorkspaceIsNoneOfThisRepository(t *testing.T) {
	h := newHub(t)
	h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	head := h.grow("agent/x", 60)
	other := h.workspace("main")
	h.git(other, "remote", "set-url", "origin", "https://github.com/octo/gadgets")
	inner := filepath.Join(h.workspace("main"), "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	for name, workspace := range map[string]string{
		"none": "", "another repository": other, "no checkout": t.TempDir(), "below a checkout": inner, "missing": filepath.Join(t.TempDir(), "gone"),
	} {
		t.Run(name, func(t *testing.T) {
			c := h.open(workspace)
			require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
			assert.NotEqual(t, workspace, c.Dir())
			assert.Equal(t, 1, c.NetworkCalls())
			assert.Equal(t, "one\n", read(t, c.Dir(), "a.txt"))
			assert.Equal(t, "50", h.git(c.Dir(), "rev-list", "--count", "HEAD"), "the clone is bounded")
			require.NoError(t, c.Close())
			assert.NoDirExists(t, c.Dir())
		})
	}
}

func TestRestoreFromAPartialCloneLeavesNothingToFetchLater(t *testing.T) {
	h := newHub(t)
	h.commit("main", "first", map[string]string{"c.txt": "first\n"})
	head := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	h.commit("main", "second", map[string]string{"c.txt": "second\n"})
	dir := h.workspace("main", "--filter=blob:none") // which has c.txt's second text only
	c := h.open(dir)
	_, err := c.FetchRef(ctx, "refs/heads/agent/x")
	require.NoError(t, err, "before the first restore, as when a stage is taken up")
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	assert.Equal(t, dir, c.Dir())
	assert.Equal(t, "first\n", read(t, dir, "c.txt"))
	assert.Equal(t, 3, c.NetworkCalls(), "once more for the head, and the files that the clone left out")
	write(t, dir, map[string]string{"a.txt": "three\n"})
	sha, made, err := c.Commit(ctx, "change")
	require.NoError(t, err)
	assert.True(t, made)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: head, SHA: sha}))
}

func TestRestoreCleansUpWhatWasGoingOn(t *testing.T) {
	h := newHub(t)
	h.commit("main", "base", map[string]string{"a.txt": "base\n"})
	head := h.commit("agent/x", "ours", map[string]string{"a.txt": "ours\n"})
	theirs := h.commit("main", "theirs", map[string]string{"a.txt": "theirs\n"})
	for name, begin := range map[string][]string{
		"merge": {"merge", "origin/main"}, "rebase": {"rebase", "origin/main"}, "cherry-pick": {"cherry-pick", theirs}, "detached": {"checkout", "-q", "--detach", "origin/main"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := h.workspace("agent/x")
			_, _ = h.try(dir, begin...)
			write(t, dir, map[string]string{"untracked.txt": "x", "nested/dir/new": "x", "README.md": "changed\n", "build.log": "kept\n"})
			h.git(dir, "init", "-q", "other-repository")
			h.git(dir, "add", "nested")
			write(t, dir, map[string]string{".git/index.lock": "left by somebody who was killed"})
			c := h.open(dir)
			require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
			assert.Equal(t, "ours\n", read(t, dir, "a.txt"))
			assert.Equal(t, "widgets\n", read(t, dir, "README.md"))
			for _, gone := range []string{"untracked.txt", "nested", "other-repository"} {
				_, err := os.Lstat(filepath.Join(dir, gone))
				assert.ErrorIs(t, err, os.ErrNotExist, gone)
			}
			assert.Equal(t, "kept\n", read(t, dir, "build.log"), "ignored files stay")
			assert.NotContains(t, h.git(dir, "status"), "in progress")
			assert.Contains(t, h.git(dir, "status"), "nothing to commit, working tree clean")
			assert.Equal(t, "refs/heads/agent/x", h.git(dir, "symbolic-ref", "HEAD"))
		})
	}
}

func TestRestoreSaysWhereTheHeadIsWhenItMoved(t *testing.T) {
	h := newHub(t)
	old := h.commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	moved := h.commit("agent/x", "two", map[string]string{"a.txt": "two\n"})
	c := h.open(h.workspace("main"))
	err := c.Restore(ctx, "agent/x", "main", old)
	var head *git.ErrHeadMoved
	require.ErrorAs(t, err, &head)
	assert.Equal(t, git.ErrHeadMoved{Branch: "agent/x", Want: old, Seen: moved}, *head)
	assert.Equal(t, 2, c.NetworkCalls(), "one look more")
}

func TestRestoreNamesTheBranchThatIsGone(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	h.git(h.dev, "push", "-q", "origin", ":agent/x")
	c := h.open("")
	var none *git.ErrNoRef
	require.ErrorAs(t, c.Restore(ctx, "agent/x", "main", head), &none)
	assert.Equal(t, "refs/heads/agent/x", none.Ref)
}

func TestRestoreDoesWithoutABaseThatIsGone(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "agent/x", "release/9", head))
	assert.Equal(t, "one\n", read(t, c.Dir(), "a.txt"))
}

func TestRestoreWorksInALinkedWorktree(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	main := h.workspace("main", "--depth=1")
	linked := filepath.Join(t.TempDir(), "linked")
	h.git(main, "worktree", "add", "-q", "--detach", linked)
	c := h.open(linked)
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	assert.Equal(t, linked, c.Dir())
	assert.Equal(t, "one\n", read(t, linked, "a.txt"))
	write(t, linked, map[string]string{"a.txt": "two\n"})
	sha, made, err := c.Commit(ctx, "second")
	require.NoError(t, err)
	assert.True(t, made)
	assert.Equal(t, sha, h.git(linked, "rev-parse", "HEAD"))
	assert.Equal(t, "main", h.git(main, "branch", "--show-current"), "the other worktree is not touched")
}

func TestRestoreTakesCredentialsOut(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "one", map[string]string{"a.txt": "one\n"})
	temp := t.TempDir()
	dir := h.workspace("main")
	include, key := filepath.Join(temp, "git-credentials-1234.config"), filepath.Join(temp, "1234")
	write(t, temp, map[string]string{"git-credentials-1234.config": "[http]\n\textraheader = " + header + "\n", "1234": "private key"})
	outside := filepath.Join(t.TempDir(), "git-credentials-9.config")
	require.NoError(t, os.WriteFile(outside, []byte("[http]\n"), 0o644))
	h.git(dir, "config", "includeIf.gitdir:"+dir+"/.git.path", include)
	h.git(dir, "config", "--add", "includeIf.gitdir:/github/workspace/.git.path", "/github/runner_temp/git-credentials-1234.config")
	h.git(dir, "config", "--add", "include.path", outside)
	h.git(dir, "config", "--add", "include.path", "../shared.config")
	h.git(dir, "config", "core.sshCommand", `ssh -i "`+key+`" -o StrictHostKeyChecking=yes`)
	h.git(dir, "config", "credential.helper", "store")
	h.git(dir, "config", "url.https://x-access-token:"+token+"@github.com/.insteadOf", "git@github.com:")
	h.git(dir, "config", "remote.origin.url", strings.Replace(h.url, "://", "://x-access-token:"+token+"@", 1))
	write(t, dir, map[string]string{".git/modules/deep/sub/config": "[http \"https://github.com/\"]\n\textraheader = " + header + "\n"})

	c := h.open(dir, func(o *git.Options) { o.Temp = temp })
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	assert.Equal(t, dir, c.Dir())
	kept := read(t, dir, ".git/config") + read(t, dir, ".git/modules/deep/sub/config")
	for _, secret := range []string{token, "basic", "extraheader", "git-credentials", "sshCommand", "store"} {
		assert.NotContains(t, kept, secret)
	}
	assert.Contains(t, kept, "../shared.config", "other includes stay")
	assert.Contains(t, kept, "url = "+h.url)
	assert.NoFileExists(t, include)
	assert.NoFileExists(t, key)
	assert.FileExists(t, outside, "only the runner's temporary directory is ours to clean")
}

func TestOpenRefusesAURLThatIsNone(t *testing.T) {
	for _, url := range []string{"", "octo/widgets", "https://x:y@github.com/octo/widgets"} {
		_, err := git.Open(ctx, git.Options{URL: url, Temp: t.TempDir(), Now: time.Now})
		assert.ErrorContains(t, err, "want https://HOST/OWNER/NAME", url)
	}
}

func TestServerThatRefusesIsClassified(t *testing.T) {
	h := newHub(t)
	head := h.tip("main")
	answer := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "no", code)
			return true
		}
	}
	for name, test := range map[string]struct {
		refuse func(http.ResponseWriter, *http.Request) bool
		token  string
		want   git.Failure
	}{
		"no credential":    {nil, "", git.Denied},
		"wrong credential": {nil, "wrong-one", git.Denied},
		"403":              {answer(403), token, git.Denied},
		"404":              {answer(404), token, git.NotFound},
		"502":              {answer(502), token, git.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			h.behave(false, test.refuse)
			c := h.open("", func(o *git.Options) { o.Token = test.token })
			err := c.Restore(ctx, "main", "", head)
			var failed *git.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, test.want, failed.Failure, failed.Stderr)
			assert.Equal(t, 128, failed.Exit)
			assert.NotContains(t, err.Error(), "wrong-one")
		})
	}
	h.behave(true, nil)
	c := h.open("", func(o *git.Options) { o.Token = "" })
	assert.NoError(t, c.Restore(ctx, "main", "", head), "a public repository is read without a credential")
}
