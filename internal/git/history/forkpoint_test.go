package history_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

func TestForkPointAcrossAShallowBoundary(t *testing.T) {
	for name, test := range map[string]struct{ ours, theirs, calls int }{
		"here already": {3, 4, 2}, "base is far ahead": {3, 120, 3}, "both are far": {400, 400, 4}, "very far": {3, 2600, 5},
	} {
		t.Run(name, func(t *testing.T) {
			h := gittest.NewHub(t)
			fork := h.Grow("main", 60)
			h.Git(h.Dev, "branch", "other", fork)
			h.Commit("other", "ours", nil) // what is grown on one commit twice is the same
			head := h.Grow("other", test.ours)
			base := h.Grow("main", test.theirs)
			c := h.Open("")
			require.NoError(t, checkpoint.Restore(gittest.Ctx, c, "other", "main", head))
			fetched, err := fetch.Ref(gittest.Ctx, c, "refs/heads/main")
			require.NoError(t, err)
			require.Equal(t, base, fetched)
			h.Agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
			local, err := c.Head(gittest.Ctx)
			require.NoError(t, err)
			got, err := history.ForkPoint(gittest.Ctx, c, base, local)
			require.NoError(t, err)
			assert.Equal(t, fork, got)
			assert.Equal(t, test.calls, c.NetworkCalls())
			calls := c.NetworkCalls()
			for _, pair := range [][3]string{{base, base, base}, {head, local, head}, {local, head, head}, {local, base, fork}} {
				got, err = history.ForkPoint(gittest.Ctx, c, pair[0], pair[1])
				require.NoError(t, err)
				assert.Equal(t, pair[2], got)
			}
			assert.Equal(t, calls, c.NetworkCalls(), "it is all here now")
		})
	}
}

func TestForkPointOfABranchThatBeganHereCostsNothing(t *testing.T) {
	h, c, start := gittest.Begun(t, "--depth=1")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
	head, err := c.Head(gittest.Ctx)
	require.NoError(t, err)
	theirs := h.Commit("main", "theirs", nil)
	_, err = commits.FetchOrigin(gittest.Ctx, c, "main")
	require.NoError(t, err)
	calls := c.NetworkCalls()
	got, err := history.ForkPoint(gittest.Ctx, c, theirs, head)
	require.NoError(t, err)
	assert.Equal(t, start, got)
	assert.Equal(t, calls, c.NetworkCalls())
}

func TestForkPointOfUnrelatedHistoriesIsNone(t *testing.T) {
	h, c, start := gittest.Begun(t, "--depth=1")
	h.Agent(c, "checkout", "-q", "--orphan", "root")
	h.Agent(c, "commit", "-q", "-m", "a root")
	head, err := c.Head(gittest.Ctx)
	require.NoError(t, err)
	got, err := history.ForkPoint(gittest.Ctx, c, start, head)
	require.NoError(t, err)
	assert.Empty(t, got)
	for _, pair := range [][2]string{{"HEAD", head}, {start, ""}} {
		_, err = history.ForkPoint(gittest.Ctx, c, pair[0], pair[1])
		assert.ErrorContains(t, err, "not commit ids")
	}
	var none *git.ErrNoRef
	_, err = history.ForkPoint(gittest.Ctx, c, strings.Repeat("ab", 20), start)
	assert.ErrorAs(t, err, &none)
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
	c := h.Open("")
	require.NoError(t, checkpoint.Restore(gittest.Ctx, c, "left", "right", h.Tip("left")))
	require.Contains(t, h.Git(c.Dir(), "merge-base", "--all", "HEAD", "origin/right"), old, "or there is no trap")
	got, err := history.ForkPoint(gittest.Ctx, c, h.Tip("right"), h.Tip("left"))
	require.NoError(t, err)
	assert.Equal(t, fork, got)
}
