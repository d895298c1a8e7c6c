package git_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// state is all that an agent can see of a checkout: what git says, every byte of the git directory but the objects, and
// every file of the working tree with its time.
func state(t *testing.T, h *hub, c *git.Checkout) map[string]string {
	t.Helper()
	seen := files(t, c)
	said, err := h.try(c.Dir(), "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "include.path=/dev/null", "status", "--porcelain=v2", "--branch", "--untracked-files=all")
	seen["status"] = fmt.Sprint(said, err)
	require.NoError(t, filepath.WalkDir(c.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := e.Info()
		seen["/"+path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		return err
	}))
	return seen
}

// snap takes a snapshot and sees to it that nothing of the checkout has changed.
func snap(t *testing.T, h *hub, c *git.Checkout, before string) string {
	t.Helper()
	was := state(t, h, c)
	sha, err := c.Snapshot(ctx, before, "Snapshot")
	require.NoError(t, err)
	assert.Equal(t, was, state(t, h, c), "the agent sees nothing of it")
	return sha
}

// listing is what a commit holds: paths and contents.
func listing(h *hub, c *git.Checkout, sha string) map[string]string {
	h.t.Helper()
	seen := map[string]string{}
	for _, name := range strings.Split(h.git(c.Dir(), "ls-tree", "-r", "--name-only", sha), "\n") {
		seen[name] = h.git(c.Dir(), "show", sha+":"+name)
	}
	return seen
}

func parents(h *hub, c *git.Checkout, sha string) string {
	h.t.Helper()
	return h.git(c.Dir(), "log", "-1", "--format=%P", sha)
}

func begun(t *testing.T, more ...string) (h *hub, c *git.Checkout, start string) {
	h = newHub(t)
	h.grow("main", 60)
	start = h.commit("main", "files", map[string]string{"a.txt": "one\n", "b.txt": "b\n", "sub/c.txt": "c\n"})
	c = h.open(h.workspace("main", more...))
	_, err := c.Begin(ctx, fresh, "main")
	require.NoError(t, err)
	return h, c, start
}

func TestASnapshotHasWhatIsInTheTree(t *testing.T) {
	for name, more := range map[string][]string{"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"}} {
		t.Run(name, func(t *testing.T) {
			h, c, start := begun(t, more...)
			calls := c.NetworkCalls()
			assert.Empty(t, snap(t, h, c, ""), "nothing has been done yet")
			write(t, c.Dir(), map[string]string{"build.log": "ignored\n"})
			assert.Empty(t, snap(t, h, c, ""))

			write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "new/d.txt": "d\n", "staged.txt": "s\n", "forced.log": "f\n"})
			h.agent(c, "add", "-f", "staged.txt", "forced.log")
			one := snap(t, h, c, "")
			want := map[string]string{"README.md": "widgets", ".gitignore": "*.log", "sub/c.txt": "c", "a.txt": "two", "new/d.txt": "d", "staged.txt": "s", "forced.log": "f"}
			assert.Equal(t, want, listing(h, c, one))
			assert.Equal(t, start, parents(h, c, one))
			assert.Equal(t, "Snapshot", h.git(c.Dir(), "log", "-1", "--format=%B", one))
			assert.Equal(t, one, snap(t, h, c, one), "nothing is new")

			write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
			two := snap(t, h, c, one)
			assert.Equal(t, start+" "+one, parents(h, c, two))
			assert.Equal(t, "three", listing(h, c, two)["a.txt"])

			h.agent(c, "commit", "-q", "-a", "-m", "agent's")
			head := h.agent(c, "rev-parse", "HEAD")
			three := snap(t, h, c, two)
			assert.Equal(t, head+" "+two, parents(h, c, three), "HEAD moved, though the files did not")
			assert.Equal(t, three, snap(t, h, c, three))
			assert.Equal(t, calls, c.NetworkCalls())

			for i, p := range []git.Publish{{SHA: one}, {Start: one, SHA: two}, {Start: two, SHA: three}} {
				p.Branch = "mergexo/checkpoint/5/x"
				require.NoError(t, c.Publish(ctx, p), "%d", i)
			}
			assert.Equal(t, three, h.tip("refs/heads/mergexo/checkpoint/5/x"))
			h.git(h.bare, "fsck", "--full")
		})
	}
}

func TestASnapshotOfAHeadThatIsNoneStandsOnTheStart(t *testing.T) {
	for name, leave := range map[string]func(h *hub, c *git.Checkout, start string){
		"unborn": func(h *hub, c *git.Checkout, _ string) { h.agent(c, "checkout", "-q", "--orphan", "none") },
		"no ref": func(h *hub, c *git.Checkout, _ string) {
			write(h.t, c.Dir(), map[string]string{".git/HEAD": "ref: ../x\n"})
		},
		"a loop": func(h *hub, c *git.Checkout, _ string) { h.agent(c, "symbolic-ref", "refs/heads/"+fresh, "HEAD") },
		"nothing here": func(h *hub, c *git.Checkout, _ string) {
			write(h.t, c.Dir(), map[string]string{".git/HEAD": strings.Repeat("ab", 20) + "\n"})
		},
		"before it": func(h *hub, c *git.Checkout, start string) { h.agent(c, "reset", "-q", "--soft", start+"~3") },
		"another root": func(h *hub, c *git.Checkout, _ string) {
			h.agent(c, "checkout", "-q", "--orphan", "new")
			h.agent(c, "commit", "-q", "-m", "root")
		},
		"no HEAD at all": func(h *hub, c *git.Checkout, _ string) {
			require.NoError(h.t, os.Remove(filepath.Join(c.Dir(), ".git", "HEAD")))
		},
		"a blob": func(h *hub, c *git.Checkout, start string) {
			write(h.t, c.Dir(), map[string]string{".git/HEAD": h.agent(c, "rev-parse", start+":a.txt") + "\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, start := begun(t)
			write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			leave(h, c, start)
			was := files(t, c)
			sha, err := c.Snapshot(ctx, "", "Snapshot")
			require.NoError(t, err)
			assert.Equal(t, was, files(t, c))
			out, err := h.try(h.dev, "--git-dir="+filepath.Join(c.Dir(), ".git"), "cat-file", "-p", sha)
			if err == nil { // a git directory without HEAD is none to git
				assert.Contains(t, out, "parent "+start)
			}
			flat, err := c.Flat(ctx, sha, "Flat")
			require.NoError(t, err)
			changes, err := c.Changes(ctx, start, flat)
			require.NoError(t, err)
			require.Len(t, changes, 1)
			assert.Equal(t, "a.txt", changes[0].Path)
		})
	}
}

func TestHeadIsFoundWhereverTheRefIs(t *testing.T) {
	h, c, _ := begun(t)
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "agent's")
	head := h.agent(c, "rev-parse", "HEAD")
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	assert.Equal(t, head, parents(h, c, snap(t, h, c, "")))
	h.agent(c, "pack-refs", "--all")
	assert.Equal(t, head, parents(h, c, snap(t, h, c, "")), "packed")
	h.agent(c, "checkout", "-q", "--detach")
	assert.Equal(t, head, parents(h, c, snap(t, h, c, "")), "detached")
}

func TestASnapshotInALinkedWorktree(t *testing.T) {
	h := newHub(t)
	main := h.workspace("main")
	linked := filepath.Join(t.TempDir(), "linked")
	h.git(main, "worktree", "add", "-q", "--detach", linked)
	c := h.open(linked)
	start, err := c.Begin(ctx, fresh, "main")
	require.NoError(t, err)
	write(t, linked, map[string]string{"a.txt": "one\n"})
	h.agent(c, "add", "-A")
	h.agent(c, "commit", "-q", "-m", "agent's")
	write(t, linked, map[string]string{"a.txt": "two\n"})
	sha, err := c.Snapshot(ctx, "", "Snapshot")
	require.NoError(t, err)
	assert.Equal(t, h.agent(c, "rev-parse", "HEAD"), parents(h, c, sha))
	assert.NotEqual(t, start, parents(h, c, sha))
	assert.Equal(t, "two", listing(h, c, sha)["a.txt"])
}

func TestASnapshotSeesWhatChangedAsTheIndexWasWritten(t *testing.T) {
	h, c, _ := begun(t)
	file, index := filepath.Join(c.Dir(), "a.txt"), filepath.Join(c.Dir(), ".git", "index")
	// As quick as an agent can be: another text of the same length, at the very moment of the index.
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(file, then, then))
	h.agent(c, "update-index", "--refresh")
	require.NoError(t, os.Chtimes(index, then, then))
	h.agent(c, "config", "core.trustctime", "false")
	require.NoError(t, os.WriteFile(file, []byte("two\n"), 0o644))
	require.NoError(t, os.Chtimes(file, then, then))
	was := read(t, index)
	sha, err := c.Snapshot(ctx, "", "Snapshot")
	require.NoError(t, err)
	require.NotEmpty(t, sha)
	assert.Equal(t, "two", listing(h, c, sha)["a.txt"])
	assert.Equal(t, was, read(t, index))
}

func TestASnapshotInTheMiddleOfAMerge(t *testing.T) {
	h, c, start := begun(t)
	theirs := h.commit("main", "theirs", map[string]string{"a.txt": "theirs\n"})
	write(t, c.Dir(), map[string]string{"a.txt": "ours\n"})
	ours, _, err := c.Commit(ctx, "ours")
	require.NoError(t, err)
	_, err = c.FetchOrigin(ctx, "main")
	require.NoError(t, err)
	var conflict *git.ErrConflict
	_, err = c.MergeOrigin(ctx, theirs, "Merge main")
	require.ErrorAs(t, err, &conflict)
	_, err = h.with(c.Dir(), c.AgentEnv(), "reset", "-q", "--hard", ours)
	require.NoError(t, err)
	_, err = h.with(c.Dir(), c.AgentEnv(), "merge", "origin/main")
	require.Error(t, err)
	sha := snap(t, h, c, "")
	assert.Contains(t, listing(h, c, sha)["a.txt"], "<<<<<<<")
	assert.Equal(t, ours, parents(h, c, sha))
	assert.NotEqual(t, start, ours)
}

func TestASnapshotOfAnIndexThatIsNone(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, h *hub, c *git.Checkout){
		"absent": func(t *testing.T, _ *hub, c *git.Checkout) {
			require.NoError(t, os.Remove(filepath.Join(c.Dir(), ".git", "index")))
		},
		"garbage": func(t *testing.T, _ *hub, c *git.Checkout) {
			write(t, c.Dir(), map[string]string{".git/index": "garbage"})
		},
		"split": func(_ *testing.T, h *hub, c *git.Checkout) { h.agent(c, "update-index", "--split-index") },
		"objects that are nowhere": func(_ *testing.T, h *hub, c *git.Checkout) {
			h.agent(c, "update-index", "--add", "--cacheinfo", "100644,"+strings.Repeat("ab", 20)+",gone.txt")
			h.agent(c, "update-index", "--skip-worktree", "gone.txt")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, start := begun(t)
			spoil(t, h, c)
			write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "new.txt": "new\n"})
			sha := snap(t, h, c, "")
			assert.Equal(t, start, parents(h, c, sha))
			assert.Equal(t, map[string]string{"README.md": "widgets", ".gitignore": "*.log", "sub/c.txt": "c", "a.txt": "two", "new.txt": "new"}, listing(h, c, sha))
		})
	}
}

func TestASnapshotLeavesOutWhatCannotBeRead(t *testing.T) {
	h, c, _ := begun(t)
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	h.git(c.Dir(), "init", "-q", "nested") // a repository without a commit
	require.NoError(t, syscall.Mkfifo(filepath.Join(c.Dir(), "pipe"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(c.Dir(), "b.txt")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(c.Dir(), "b.txt"), 0o600))
	sha, err := c.Snapshot(ctx, "", "Snapshot")
	require.NoError(t, err)
	got := listing(h, c, sha)
	assert.Equal(t, "two", got["a.txt"])
	assert.NotContains(t, got, "pipe")
	assert.NotContains(t, got, "nested")
}

func TestASnapshotWhileFilesComeAndGo(t *testing.T) {
	h, c, _ := begun(t)
	write(t, c.Dir(), map[string]string{"steady.txt": "here\n"})
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		<-done
	})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			file := filepath.Join(c.Dir(), fmt.Sprintf("flicker-%d", i%50))
			_ = os.WriteFile(file, []byte(strings.Repeat("x", i%100_000)), 0o644)
			_ = os.Remove(filepath.Join(c.Dir(), fmt.Sprintf("flicker-%d", (i+25)%50)))
		}
	}()
	before := ""
	for range 5 {
		sha, err := c.Snapshot(ctx, before, "Snapshot")
		require.NoError(t, err)
		before = sha
	}
	assert.Equal(t, "here", listing(h, c, before)["steady.txt"])
	h.git(c.Dir(), "fsck", "--full", before)
}

func TestFlatLeavesTheSnapshotsOut(t *testing.T) {
	h, c, start := begun(t)
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	one := snap(t, h, c, "")
	write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
	two := snap(t, h, c, one)
	flat, err := c.Flat(ctx, two, "All of it\n\nwith a body\n")
	require.NoError(t, err)
	assert.Equal(t, start, parents(h, c, flat))
	assert.Equal(t, listing(h, c, two), listing(h, c, flat))
	assert.Equal(t, "All of it\n\nwith a body", h.git(c.Dir(), "log", "-1", "--format=%B", flat))

	h.agent(c, "commit", "-q", "-a", "-m", "agent's")
	three := snap(t, h, c, two)
	flat, err = c.Flat(ctx, three, "nothing more")
	require.NoError(t, err)
	assert.Equal(t, h.agent(c, "rev-parse", "HEAD"), flat)

	for _, bad := range []string{"", "HEAD", strings.Repeat("ab", 20), h.git(c.Dir(), "rev-parse", start+"^{tree}")} {
		_, err = c.Flat(ctx, bad, "x")
		assert.Error(t, err, bad)
		if bad != "" {
			_, err = c.Snapshot(ctx, bad, "x")
			assert.Error(t, err, bad)
		}
	}
	_, err = c.Snapshot(ctx, "", " \n")
	assert.ErrorContains(t, err, "a message")
	_, err = h.open("").Snapshot(ctx, "", "x")
	assert.ErrorContains(t, err, "no branch was restored")
}

func TestASnapshotTakesOneThingForAnother(t *testing.T) {
	h, c, start := begun(t)
	dir := c.Dir()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "sub")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "sub")), "a link for a directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "b.txt")))
	write(t, dir, map[string]string{"b.txt/inside": "i\n", "odd \"name\"\n\x01.txt": "odd\n", "-rf": "x\n", ":(top)y": "y\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o755))
	h.git(dir, "init", "-q", "nested")
	h.git(filepath.Join(dir, "nested"), "commit", "-q", "--allow-empty", "-m", "its own")
	sha := snap(t, h, c, "")
	changes, err := c.Changes(ctx, start, sha)
	require.NoError(t, err)
	got := map[string]string{}
	for _, change := range changes {
		got[change.Path] = change.Status + " " + change.NewMode
	}
	assert.Equal(t, map[string]string{
		"sub": "A 120000", "sub/c.txt": "D 000000", "b.txt": "D 000000", "b.txt/inside": "A 100644", "a.txt": "M 100755",
		"odd \"name\"\n\x01.txt": "A 100644", "-rf": "A 100644", ":(top)y": "A 100644",
	}, got)
}

func TestASnapshotKeepsWhatASparseCheckoutLeavesOut(t *testing.T) {
	h := newHub(t)
	h.commit("main", "files", map[string]string{"in/a.txt": "a\n", "out/b.txt": "b\n"})
	dir := h.workspace("main")
	h.git(dir, "sparse-checkout", "set", "in")
	c := h.open(dir)
	start, err := c.Begin(ctx, fresh, "main")
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "out", "b.txt"))
	assert.Empty(t, snap(t, h, c, ""))
	write(t, dir, map[string]string{"in/a.txt": "two\n"})
	for _, index := range []string{"its own", "none"} {
		if index == "none" {
			require.NoError(t, os.Remove(filepath.Join(dir, ".git", "index")))
		}
		sha, err := c.Snapshot(ctx, "", "Snapshot")
		require.NoError(t, err)
		changes, err := c.Changes(ctx, start, sha)
		require.NoError(t, err)
		require.Len(t, changes, 1, index)
		assert.Equal(t, "in/a.txt", changes[0].Path)
	}
}
