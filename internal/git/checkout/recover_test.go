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
)

func TestACheckoutWithoutACommitIsReadAgain(t *testing.T) {
	remove := func(names ...string) func(h *gittest.Hub, c *git.Checkout) {
		return func(h *gittest.Hub, c *git.Checkout) {
			for _, name := range names {
				require.NoError(h.T, os.RemoveAll(filepath.Join(c.Dir(), ".git", name)))
			}
		}
	}
	for name, damage := range map[string]struct {
		do      func(h *gittest.Hub, c *git.Checkout)
		network int
	}{
		"an orphan branch": {func(h *gittest.Hub, c *git.Checkout) { h.Agent(c, "checkout", "-q", "--orphan", "new") }, 0},
		"no HEAD":          {remove("HEAD"), 0},
		"no refs":          {remove("refs", "packed-refs"), 0},
		"no objects":       {remove("objects"), 1},
		"no git directory": {remove(""), 1},
		"an empty git directory": {func(h *gittest.Hub, c *git.Checkout) {
			remove("")(h, c)
			require.NoError(h.T, os.Mkdir(filepath.Join(c.Dir(), ".git"), 0o755))
		}, 1},
		"one with another name": {func(h *gittest.Hub, c *git.Checkout) {
			require.NoError(h.T, os.Rename(filepath.Join(c.Dir(), ".git"), filepath.Join(c.Dir(), ".git.bak")))
		}, 0},
		"one that is made anew": {func(h *gittest.Hub, c *git.Checkout) { remove("")(h, c); h.Git(c.Dir(), "init", "-q") }, 1},
	} {
		for _, workspace := range []bool{true, false} {
			if !workspace && name != "no objects" && name != "no git directory" {
				continue // a clone of our own differs in what it fetches again
			}
			t.Run(name+map[bool]string{true: " in a workspace"}[workspace], func(t *testing.T) {
				t.Parallel()
				h := gittest.NewHub(t)
				start := h.Raw("agent/x", "work", map[string]string{".gitattributes": "*.bat text\n", "old.bat": "x\r\n", "a.txt": "one\n", "b.txt": "b\n"})
				dir := ""
				if workspace {
					dir = h.Workspace("agent/x")
				}
				c := h.Restored("agent/x", "main", start, dir)
				gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "new/d.txt": "d\n"})
				damage.do(h, c)
				require.Error(t, gittest.Err(c.Head(gittest.Ctx)))
				calls := c.NetworkCalls()
				require.NoError(t, checkout.Recover(gittest.Ctx, c))
				assert.Equal(t, damage.network, c.NetworkCalls()-calls)
				assert.Equal(t, start, gittest.Must(c.Head(gittest.Ctx))(t))
				sha := gittest.Committed(t, c, "what is left")
				assert.Equal(t, "M\ta.txt\nD\tb.txt\nA\tnew/d.txt", h.Git(c.Dir(), "diff", "--name-status", start, sha))
				assert.Empty(t, c.LeftOut)
				require.NoError(t, checkout.Reset(gittest.Ctx, c, start))
				assert.Equal(t, "one\n", gittest.Read(t, c.Dir(), "a.txt"))
			})
		}
	}
	assert.ErrorContains(t, checkout.Recover(gittest.Ctx, gittest.NewHub(t).Open("")), "no branch was restored")
}

func TestStashesAreFoundLikeBranches(t *testing.T) {
	h, c, start := gittest.Begun(t)
	stash := func(files map[string]string, more ...string) {
		t.Helper()
		gittest.Write(t, c.Dir(), files)
		h.Agent(c, append([]string{"stash", "push", "-q"}, more...)...)
	}
	stash(map[string]string{"a.txt": "1\n"})
	stash(map[string]string{"a.txt": "2\n", "new/d.txt": "d\n", "build.log": "ignored\n"}, "--include-untracked")
	stash(map[string]string{"only.txt": "new\n"}, "--include-untracked")
	stash(map[string]string{"a.txt": "dropped\n"})
	h.Agent(c, "stash", "drop", "-q")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "mine")
	mine := h.Agent(c, "rev-parse", "HEAD")
	stash(map[string]string{"b.txt": "3\n"})
	got := gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
	var said []string
	for _, ref := range got {
		assert.Equal(t, checkout.Stash, ref.Name)
		said = append(said, parents(t, c, ref.SHA)+" "+strings.ReplaceAll(h.Git(c.Dir(), "diff", "--name-status", ref.SHA+"^", ref.SHA), "\n", " "))
	}
	assert.Equal(t, []string{mine + " M\tb.txt", start + " A\tonly.txt", start + " M\ta.txt A\tnew/d.txt", start + " M\ta.txt"}, said)

	gittest.Must(checkout.Begin(gittest.Ctx, c, "mergexo/issue-6", "main"))(t)
	assert.Empty(t, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t), "they were there before")
	stash(map[string]string{"a.txt": "4\n"})
	got = gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
	require.Len(t, got, 1)
	assert.Equal(t, "4", h.Git(c.Dir(), "show", got[0].SHA+":a.txt"))
}

func TestAnOrphanBranchIsKeptAsChangesToTheStart(t *testing.T) {
	h, c, start := gittest.Begun(t)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	h.Agent(c, "commit", "-q", "-a", "-m", "mine")
	mine := h.Agent(c, "rev-parse", "HEAD")
	assert.Equal(t, mine, gittest.Must(checkout.OnStart(gittest.Ctx, c, mine, "Kept"))(t))
	h.Agent(c, "checkout", "-q", "--orphan", "new")
	h.Agent(c, "commit", "-q", "-m", "a root")
	root := h.Agent(c, "rev-parse", "HEAD")
	kept := gittest.Must(checkout.OnStart(gittest.Ctx, c, root, "Kept"))(t)
	assert.Equal(t, start, parents(t, c, kept))
	assert.Equal(t, "M\ta.txt", h.Git(c.Dir(), "diff", "--name-status", start, kept))
}
