package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// apart is a server where agent/x left main n commits ago, and main went on as far.
func apart(t *testing.T, n int) (h *hub, fork, base, head string) {
	h = newHub(t)
	h.grow("main", 300)
	fork = h.tip("main")
	h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	return h, fork, h.grow("main", n), h.grow("agent/x", n)
}

func TestMeetFetchesWhatTheMergeBaseTakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ apart, calls int }{"near": {10, 1}, "far": {100, 2}, "very far": {2600, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, fork, base, head := apart(t, test.apart)
			workspaces := []string{h.workspace("main", "--depth=1"), ""}
			if name == "very far" {
				workspaces = workspaces[:1]
			}
			for _, workspace := range workspaces {
				c := h.open(workspace)
				met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
				require.NoError(t, err)
				assert.Equal(t, git.Met{BaseSHA: base, HeadSHA: head, MergeBase: fork}, met)
				assert.Equal(t, test.calls, c.NetworkCalls())
				commits, err := c.Commits(ctx, base, head)
				require.NoError(t, err)
				assert.Len(t, commits, test.apart+1)
				_, err = c.Commits(ctx, fork+"~290", fork)
				if name == "near" {
					assert.Error(t, err, "the rest of the history is not fetched")
				}
			}
		})
	}
}

func TestMeetInACompleteClone(t *testing.T) {
	h, fork, base, head := apart(t, 10)
	dir := h.workspace("agent/x")
	write(t, dir, map[string]string{"a.txt": "a person's\n", "new.txt": "untracked\n"})
	before := h.git(dir, "for-each-ref") + h.git(dir, "status", "--porcelain") + read(t, dir, ".git", "config") + read(t, dir, ".git", "HEAD")
	moved := h.commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.open(dir)
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	assert.Equal(t, git.Met{BaseSHA: moved, HeadSHA: head, MergeBase: fork}, met)
	assert.NotEqual(t, base, moved)
	assert.Equal(t, 1, c.NetworkCalls())
	after := h.git(dir, "for-each-ref") + h.git(dir, "status", "--porcelain") + read(t, dir, ".git", "config") + read(t, dir, ".git", "HEAD")
	assert.Equal(t, before, after, "refs, index, files and configuration are somebody's")
}

func TestMeetAForksPullRequest(t *testing.T) {
	h, fork, base, head := apart(t, 3)
	h.git(h.bare, "update-ref", "refs/pull/7/head", head)
	h.git(h.bare, "update-ref", "-d", "refs/heads/agent/x")
	c := h.open("")
	met, err := c.Meet(ctx, "main", "refs/pull/7/head")
	require.NoError(t, err)
	assert.Equal(t, git.Met{BaseSHA: base, HeadSHA: head, MergeBase: fork}, met)
}

func TestMeetTellsWhichRefIsMissing(t *testing.T) {
	h := newHub(t)
	h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	c := h.open("")
	for _, pair := range [][3]string{
		{"none", "refs/heads/agent/x", "refs/heads/none"}, {"main", "refs/heads/none", "refs/heads/none"}, {"main", "refs/pull/9/head", "refs/pull/9/head"},
	} {
		_, err := c.Meet(ctx, pair[0], pair[1])
		var none *git.ErrNoRef
		require.ErrorAs(t, err, &none)
		assert.Equal(t, pair[2], none.Ref)
	}
	for _, pair := range [][2]string{{"main", "agent/x"}, {"", "refs/heads/agent/x"}, {"main", "refs/heads/main"}, {"main", "-x"}} {
		_, err := c.Meet(ctx, pair[0], pair[1])
		assert.ErrorContains(t, err, "not a ref and another branch", "%v", pair)
	}
}

func TestMeetHistoriesWithNothingInCommon(t *testing.T) {
	h := newHub(t)
	h.grow("main", 70)
	h.git(h.dev, "checkout", "-q", "--orphan", "agent/x")
	h.git(h.dev, "commit", "-q", "-m", "another beginning")
	h.git(h.dev, "push", "-q", "origin", "agent/x")
	h.grow("agent/x", 70)
	c := h.open(h.workspace("main", "--depth=1"))
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	assert.True(t, met.Unrelated)
	assert.Empty(t, met.MergeBase)
}

func TestMeetKnowsWhereMergesInTheBranchCameFrom(t *testing.T) {
	h := newHub(t)
	h.git(h.dev, "checkout", "-q", "-b", "agent/x")
	h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	first := h.tip("main")
	h.grow("main", 120)
	h.git(h.dev, "checkout", "-q", "agent/x")
	h.git(h.dev, "merge", "-q", "-m", "update branch", "main")
	h.git(h.dev, "push", "-q", "origin", "agent/x")
	c := h.open("")
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	assert.Equal(t, h.tip("main"), met.MergeBase)
	calls := c.NetworkCalls()
	base, err := c.ForkPoint(ctx, h.git(h.dev, "rev-parse", "agent/x^1"), h.tip("main"))
	require.NoError(t, err)
	assert.Equal(t, first, base, "where the merge's own sides parted")
	assert.Equal(t, calls, c.NetworkCalls(), "all of it was here after Meet")
}

func TestMeetWithSeveralMergeBases(t *testing.T) {
	h := newHub(t)
	h.grow("main", 80)
	h.commit("agent/x", "ours", map[string]string{"a.txt": "a\n"})
	h.commit("main", "theirs", map[string]string{"b.txt": "b\n"})
	one, two := h.tip("main"), h.tip("agent/x")
	h.git(h.dev, "checkout", "-q", "main")
	h.git(h.dev, "merge", "-q", "-m", "cross", two)
	h.git(h.dev, "checkout", "-q", "agent/x")
	h.git(h.dev, "merge", "-q", "-m", "criss", one)
	h.git(h.dev, "push", "-q", "origin", "main", "agent/x")
	h.commit("main", "m", map[string]string{"m.txt": "m\n"})
	h.commit("agent/x", "x", map[string]string{"x.txt": "x\n"})
	c := h.open("")
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	assert.Contains(t, []string{one, two}, met.MergeBase)
	want := strings.Fields(h.git(h.bare, "merge-base", "--all", "main", "agent/x"))
	assert.Len(t, want, 2)
	base, err := c.ForkPoint(ctx, one, two)
	require.NoError(t, err)
	assert.Equal(t, h.git(h.bare, "merge-base", one, two), base, "git merges the merge bases themselves first")
}

func TestHaveGetsWhatIsNotHere(t *testing.T) {
	h := newHub(t)
	old := h.commit("agent/x", "old", map[string]string{"a.txt": "a\n"})
	head := h.grow("agent/x", 3)
	h.git(h.dev, "push", "-q", "-f", "origin", "main:agent/x")
	c := h.open(h.workspace("main", "--depth=1"))
	require.NoError(t, c.Have(ctx, head, old))
	require.NoError(t, c.Have(ctx, head, old))
	assert.Equal(t, 1, c.NetworkCalls())
	text, err := c.Blob(ctx, old, "a.txt")
	require.NoError(t, err)
	assert.Equal(t, "a\n", string(text))
	gone := "00000000000000000000000000000000deadbeef"
	var none *git.ErrNoRef
	require.ErrorAs(t, c.Have(ctx, head, gone), &none)
	assert.Equal(t, gone, none.Ref)
	assert.ErrorContains(t, c.Have(ctx, "main"), "not a commit id")
}
