package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

// begun is gittest.Begun in a quarantine.
func begun(t *testing.T, more ...string) (h *gittest.Hub, c *git.Checkout, start string) {
	t.Helper()
	h, c, start = gittest.Begun(t, more...)
	return h, gittest.Quarantine(t, c), start
}

// ask asks git about what is in the quarantine, too.
func ask(t *testing.T, c *git.Checkout, args ...string) string {
	t.Helper()
	return strings.TrimSpace(string(gittest.Must(c.Ask(gittest.Ctx, args...))(t)))
}

// listing is what a commit holds: paths and contents.
func listing(t *testing.T, c *git.Checkout, sha string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for _, name := range strings.Split(ask(t, c, "ls-tree", "-r", "--name-only", sha), "\n") {
		seen[name] = ask(t, c, "show", sha+":"+name)
	}
	return seen
}

func parents(t *testing.T, c *git.Checkout, sha string) string {
	t.Helper()
	return ask(t, c, "log", "-1", "--format=%P", sha)
}

func TestASnapshotHasWhatIsInTheTree(t *testing.T) {
	must.Each(t, map[string][]string{"shallow": {"--depth=1"}, "partial": {"--filter=blob:none"}}, func(t *testing.T, more []string) {
		h, c, start := begun(t, more...)
		calls := c.NetworkCalls()
		assert.Empty(t, gittest.Snap(t, h, c, ""), "nothing has been done yet")
		gittest.Write(t, c.Dir(), map[string]string{"build.log": "ignored\n"})
		assert.Empty(t, gittest.Snap(t, h, c, ""))

		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "new/d.txt": "d\n", "staged.txt": "s\n", "forced.log": "f\n"})
		h.Agent(c, "add", "-f", "staged.txt", "forced.log")
		one := gittest.Snap(t, h, c, "")
		want := map[string]string{"README.md": "widgets", ".gitignore": "*.log", "sub/c.txt": "c", "a.txt": "two", "new/d.txt": "d", "staged.txt": "s", "forced.log": "f"}
		assert.Equal(t, want, listing(t, c, one))
		assert.Equal(t, start, parents(t, c, one))
		assert.Equal(t, "Snapshot", ask(t, c, "log", "-1", "--format=%B", one))
		assert.Equal(t, one, gittest.Snap(t, h, c, one), "nothing is new")

		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
		two := gittest.Snap(t, h, c, one)
		assert.Equal(t, start+" "+one, parents(t, c, two))
		assert.Equal(t, "three", listing(t, c, two)["a.txt"])

		h.Agent(c, "commit", "-q", "-a", "-m", "agent's")
		head := h.Agent(c, "rev-parse", "HEAD")
		three := gittest.Snap(t, h, c, two)
		assert.Equal(t, head+" "+two, parents(t, c, three), "HEAD moved, though the files did not")
		assert.Equal(t, three, gittest.Snap(t, h, c, three))
		assert.Equal(t, calls, c.NetworkCalls())

		for i, p := range []transport.Update{{SHA: one}, {Start: one, SHA: two}, {Start: two, SHA: three}} {
			p.Branch = "mergexo/checkpoint/5/x"
			require.NoError(t, transport.Publish(gittest.Ctx, c, p), "%d", i)
		}
		assert.Equal(t, three, h.Tip("refs/heads/mergexo/checkpoint/5/x"))
		h.Git(h.Bare, "fsck", "--full")
	})
}

func TestASnapshotOfAHeadThatIsNoneStandsOnTheStart(t *testing.T) {
	must.Each(t, map[string]func(h *gittest.Hub, c *git.Checkout, start string){
		"unborn":    func(h *gittest.Hub, c *git.Checkout, _ string) { h.Agent(c, "checkout", "-q", "--orphan", "none") },
		"before it": func(h *gittest.Hub, c *git.Checkout, start string) { h.Agent(c, "reset", "-q", "--soft", start+"~3") },
		"another root": func(h *gittest.Hub, c *git.Checkout, _ string) {
			h.Agent(c, "checkout", "-q", "--orphan", "new")
			h.Agent(c, "commit", "-q", "-m", "root")
		},
		"no HEAD at all": func(h *gittest.Hub, c *git.Checkout, _ string) {
			require.NoError(h.T, os.Remove(filepath.Join(c.Dir(), ".git", "HEAD")))
		},
		"a blob": func(h *gittest.Hub, c *git.Checkout, start string) {
			gittest.Write(h.T, c.Dir(), map[string]string{".git/HEAD": h.Agent(c, "rev-parse", start+":a.txt") + "\n"})
		},
	}, func(t *testing.T, leave func(h *gittest.Hub, c *git.Checkout, start string)) {
		h, c, start := begun(t)
		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
		leave(h, c, start)
		was := gittest.Files(t, c)
		sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
		assert.Equal(t, was, gittest.Files(t, c))
		out, err := h.Try(h.Dev, "--git-dir="+filepath.Join(c.Dir(), ".git"), "cat-file", "-p", sha)
		if err == nil { // a git directory without HEAD is none to git
			assert.Contains(t, out, "parent "+start)
		}
		flat := gittest.Must(checkout.Flatten(gittest.Ctx, c, sha, "Flat"))(t)
		changes := gittest.Must(history.Changes(gittest.Ctx, c, start, flat))(t)
		require.Len(t, changes, 1)
		assert.Equal(t, "a.txt", changes[0].Path)
	})
}

func TestASnapshotInALinkedWorktree(t *testing.T) {
	h := gittest.NewHub(t)
	main := h.Workspace("main")
	linked := filepath.Join(t.TempDir(), "linked")
	h.Git(main, "worktree", "add", "-q", "--detach", linked)
	c := h.Open(linked)
	start := gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	gittest.Write(t, linked, map[string]string{"a.txt": "one\n"})
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", "agent's")
	gittest.Write(t, linked, map[string]string{"a.txt": "two\n"})
	sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
	assert.Equal(t, h.Agent(c, "rev-parse", "HEAD"), parents(t, c, sha))
	assert.NotEqual(t, start, parents(t, c, sha))
	assert.Equal(t, "two", listing(t, c, sha)["a.txt"])
}

func TestASnapshotSeesWhatChangedAsTheIndexWasWritten(t *testing.T) {
	h, c, _ := begun(t)
	file, index := filepath.Join(c.Dir(), "a.txt"), filepath.Join(c.Dir(), ".git", "index")
	// As quick as an agent can be: another text of the same length, at the very moment of the index.
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(file, then, then))
	h.Agent(c, "update-index", "--refresh")
	require.NoError(t, os.Chtimes(index, then, then))
	h.Agent(c, "config", "core.trustctime", "false")
	require.NoError(t, os.WriteFile(file, []byte("two\n"), 0o644))
	require.NoError(t, os.Chtimes(file, then, then))
	was := gittest.Read(t, index)
	sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
	require.NotEmpty(t, sha)
	assert.Equal(t, "two", listing(t, c, sha)["a.txt"])
	assert.Equal(t, was, gittest.Read(t, index))
}

func TestASnapshotInTheMiddleOfAMerge(t *testing.T) {
	h, c, start := gittest.Begun(t)
	theirs := h.Commit("main", "theirs", map[string]string{"a.txt": "theirs\n"})
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "ours\n"})
	ours, _, err := gittest.Commit(c, "ours")
	require.NoError(t, err)
	gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main"))(t)
	require.ErrorAs(t, gittest.Err(checkout.MergeOrigin(gittest.Ctx, c, theirs, "Merge main")), new(*merging.ErrConflict))
	gittest.Must(h.With(c.Dir(), c.AgentEnv(), "reset", "-q", "--hard", ours))(t)
	require.Error(t, gittest.Err(h.With(c.Dir(), c.AgentEnv(), "merge", "origin/main")))
	c = gittest.Quarantine(t, c)
	sha := gittest.Snap(t, h, c, "")
	assert.Contains(t, listing(t, c, sha)["a.txt"], "<<<<<<<")
	assert.Equal(t, ours, parents(t, c, sha))
	assert.NotEqual(t, start, ours)
}

func TestASnapshotOfAnIndexThatIsNone(t *testing.T) {
	must.Each(t, map[string]func(t *testing.T, h *gittest.Hub, c *git.Checkout){
		"absent": func(t *testing.T, _ *gittest.Hub, c *git.Checkout) {
			require.NoError(t, os.Remove(filepath.Join(c.Dir(), ".git", "index")))
		},
		"garbage": func(t *testing.T, _ *gittest.Hub, c *git.Checkout) {
			gittest.Write(t, c.Dir(), map[string]string{".git/index": "garbage"})
		},
		"split": func(_ *testing.T, h *gittest.Hub, c *git.Checkout) { h.Agent(c, "update-index", "--split-index") },
		"objects that are nowhere": func(_ *testing.T, h *gittest.Hub, c *git.Checkout) {
			h.Agent(c, "update-index", "--add", "--cacheinfo", "100644,"+strings.Repeat("ab", 20)+",gone.txt")
			h.Agent(c, "update-index", "--skip-worktree", "gone.txt")
		},
	}, func(t *testing.T, spoil func(t *testing.T, h *gittest.Hub, c *git.Checkout)) {
		h, c, start := begun(t)
		spoil(t, h, c)
		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "new.txt": "new\n"})
		sha := gittest.Snap(t, h, c, "")
		assert.Equal(t, start, parents(t, c, sha))
		assert.Equal(t, map[string]string{"README.md": "widgets", ".gitignore": "*.log", "sub/c.txt": "c", "a.txt": "two", "new.txt": "new"}, listing(t, c, sha))
	})
}

func TestASnapshotLeavesOutWhatCannotBeRead(t *testing.T) {
	h, c, _ := begun(t)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	h.Git(c.Dir(), "init", "-q", "nested") // a repository without a commit
	require.NoError(t, syscall.Mkfifo(filepath.Join(c.Dir(), "pipe"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(c.Dir(), "b.txt")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(c.Dir(), "b.txt"), 0o600))
	gittest.Write(t, c.Dir(), map[string]string{"new.bin": "x"})
	for _, large := range []string{"sub/c.txt", "new.bin"} { // which GitHub would refuse
		require.NoError(t, os.Truncate(filepath.Join(c.Dir(), large), 100<<20+1)) // a hole, which takes no place
	}
	sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
	// Their sizes: what is in a large file would be a long failure.
	assert.Equal(t, ".gitignore 6\nREADME.md 8\na.txt 4\nb.txt 2\nsub/c.txt 2", ask(t, c, "ls-tree", "-r", "--format=%(path) %(objectsize)", sha))
	assert.Equal(t, "two", ask(t, c, "show", sha+":a.txt"))
	assert.Equal(t, "c", ask(t, c, "show", sha+":sub/c.txt"), "as it was before it grew")
}

func TestASnapshotWhileFilesComeAndGo(t *testing.T) {
	_, c, _ := begun(t)
	gittest.Write(t, c.Dir(), map[string]string{"steady.txt": "here\n"})
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
		sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, before, "Snapshot"))(t)
		before = sha
	}
	assert.Equal(t, "here", listing(t, c, before)["steady.txt"])
	ask(t, c, "fsck", "--full", before)
}

func TestFlatLeavesTheSnapshotsOut(t *testing.T) {
	h, c, start := begun(t)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	one := gittest.Snap(t, h, c, "")
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
	two := gittest.Snap(t, h, c, one)
	flat := gittest.Must(checkout.Flatten(gittest.Ctx, c, two, "All of it\n\nwith a body\n"))(t)
	assert.Equal(t, start, parents(t, c, flat))
	assert.Equal(t, listing(t, c, two), listing(t, c, flat))
	assert.Equal(t, "All of it\n\nwith a body", ask(t, c, "log", "-1", "--format=%B", flat))

	h.Agent(c, "commit", "-q", "-a", "-m", "agent's")
	three := gittest.Snap(t, h, c, two)
	assert.Equal(t, h.Agent(c, "rev-parse", "HEAD"), gittest.Must(checkout.Flatten(gittest.Ctx, c, three, "nothing more"))(t))

	for _, bad := range []string{"", "HEAD", strings.Repeat("ab", 20), h.Git(c.Dir(), "rev-parse", start+"^{tree}")} {
		assert.Error(t, gittest.Err(checkout.Flatten(gittest.Ctx, c, bad, "x")), bad)
		if bad != "" {
			assert.Error(t, gittest.Err(checkout.Snapshot(gittest.Ctx, c, bad, "x")), bad)
		}
	}
	assert.ErrorContains(t, gittest.Err(checkout.Snapshot(gittest.Ctx, c, "", " \n")), "a message")
	assert.ErrorContains(t, gittest.Err(checkout.Snapshot(gittest.Ctx, h.Open(""), "", "x")), "no branch was restored")
}

func TestASnapshotTakesOneThingForAnother(t *testing.T) {
	h, c, start := begun(t)
	dir := c.Dir()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "sub")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "sub")), "a link for a directory")
	require.NoError(t, os.Remove(filepath.Join(dir, "b.txt")))
	gittest.Write(t, dir, map[string]string{"b.txt/inside": "i\n", "odd \"name\"\n\x01.txt": "odd\n", "-rf": "x\n", ":(top)y": "y\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o755))
	h.Git(dir, "init", "-q", "nested")
	h.Git(filepath.Join(dir, "nested"), "commit", "-q", "--allow-empty", "-m", "its own")
	sha := gittest.Snap(t, h, c, "")
	changes := gittest.Must(history.Changes(gittest.Ctx, c, start, sha))(t)
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
	h := gittest.NewHub(t)
	h.Commit("main", "files", map[string]string{"in/a.txt": "a\n", "out/b.txt": "b\n"})
	dir := h.Workspace("main")
	h.Git(dir, "sparse-checkout", "set", "in")
	c := h.Open(dir)
	start := gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	require.NoFileExists(t, filepath.Join(dir, "out", "b.txt"))
	assert.Empty(t, gittest.Snap(t, h, c, ""))
	gittest.Write(t, dir, map[string]string{"in/a.txt": "two\n"})
	for _, index := range []string{"its own", "none"} {
		if index == "none" {
			require.NoError(t, os.Remove(filepath.Join(dir, ".git", "index")))
		}
		sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
		changes := gittest.Must(history.Changes(gittest.Ctx, c, start, sha))(t)
		require.Len(t, changes, 1, index)
		assert.Equal(t, "in/a.txt", changes[0].Path)
	}
}
