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
)

// What an agent can do to its index, before or after it changes a.txt: what is in the files counts.
var indexes = map[string]func(h *gittest.Hub, c *git.Checkout){
	"told to skip a file":     func(h *gittest.Hub, c *git.Checkout) { h.Agent(c, "update-index", "--skip-worktree", "a.txt") },
	"told not to look at one": func(h *gittest.Hub, c *git.Checkout) { h.Agent(c, "update-index", "--assume-unchanged", "a.txt") },
	"without an entry":        func(h *gittest.Hub, c *git.Checkout) { h.Agent(c, "read-tree", "--empty") },
	"deleted":                 func(h *gittest.Hub, c *git.Checkout) { _ = os.Remove(filepath.Join(c.Dir(), ".git", "index")) },
	"sparse, by its own wish": func(h *gittest.Hub, c *git.Checkout) { h.Agent(c, "sparse-checkout", "set", "in") },
}

func TestWhatIsInTheFilesIsCommittedWhateverTheIndexSays(t *testing.T) {
	for name, spoil := range indexes {
		for _, sparse := range []bool{false, true} {
			if sparse && name != "told to skip a file" && name != "deleted" { // the others are made from nothing like this one, or take out what is sparse
				continue
			}
			t.Run(map[bool]string{true: "sparse, ", false: ""}[sparse]+name, func(t *testing.T) {
				t.Parallel()
				h := gittest.NewHub(t)
				h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n", "in/b.txt": "b\n", "out/c.txt": "c\n"})
				h.Git(h.Dev, "checkout", "-q", "agent/x")
				gittest.Write(t, h.Dev, map[string]string{"tracked.log": "ignored, and tracked all the same\n"})
				h.Git(h.Dev, "add", "-f", "tracked.log")
				start := h.Raw("agent/x", "more", map[string]string{"d.txt": "d\n"})
				dir := h.Workspace("agent/x")
				if sparse {
					h.Git(dir, "sparse-checkout", "set", "in")
				}
				c := h.Restored("agent/x", "main", start, dir)
				spoil(h, c)
				gittest.Write(t, dir, map[string]string{"a.txt": "two\n", "out/new.txt": "new\n"})
				assert.True(t, gittest.Must(gittest.Dirty(c))(t))
				sha := gittest.Committed(t, c, "Change")
				assert.Empty(t, c.LeftOut)
				assert.Equal(t, "M\ta.txt\nA\tout/new.txt", h.Git(dir, "diff", "--name-status", start, sha))
				assert.False(t, gittest.Must(gittest.Dirty(c))(t))
				require.NoError(t, checkout.Reset(gittest.Ctx, c, sha))
				assert.Empty(t, h.Git(dir, "status", "--porcelain"))
			})
		}
	}
}

func TestAPathThatGitRefusesKeepsNothingElseBack(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Raw("agent/x", "work", map[string]string{".gitattributes": "*.u text working-tree-encoding=UTF-16\n", "a.txt": "one\n"})
	dir := h.Workspace("agent/x")
	c := h.Restored("agent/x", "main", start, dir)
	files := map[string]string{"a.txt": "two\n", "git~1/x": "x\n", "bad.u": "abc", "deep/.git./y": "y\n", "dump": "x"}
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		files["good/"+name] = name + "\n"
	}
	gittest.Write(t, dir, files)
	h.Git(dir, "init", "-q", "born")
	h.Git(dir, "init", "-q", "deep/grown")
	h.Git(filepath.Join(dir, "deep/grown"), "commit", "-q", "--allow-empty", "-m", "its own")
	require.NoError(t, os.Truncate(filepath.Join(dir, "dump"), 1<<40)) // sparse, and more than anybody could read
	sha := gittest.Committed(t, c, "Change")
	assert.Equal(t, "M\ta.txt\nA\tgood/1\nA\tgood/2\nA\tgood/3\nA\tgood/4\nA\tgood/5\nA\tgood/6\nA\tgood/7", h.Git(dir, "diff", "--name-status", start, sha))
	assert.Equal(t, []string{
		`"bad.u" (BOM is required in 'bad.u' if encoded as UTF-16)`, `"born/" (it is a repository of its own)`, `"deep/.git./y" (git does not take such a name)`,
		`"deep/grown/" (it is a repository of its own)`, `"dump" (it has 1048576 MB, and the server takes at most 100)`, `"git~1/x" (git does not take such a name)`,
	}, c.LeftOut)
	assert.False(t, gittest.Must(gittest.Dirty(c))(t), "it is said once")
	gittest.Write(t, dir, map[string]string{"bad.u": "abcd"})
	assert.True(t, gittest.Must(gittest.Dirty(c))(t), "it has changed since")
	require.NoError(t, os.Remove(filepath.Join(dir, "bad.u")))
	assert.False(t, gittest.Must(gittest.Dirty(c))(t))
}
