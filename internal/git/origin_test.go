package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// beside is a checkout of agent/x, with main gone on beside it.
func beside(t *testing.T, main map[string]string) (h *hub, c *git.Checkout, head, tip string) {
	h = newHub(t)
	h.grow("main", 60) // more than a shallow checkout has
	h.git(h.bare, "branch", "agent/y", "main")
	head = h.commit("agent/y", "work", map[string]string{"a.txt": "ours\n", "mine.txt": "mine\n"})
	c = h.open(h.workspace("agent/y", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/y", "main", head))
	tip = h.commit("main", "by others", main)
	return h, c, head, tip
}

func TestTheDefaultBranchIsMergedWhereHistoryIsShort(t *testing.T) {
	h, c, head, tip := beside(t, map[string]string{"theirs.txt": "theirs\n"})
	tips, err := c.FetchOrigin(ctx, "main", "agent/y")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"main": tip, "agent/y": head}, tips)
	assert.Equal(t, tip, h.git(c.Dir(), "rev-parse", "refs/remotes/origin/main"), "the agent finds it under its name")

	merged, err := c.MergeOrigin(ctx, tip, "Merge main")
	require.NoError(t, err)
	assert.Equal(t, head+" "+tip, h.git(c.Dir(), "log", "-1", "--format=%P", merged))
	assert.Equal(t, "theirs\n", read(t, c.Dir(), "theirs.txt"))

	_, err = c.FetchOrigin(ctx, "gone")
	var none *git.ErrNoRef
	require.ErrorAs(t, err, &none)
	assert.Equal(t, "refs/heads/gone", none.Ref)
}

func TestAMergeThatConflictsIsLeftToBeResolved(t *testing.T) {
	h, c, head, tip := beside(t, map[string]string{"a.txt": "theirs\n", "theirs.txt": "theirs\n"})
	_, err := c.FetchOrigin(ctx, "main")
	require.NoError(t, err)
	_, err = c.MergeOrigin(ctx, tip, "Merge main")
	var conflict *git.ErrConflict
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, []string{"a.txt"}, conflict.Paths)
	assert.Equal(t, "theirs\n", read(t, c.Dir(), "theirs.txt"))
	assert.Contains(t, read(t, c.Dir(), "a.txt"), "<<<<<<< ")

	marked, err := c.MarkedPaths([]string{"a.txt", "mine.txt", "not there", "../../etc/passwd"})
	require.NoError(t, err)
	assert.Equal(t, []string{"a.txt"}, marked)
	write(t, c.Dir(), map[string]string{"a.txt": "both\n"})
	marked, err = c.MarkedPaths(conflict.Paths)
	require.NoError(t, err)
	assert.Empty(t, marked)

	merged, made, err := c.Commit(ctx, "Merge main into agent/y")
	require.NoError(t, err)
	require.True(t, made)
	assert.Equal(t, head+" "+tip, h.git(c.Dir(), "log", "-1", "--format=%P", merged))
	assert.Equal(t, "both\ntheirs", h.git(c.Dir(), "show", merged+":a.txt", merged+":theirs.txt"))
}

func TestMarkersAreFoundAtLineStartsOnly(t *testing.T) {
	_, c, _, _ := beside(t, map[string]string{"x": "x"})
	long := strings.Repeat("x", 5000)
	write(t, c.Dir(), map[string]string{
		"no.txt": "a <<<<<<< b\n>>>>>>> c\n" + long + "<<<<<<< d\n", "open.txt": "<<<<<<< a\n" + long + ">>>>>>> b\n",
		"yes.txt": long + "\n<<<<<<< a\n" + long + "\n>>>>>>> b",
	})
	require.NoError(t, os.Symlink("yes.txt", filepath.Join(c.Dir(), "link.txt")))
	marked, err := c.MarkedPaths([]string{"no.txt", "open.txt", "yes.txt", "link.txt"})
	require.NoError(t, err)
	assert.Equal(t, []string{"yes.txt"}, marked)
}
