package history_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

func TestForkPointAcrossAShallowBoundary(t *testing.T) {
	type row struct{ ours, theirs, calls int }
	must.Each(t, map[string]row{
		"here already": {3, 4, 2}, "base is far ahead": {3, 120, 3}, "both are far": {400, 400, 4},
	}, func(t *testing.T, test row) {
		h := gittest.NewHub(t)
		fork := h.Grow("main", 60)
		h.Git(h.Dev, "branch", "other", fork)
		h.Commit("other", "ours", nil) // what is grown on one commit twice is the same
		head := h.Grow("other", test.ours)
		base := h.Grow("main", test.theirs)
		c := h.Restored("other", "main", head, "")
		require.Equal(t, base, gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/main"))(t))
		h.Agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
		local := gittest.Must(c.Head(gittest.Ctx))(t)
		assert.Equal(t, fork, gittest.Must(history.ForkPoint(gittest.Ctx, c, base, local))(t))
		assert.Equal(t, test.calls, c.NetworkCalls())
		calls := c.NetworkCalls()
		for _, pair := range [][3]string{{base, base, base}, {head, local, head}, {local, head, head}, {local, base, fork}} {
			assert.Equal(t, pair[2], gittest.Must(history.ForkPoint(gittest.Ctx, c, pair[0], pair[1]))(t))
		}
		assert.Equal(t, calls, c.NetworkCalls(), "it is all here now")
	})
}

func TestForkPointOfABranchThatBeganHereCostsNothing(t *testing.T) {
	h, c, start := gittest.Begun(t, "--depth=1")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	theirs := h.Commit("main", "theirs", nil)
	gittest.Must(checkout.FetchOrigin(gittest.Ctx, c, "main"))(t)
	calls := c.NetworkCalls()
	assert.Equal(t, start, gittest.Must(history.ForkPoint(gittest.Ctx, c, theirs, head))(t))
	assert.Equal(t, calls, c.NetworkCalls())
}

func TestForkPointOfUnrelatedHistoriesIsNone(t *testing.T) {
	h, c, start := gittest.Begun(t, "--depth=1")
	h.Agent(c, "checkout", "-q", "--orphan", "root")
	h.Agent(c, "commit", "-q", "-m", "a root")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	assert.Empty(t, gittest.Must(history.ForkPoint(gittest.Ctx, c, start, head))(t))
	for _, pair := range [][2]string{{"HEAD", head}, {start, ""}} {
		assert.ErrorContains(t, gittest.Err(history.ForkPoint(gittest.Ctx, c, pair[0], pair[1])), "not commit ids")
	}
	var none *git.ErrNoRef
	assert.ErrorAs(t, gittest.Err(history.ForkPoint(gittest.Ctx, c, strings.Repeat("ab", 20), start)), &none)
}

// Two branches have each merged something that forked off long ago. In a shallow history the old fork looks as good as
// the recent one, and its clock was fast.
func TestForkPointIsNotAnOldOneThatLooksBest(t *testing.T) {
	h := gittest.NewHub(t)
	tree := h.Git(h.Dev, "rev-parse", "main^{tree}")
	make := func(date, message string, parents ...string) string {
		args := []string{"commit-tree", tree, "-m", message}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		out, err := h.With(h.Dev, []string{"GIT_COMMITTER_DATE=@" + date + " +0000"}, args...)
		require.NoError(t, err, out)
		return strings.TrimSpace(out)
	}
	old := make("1900000000", "old", h.Tip("main"))
	h.Git(h.Dev, "branch", "-f", "trunk", old)
	fork := h.Grow("trunk", 100)
	for _, branch := range []string{"left", "right"} {
		merged := make("1900000002", "merge", fork, make("1900000001", "side of "+branch, old))
		h.Git(h.Dev, "push", "-q", "origin", merged+":refs/heads/"+branch)
	}
	c := h.Restored("left", "right", h.Tip("left"), "")
	require.Contains(t, h.Git(c.Dir(), "merge-base", "--all", "HEAD", "origin/right"), old, "or there is no trap")
	assert.Equal(t, fork, gittest.Must(history.ForkPoint(gittest.Ctx, c, h.Tip("right"), h.Tip("left")))(t))
}
