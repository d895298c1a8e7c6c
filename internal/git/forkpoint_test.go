package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

func TestForkPointAcrossAShallowBoundary(t *testing.T) {
	for name, test := range map[string]struct{ ours, theirs, calls int }{
		"here already": {3, 4, 2}, "base is far ahead": {3, 120, 3}, "both are far": {400, 400, 4}, "very far": {3, 2600, 5},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			fork := h.grow("main", 60)
			h.git(h.dev, "branch", "other", fork)
			h.commit("other", "ours", nil) // what is grown on one commit twice is the same
			head := h.grow("other", test.ours)
			base := h.grow("main", test.theirs)
			c := h.open("")
			require.NoError(t, c.Restore(ctx, "other", "main", head))
			fetched, err := c.FetchRef(ctx, "refs/heads/main")
			require.NoError(t, err)
			require.Equal(t, base, fetched)
			h.agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
			local, err := c.Head(ctx)
			require.NoError(t, err)
			got, err := c.ForkPoint(ctx, base, local)
			require.NoError(t, err)
			assert.Equal(t, fork, got)
			assert.Equal(t, test.calls, c.NetworkCalls())
			calls := c.NetworkCalls()
			for _, pair := range [][3]string{{base, base, base}, {head, local, head}, {local, head, head}, {local, base, fork}} {
				got, err = c.ForkPoint(ctx, pair[0], pair[1])
				require.NoError(t, err)
				assert.Equal(t, pair[2], got)
			}
			assert.Equal(t, calls, c.NetworkCalls(), "it is all here now")
		})
	}
}

func TestForkPointOfABranchThatBeganHereCostsNothing(t *testing.T) {
	h, c, start := begun(t, "--depth=1")
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "made here")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	theirs := h.commit("main", "theirs", nil)
	_, err = c.FetchOrigin(ctx, "main")
	require.NoError(t, err)
	calls := c.NetworkCalls()
	got, err := c.ForkPoint(ctx, theirs, head)
	require.NoError(t, err)
	assert.Equal(t, start, got)
	assert.Equal(t, calls, c.NetworkCalls())
}

func TestForkPointOfUnrelatedHistoriesIsNone(t *testing.T) {
	h, c, start := begun(t, "--depth=1")
	h.agent(c, "checkout", "-q", "--orphan", "root")
	h.agent(c, "commit", "-q", "-m", "a root")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	got, err := c.ForkPoint(ctx, start, head)
	require.NoError(t, err)
	assert.Empty(t, got)
	for _, pair := range [][2]string{{"HEAD", head}, {start, ""}} {
		_, err = c.ForkPoint(ctx, pair[0], pair[1])
		assert.ErrorContains(t, err, "not commit ids")
	}
	var none *git.ErrNoRef
	_, err = c.ForkPoint(ctx, strings.Repeat("ab", 20), start)
	assert.ErrorAs(t, err, &none)
}

// Two branches have each merged something that forked off long ago. In a shallow history the old fork looks as good as
// the recent one, and its clock was fast.
func TestForkPointIsNotAnOldOneThatLooksBest(t *testing.T) {
	h := newHub(t)
	tree := h.git(h.dev, "rev-parse", "main^{tree}")
	make := func(date, message string, parents ...string) string {
		args := []string{"commit-tree", tree, "-m", message}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		out, err := h.with(h.dev, []string{"GIT_COMMITTER_DATE=@" + date + " +0000"}, args...)
		require.NoError(t, err, out)
		return strings.TrimSpace(out)
	}
	old := make("1900000000", "old", h.tip("main"))
	h.git(h.dev, "branch", "-f", "trunk", old)
	fork := h.grow("trunk", 100)
	for _, branch := range []string{"left", "right"} {
		merged := make("1900000002", "merge", fork, make("1900000001", "side of "+branch, old))
		h.git(h.dev, "push", "-q", "origin", merged+":refs/heads/"+branch)
	}
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "left", "right", h.tip("left")))
	require.Contains(t, h.git(c.Dir(), "merge-base", "--all", "HEAD", "origin/right"), old, "or there is no trap")
	got, err := c.ForkPoint(ctx, h.tip("right"), h.tip("left"))
	require.NoError(t, err)
	assert.Equal(t, fork, got)
}
