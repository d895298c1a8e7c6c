package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// assertReset asks git itself whether the checkout is at sha and clean.
func assertReset(t *testing.T, h *hub, c *git.Checkout, branch, sha string) {
	t.Helper()
	assert.Equal(t, "refs/heads/"+branch, h.git(c.Dir(), "symbolic-ref", "HEAD"))
	assert.Equal(t, sha, h.git(c.Dir(), "rev-parse", "HEAD"))
	assert.Empty(t, h.git(c.Dir(), "status", "--porcelain"))
	assert.NotContains(t, h.git(c.Dir(), "status"), "in progress")
	dirty, err := c.Dirty(ctx)
	require.NoError(t, err)
	assert.False(t, dirty)
	_, made, err := c.Commit(ctx, "what is left")
	require.NoError(t, err)
	assert.False(t, made, "nothing that was left is committed")
}

func TestResetLeavesOnlyWhatIsCommitted(t *testing.T) {
	h, c, start, sha := turn(t)
	calls, dir := c.NetworkCalls(), c.Dir()
	elsewhere := t.TempDir()
	for name, mess := range map[string]func(*testing.T){
		"nothing": func(t *testing.T) {},
		"tracked files": func(t *testing.T) {
			write(t, dir, map[string]string{"a.txt": "three\n", "README.md": ""})
			require.NoError(t, os.Chmod(filepath.Join(dir, ".gitignore"), 0o755))
		},
		"untracked files": func(t *testing.T) {
			write(t, dir, map[string]string{"new/deep/x": "x", "staged.txt": "x", "core": "dumped"})
			h.agent(c, "add", "staged.txt")
			h.agent(c, "init", "-q", "nested")
		},
		"an untracked .gitignore": func(t *testing.T) {
			write(t, dir, map[string]string{"cache/.gitignore": "*.tmp\ndeep/\n", "cache/x.tmp": "x", "cache/deep/.gitignore": "*.o\n", "cache/deep/y.o": "y"})
		},
		"a changed .gitignore":    func(t *testing.T) { write(t, dir, map[string]string{".gitignore": "*\n", "hidden.txt": "x"}) },
		"exclude of the checkout": func(t *testing.T) { write(t, dir, map[string]string{".git/info/exclude": "*\n", "hidden.txt": "x"}) },
		"bits in the index": func(t *testing.T) {
			h.agent(c, "update-index", "--assume-unchanged", "a.txt")
			h.agent(c, "update-index", "--skip-worktree", "README.md")
			write(t, dir, map[string]string{"a.txt": "ten\n", "README.md": "WIDGETS\n"})
		},
		"an index that is none": func(t *testing.T) {
			write(t, dir, map[string]string{".git/index": "nonsense", "a.txt": "ten\n", ".git/index.lock": "x"})
		},
		"no index": func(t *testing.T) { require.NoError(t, os.Remove(filepath.Join(dir, ".git", "index"))) },
		"a link in the place of a file": func(t *testing.T) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "a.txt"), filepath.Join(dir, "a.txt")))
		},
		"a directory in the place of a file": func(t *testing.T) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			write(t, dir, map[string]string{"a.txt/inside": "x"})
		},
		"another branch": func(t *testing.T) { h.agent(c, "checkout", "-q", "-f", "-b", "other", start) },
		"detached":       func(t *testing.T) { h.agent(c, "checkout", "-q", "-f", "--detach", start) },
		"unborn":         func(t *testing.T) { h.agent(c, "checkout", "-q", "--orphan", "unborn") },
		"branch deleted": func(t *testing.T) {
			h.agent(c, "checkout", "-q", "--detach")
			h.agent(c, "branch", "-q", "-D", "agent/x")
		},
		"branch elsewhere": func(t *testing.T) { h.agent(c, "reset", "-q", "--hard", start) },
		"branch is a name": func(t *testing.T) { h.agent(c, "symbolic-ref", "refs/heads/agent/x", "refs/heads/other") },
		"merge":            func(t *testing.T) { conflict(t, h, c, start, "merge") },
		"rebase":           func(t *testing.T) { conflict(t, h, c, start, "rebase") },
		"cherry-pick":      func(t *testing.T) { conflict(t, h, c, start, "cherry-pick") },
		"more commits": func(t *testing.T) {
			write(t, dir, map[string]string{"forced.log": "x"})
			h.agent(c, "add", "-f", "forced.log")
			h.agent(c, "commit", "-q", "-m", "of a test")
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir, map[string]string{"build.log": "kept\n"})
			mess(t)
			require.NoError(t, c.Reset(ctx, sha))
			assert.Equal(t, "two\n", read(t, dir, "a.txt"))
			assert.Equal(t, "widgets\n", read(t, dir, "README.md"))
			assert.Equal(t, "kept\n", read(t, dir, "build.log"), "ignored files stay")
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, entries, 5, "%v", entries)
			assertReset(t, h, c, "agent/x", sha)
		})
	}
	assert.Equal(t, start, h.git(dir, "rev-parse", "origin/agent/x"), "the server's branch is where it was")
	assert.Equal(t, calls, c.NetworkCalls())
	left, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is written through a link")
}

// conflict leaves the agent in the middle of something.
func conflict(t *testing.T, h *hub, c *git.Checkout, start, command string) {
	t.Helper()
	h.agent(c, "checkout", "-q", "-f", "-B", "clash", start)
	write(t, c.Dir(), map[string]string{"a.txt": "clash " + command + "\n"})
	h.agent(c, "commit", "-q", "-am", "clash")
	h.agent(c, "checkout", "-q", "agent/x")
	out, err := h.with(c.Dir(), c.AgentEnv(), command, "clash")
	require.Error(t, err, out)
	require.Contains(t, h.git(c.Dir(), "status"), "a.txt")
}

func TestResetRewritesOnlyFilesThatDiffer(t *testing.T) {
	_, c, _, sha := turn(t)
	same, err := os.Stat(filepath.Join(c.Dir(), "README.md"))
	require.NoError(t, err)
	require.NoError(t, c.Reset(ctx, sha))
	now, err := os.Stat(filepath.Join(c.Dir(), "README.md"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(same, now), "what was built from it is still up to date")
	assert.Equal(t, same.ModTime(), now.ModTime())
}

func TestResetKeepsASparseCheckoutSparse(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "work", map[string]string{"in/a.txt": "a\n", "out/b.txt": "b\n"})
	dir := h.workspace("agent/x")
	h.git(dir, "sparse-checkout", "set", "in")
	c := h.open(dir)
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	require.NoDirExists(t, filepath.Join(dir, "out"))
	write(t, dir, map[string]string{"in/a.txt": "changed\n", "in/new.txt": "x"})
	require.NoError(t, c.Reset(ctx, head))
	assert.Equal(t, "a\n", read(t, dir, "in/a.txt"))
	assert.NoDirExists(t, filepath.Join(dir, "out"))
	assertReset(t, h, c, "agent/x", head)
}

func TestResetRunsNothingThatTheAgentLeft(t *testing.T) {
	h, c, _, sha := turn(t)
	run, traces := canary(t)
	for _, kv := range [][2]string{
		{"core.fsmonitor", run}, {"core.hooksPath", filepath.Dir(run)}, {"filter.evil.clean", run}, {"filter.evil.smudge", run}, {"filter.evil.required", "true"},
	} {
		h.git(c.Dir(), "config", kv[0], kv[1])
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.Symlink(run, filepath.Join(c.Dir(), ".git", "hooks", hook)))
		require.NoError(t, os.Symlink(run, filepath.Join(filepath.Dir(run), hook)))
	}
	write(t, c.Dir(), map[string]string{".gitattributes": "* filter=evil\n", ".git/info/attributes": "* filter=evil\n", "a.txt": "ten\n"})
	require.NoError(t, c.Reset(ctx, sha))
	_, err := c.Tip(ctx)
	require.NoError(t, err)
	assert.Empty(t, traces())
	assert.Equal(t, "two\n", read(t, c.Dir(), "a.txt"))
}

func TestResetRefusesWhatIsNotHere(t *testing.T) {
	h, c, _, sha := turn(t)
	calls := c.NetworkCalls()
	assert.ErrorContains(t, c.Reset(ctx, "HEAD"), "not a commit id")
	assert.ErrorContains(t, c.Reset(ctx, "00000000000000000000000000000000deadbeef"), "not here")
	assertReset(t, h, c, "agent/x", sha)
	assert.Equal(t, calls, c.NetworkCalls())
	assert.ErrorContains(t, h.open("").Reset(ctx, sha), "no branch was restored")
}

func TestTipIsWhereTheBranchIsWhateverHEADSays(t *testing.T) {
	h, c, start, sha := turn(t)
	tip := func() string {
		t.Helper()
		got, err := c.Tip(ctx)
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, sha, tip())
	h.agent(c, "checkout", "-q", "--detach", start)
	assert.Equal(t, sha, tip(), "commits that a detached HEAD hides")
	h.agent(c, "pack-refs", "--all")
	assert.Equal(t, sha, tip())
	h.agent(c, "branch", "-q", "-f", "agent/x", start)
	assert.Equal(t, start, tip())
	h.agent(c, "branch", "-q", "-D", "agent/x")
	assert.Empty(t, tip())
	require.NoError(t, c.Reset(ctx, sha))
	assert.Equal(t, sha, tip())
	write(t, c.Dir(), map[string]string{".git/refs/heads/agent/x": "00000000000000000000000000000000deadbeef\n"})
	_, err := c.Tip(ctx)
	assert.ErrorContains(t, err, "not here")
	require.NoError(t, os.RemoveAll(filepath.Join(c.Dir(), ".git")))
	_, err = c.Tip(ctx)
	assert.Error(t, err)
	_, err = h.open("").Tip(ctx)
	assert.ErrorContains(t, err, "no branch was restored")
}

func TestRestoreDoesNotBelieveAnAgentsIndex(t *testing.T) {
	h, c, start, _ := turn(t)
	h.agent(c, "reset", "-q", "--hard", start)
	h.agent(c, "update-index", "--skip-worktree", "a.txt")
	write(t, c.Dir(), map[string]string{"a.txt": "hidden\n"})
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	assert.Equal(t, "one\n", read(t, c.Dir(), "a.txt"))
}

func TestResetDoesNotFollowALinkInThePlaceOfADirectory(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "work", map[string]string{"src/a.txt": "a\n", "src/b.txt": "b\n"})
	c := h.open(h.workspace("agent/x"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	outside := t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(c.Dir(), "src"), filepath.Join(outside, "src")))
	write(t, outside, map[string]string{"src/b.txt": "elsewhere\n", "src/c.txt": "c\n"})
	require.NoError(t, os.Symlink(filepath.Join(outside, "src"), filepath.Join(c.Dir(), "src")))
	require.NoError(t, c.Reset(ctx, head))
	info, err := os.Lstat(filepath.Join(c.Dir(), "src"))
	require.NoError(t, err)
	assert.True(t, info.IsDir())
	assert.Equal(t, "b\n", read(t, c.Dir(), "src/b.txt"))
	assert.Equal(t, "elsewhere\n", read(t, outside, "src/b.txt"))
	assert.FileExists(t, filepath.Join(outside, "src/c.txt"))
	assertReset(t, h, c, "agent/x", head)
}
