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
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/must"
)

// assertReset asks git itself whether the checkout is at sha and clean.
func assertReset(t *testing.T, h *gittest.Hub, c *git.Checkout, branch, sha string) {
	t.Helper()
	assert.Equal(t, "refs/heads/"+branch, h.Git(c.Dir(), "symbolic-ref", "HEAD"))
	assert.Equal(t, sha, h.Git(c.Dir(), "rev-parse", "HEAD"))
	assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"))
	assert.NotContains(t, h.Git(c.Dir(), "status"), "in progress")
	assert.False(t, gittest.Must(gittest.Dirty(c))(t))
	_, made, err := gittest.Commit(c, "what is left")
	require.NoError(t, err)
	assert.False(t, made, "nothing that was left is committed")
}

func TestResetLeavesOnlyWhatIsCommitted(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	calls, dir := c.NetworkCalls(), c.Dir()
	elsewhere := t.TempDir()
	must.Each(t, map[string]func(*testing.T){
		"nothing": func(t *testing.T) {},
		"tracked files": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{"a.txt": "three\n", "README.md": ""})
			require.NoError(t, os.Chmod(filepath.Join(dir, ".gitignore"), 0o755))
		},
		"untracked files": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{"new/deep/x": "x", "staged.txt": "x", "core": "dumped"})
			h.Agent(c, "add", "staged.txt")
			h.Agent(c, "init", "-q", "nested")
		},
		"an untracked .gitignore": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{"cache/.gitignore": "*.tmp\ndeep/\n", "cache/x.tmp": "x", "cache/deep/.gitignore": "*.o\n", "cache/deep/y.o": "y"})
		},
		"a changed .gitignore": func(t *testing.T) { gittest.Write(t, dir, map[string]string{".gitignore": "*\n", "hidden.txt": "x"}) },
		"exclude of the checkout": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{".git/info/exclude": "*\n", "hidden.txt": "x"})
		},
		"bits in the index": func(t *testing.T) {
			h.Agent(c, "update-index", "--assume-unchanged", "a.txt")
			h.Agent(c, "update-index", "--skip-worktree", "README.md")
			gittest.Write(t, dir, map[string]string{"a.txt": "ten\n", "README.md": "WIDGETS\n"})
		},
		"an index that is none": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{".git/index": "nonsense", "a.txt": "ten\n", ".git/index.lock": "x"})
		},
		"no index": func(t *testing.T) { require.NoError(t, os.Remove(filepath.Join(dir, ".git", "index"))) },
		"a link in the place of a file": func(t *testing.T) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "a.txt"), filepath.Join(dir, "a.txt")))
		},
		"a directory in the place of a file": func(t *testing.T) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
			gittest.Write(t, dir, map[string]string{"a.txt/inside": "x"})
		},
		"another branch": func(t *testing.T) { h.Agent(c, "checkout", "-q", "-f", "-b", "other", start) },
		"detached":       func(t *testing.T) { h.Agent(c, "checkout", "-q", "-f", "--detach", start) },
		"unborn":         func(t *testing.T) { h.Agent(c, "checkout", "-q", "--orphan", "unborn") },
		"branch deleted": func(t *testing.T) {
			h.Agent(c, "checkout", "-q", "--detach")
			h.Agent(c, "branch", "-q", "-D", "agent/x")
		},
		"branch elsewhere": func(t *testing.T) { h.Agent(c, "reset", "-q", "--hard", start) },
		"branch is a name": func(t *testing.T) { h.Agent(c, "symbolic-ref", "refs/heads/agent/x", "refs/heads/other") },
		"merge":            func(t *testing.T) { conflict(t, h, c, start, "merge") },
		"rebase":           func(t *testing.T) { conflict(t, h, c, start, "rebase") },
		"cherry-pick":      func(t *testing.T) { conflict(t, h, c, start, "cherry-pick") },
		"more commits": func(t *testing.T) {
			gittest.Write(t, dir, map[string]string{"forced.log": "x"})
			h.Agent(c, "add", "-f", "forced.log")
			h.Agent(c, "commit", "-q", "-m", "of a test")
		},
	}, func(t *testing.T, mess func(*testing.T)) {
		gittest.Write(t, dir, map[string]string{"build.log": "kept\n"})
		mess(t)
		require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
		assert.Equal(t, "two\n", gittest.Read(t, dir, "a.txt"))
		assert.Equal(t, "widgets\n", gittest.Read(t, dir, "README.md"))
		assert.Equal(t, "kept\n", gittest.Read(t, dir, "build.log"), "ignored files stay")
		entries := gittest.Must(os.ReadDir(dir))(t)
		assert.Len(t, entries, 5, "%v", entries)
		assertReset(t, h, c, "agent/x", sha)
	})
	assert.Equal(t, start, h.Git(dir, "rev-parse", "origin/agent/x"), "the server's branch is where it was")
	assert.Equal(t, calls, c.NetworkCalls())
	assert.Empty(t, gittest.Must(os.ReadDir(elsewhere))(t), "nothing is written through a link")
}

// conflict leaves the agent in the middle of something.
func conflict(t *testing.T, h *gittest.Hub, c *git.Checkout, start, command string) {
	t.Helper()
	h.Agent(c, "checkout", "-q", "-f", "-B", "clash", start)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "clash " + command + "\n"})
	h.Agent(c, "commit", "-q", "-am", "clash")
	h.Agent(c, "checkout", "-q", "agent/x")
	out, err := h.With(c.Dir(), c.AgentEnv(), command, "clash")
	require.Error(t, err, out)
	require.Contains(t, h.Git(c.Dir(), "status"), "a.txt")
}

func TestResetRewritesOnlyFilesThatDiffer(t *testing.T) {
	_, c, _, sha := gittest.Turn(t)
	same := gittest.Must(os.Stat(filepath.Join(c.Dir(), "README.md")))(t)
	require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
	now := gittest.Must(os.Stat(filepath.Join(c.Dir(), "README.md")))(t)
	assert.True(t, os.SameFile(same, now), "what was built from it is still up to date")
	assert.Equal(t, same.ModTime(), now.ModTime())
}

func TestResetKeepsASparseCheckoutSparse(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"in/a.txt": "a\n", "out/b.txt": "b\n"})
	dir := h.Workspace("agent/x")
	h.Git(dir, "sparse-checkout", "set", "in")
	c := h.Restored("agent/x", "main", head, dir)
	require.NoDirExists(t, filepath.Join(dir, "out"))
	gittest.Write(t, dir, map[string]string{"in/a.txt": "changed\n", "in/new.txt": "x"})
	require.NoError(t, checkout.Reset(gittest.Ctx, c, head))
	assert.Equal(t, "a\n", gittest.Read(t, dir, "in/a.txt"))
	assert.NoDirExists(t, filepath.Join(dir, "out"))
	assertReset(t, h, c, "agent/x", head)
}

func TestResetRunsNothingThatTheAgentLeft(t *testing.T) {
	h, c, _, sha := gittest.Turn(t)
	run, traces := gittest.Canary(t)
	for _, kv := range [][2]string{
		{"core.fsmonitor", run}, {"core.hooksPath", filepath.Dir(run)}, {"filter.evil.clean", run}, {"filter.evil.smudge", run}, {"filter.evil.required", "true"},
	} {
		h.Git(c.Dir(), "config", kv[0], kv[1])
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.Symlink(run, filepath.Join(c.Dir(), ".git", "hooks", hook)))
		require.NoError(t, os.Symlink(run, filepath.Join(filepath.Dir(run), hook)))
	}
	gittest.Write(t, c.Dir(), map[string]string{".gitattributes": "* filter=evil\n", ".git/info/attributes": "* filter=evil\n", "a.txt": "ten\n"})
	require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
	gittest.Must(checkout.BranchTip(gittest.Ctx, c, ""))(t)
	assert.Empty(t, traces())
	assert.Equal(t, "two\n", gittest.Read(t, c.Dir(), "a.txt"))
}

func TestResetRefusesWhatCannotBeCheckedOut(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	calls := c.NetworkCalls()
	assert.ErrorContains(t, checkout.Reset(gittest.Ctx, c, "HEAD"), "not a commit id")
	assert.ErrorContains(t, checkout.Reset(gittest.Ctx, c, "00000000000000000000000000000000deadbeef"), "not here")
	assertReset(t, h, c, "agent/x", sha)
	assert.Equal(t, calls, c.NetworkCalls())
	assert.ErrorContains(t, checkout.Reset(gittest.Ctx, h.Open(""), sha), "no branch was restored")

	was := gittest.Read(t, c.Dir(), ".git", "config")
	tree := func(row string) string {
		t.Helper()
		return syntax.Line(gittest.Must(c.Tell(gittest.Ctx, []byte(row), "mktree"))(t))
	}
	inner := tree("100644 blob " + h.Agent(c, "rev-parse", sha+":a.txt") + "\tconfig\n")
	evil := h.Agent(c, "commit-tree", "-m", "evil", "-p", start, tree("040000 tree "+inner+"\t.git\n"))
	require.ErrorContains(t, checkout.Reset(gittest.Ctx, c, evil), "reset checkout to "+evil, "its tree reaches into the git directory")
	assert.Equal(t, was, gittest.Read(t, c.Dir(), ".git", "config"))
	require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
	assertReset(t, h, c, "agent/x", sha)
}

func TestTipIsWhereTheBranchIsWhateverHEADSays(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	tip := func() string {
		t.Helper()
		return gittest.Must(checkout.BranchTip(gittest.Ctx, c, ""))(t)
	}
	assert.Equal(t, sha, tip())
	h.Agent(c, "checkout", "-q", "--detach", start)
	assert.Equal(t, sha, tip(), "commits that a detached HEAD hides")
	h.Agent(c, "pack-refs", "--all")
	assert.Equal(t, sha, tip())
	h.Agent(c, "branch", "-q", "-f", "agent/x", start)
	assert.Equal(t, start, tip())
	for _, head := range []string{start, sha} {
		assert.Equal(t, start, gittest.Must(checkout.BranchTip(gittest.Ctx, c, head))(t), "whether or not HEAD is there")
	}
	h.Agent(c, "branch", "-q", "-D", "agent/x")
	assert.Empty(t, tip())
	require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
	assert.Equal(t, sha, tip())
	gittest.Write(t, c.Dir(), map[string]string{".git/refs/heads/agent/x": "00000000000000000000000000000000deadbeef\n"})
	assert.ErrorContains(t, gittest.Err(checkout.BranchTip(gittest.Ctx, c, "")), "not here")
	require.NoError(t, os.RemoveAll(filepath.Join(c.Dir(), ".git")))
	assert.Error(t, gittest.Err(checkout.BranchTip(gittest.Ctx, c, "")))
	assert.ErrorContains(t, gittest.Err(checkout.BranchTip(gittest.Ctx, h.Open(""), "")), "no branch was restored")
}

func TestRestoreDoesNotBelieveAnAgentsIndex(t *testing.T) {
	h, c, start, _ := gittest.Turn(t)
	h.Agent(c, "reset", "-q", "--hard", start)
	h.Agent(c, "update-index", "--skip-worktree", "a.txt")
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "hidden\n"})
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", start))
	assert.Equal(t, "one\n", gittest.Read(t, c.Dir(), "a.txt"))
}

func TestResetDoesNotFollowALinkInThePlaceOfADirectory(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"src/a.txt": "a\n", "src/b.txt": "b\n"})
	c := h.Restored("agent/x", "main", head, h.Workspace("agent/x"))
	outside := t.TempDir()
	require.NoError(t, os.Rename(filepath.Join(c.Dir(), "src"), filepath.Join(outside, "src")))
	gittest.Write(t, outside, map[string]string{"src/b.txt": "elsewhere\n", "src/c.txt": "c\n"})
	require.NoError(t, os.Symlink(filepath.Join(outside, "src"), filepath.Join(c.Dir(), "src")))
	require.NoError(t, checkout.Reset(gittest.Ctx, c, head))
	assert.True(t, gittest.Must(os.Lstat(filepath.Join(c.Dir(), "src")))(t).IsDir())
	assert.Equal(t, "b\n", gittest.Read(t, c.Dir(), "src/b.txt"))
	assert.Equal(t, "elsewhere\n", gittest.Read(t, outside, "src/b.txt"))
	assert.FileExists(t, filepath.Join(outside, "src/c.txt"))
	assertReset(t, h, c, "agent/x", head)
}
