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
	"github.com/mergexo/mergexo/internal/git/merging"
)

// sideBranch is a checkout of agent/x, with main gone on beside it.
func sideBranch(t *testing.T, main map[string]string) (h *gittest.Hub, c *git.Checkout, head, tip string) {
	h = gittest.NewHub(t)
	h.Grow("main", 60) // more than a shallow checkout has
	h.Git(h.Bare, "branch", "agent/y", "main")
	head = h.Commit("agent/y", "work", map[string]string{"a.txt": "ours\n", "mine.txt": "mine\n"})
	c = h.Open(h.Workspace("agent/y", "--depth=1"))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/y", "main", head))
	tip = h.Commit("main", "by others", main)
	return h, c, head, tip
}

func TestTheDefaultBranchIsMergedWhereHistoryIsShort(t *testing.T) {
	h, c, head, tip := sideBranch(t, map[string]string{"theirs.txt": "theirs\n"})
	assert.Equal(t, map[string]string{"main": tip, "agent/y": head}, gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main", "agent/y"))(t))
	assert.Equal(t, tip, h.Git(c.Dir(), "rev-parse", "refs/remotes/origin/main"), "the agent finds it under its name")

	merged := gittest.Must(checkout.MergeOrigin(gittest.Ctx, c, tip, "Merge main"))(t)
	assert.Equal(t, head+" "+tip, h.Git(c.Dir(), "log", "-1", "--format=%P", merged))
	assert.Equal(t, "theirs\n", gittest.Read(t, c.Dir(), "theirs.txt"))

	_, err := checkout.FetchOrigin(gittest.Ctx, c, "gone")
	assert.Equal(t, "refs/heads/gone", gittest.As[*git.ErrNoRef](t, err).Ref)
}

func TestAMergeThatConflictsIsLeftToBeResolved(t *testing.T) {
	h, c, head, tip := sideBranch(t, map[string]string{"a.txt": "theirs\n", "theirs.txt": "theirs\n"})
	_ = gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main"))(t)
	conflict := gittest.As[*merging.ErrConflict](t, gittest.Err(checkout.MergeOrigin(gittest.Ctx, c, tip, "Merge main")))
	assert.Equal(t, []string{"a.txt"}, conflict.Paths)
	assert.Equal(t, "theirs\n", gittest.Read(t, c.Dir(), "theirs.txt"))
	assert.Contains(t, gittest.Read(t, c.Dir(), "a.txt"), "<<<<<<< ")

	marked := gittest.Must(checkout.MarkedPaths(gittest.Ctx, c, []string{"a.txt", "mine.txt", "not there", "../../etc/passwd"}))(t)
	assert.Equal(t, []string{"a.txt"}, marked)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "both\n"})
	assert.Empty(t, gittest.Must(checkout.MarkedPaths(gittest.Ctx, c, conflict.Paths))(t))

	merged := gittest.Committed(t, c, "Merge main into agent/y")
	assert.Equal(t, head+" "+tip, h.Git(c.Dir(), "log", "-1", "--format=%P", merged))
	assert.Equal(t, "both\ntheirs", h.Git(c.Dir(), "show", merged+":a.txt", merged+":theirs.txt"))
}

func TestMarkersAreFoundAtLineStartsOnly(t *testing.T) {
	_, c, _, _ := sideBranch(t, map[string]string{"x": "x"})
	long := strings.Repeat("x", 5000)
	gittest.Write(t, c.Dir(), map[string]string{
		"no.txt": "a <<<<<<< b\n>>>>>>> c\n" + long + "<<<<<<< d\n", "open.txt": "<<<<<<< a\n" + long + ">>>>>>> b\n",
		"yes.txt": long + "\n<<<<<<< a\n" + long + "\n>>>>>>> b",
	})
	require.NoError(t, os.Symlink("yes.txt", filepath.Join(c.Dir(), "link.txt")))
	assert.Equal(t, []string{"yes.txt"}, gittest.Must(checkout.MarkedPaths(gittest.Ctx, c, []string{"no.txt", "open.txt", "yes.txt", "link.txt"}))(t))
}
