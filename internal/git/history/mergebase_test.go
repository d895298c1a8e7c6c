package history_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

// apart is a server where agent/x left main n commits ago, and main went on as far.
func apart(t *testing.T, n int) (h *gittest.Hub, fork, base, head string) {
	h = gittest.NewHub(t)
	h.Grow("main", 300)
	fork = h.Tip("main")
	h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	return h, fork, h.Grow("main", n), h.Grow("agent/x", n)
}

// What is still farther away takes the same steps as in TestDeepenLeavesTheAgentsCommitsOutOfIt.
func TestMeetFetchesWhatTheMergeBaseTakes(t *testing.T) {
	type row struct {
		apart, calls int
		workspace    []string // how it is cloned; nil: MergeXO clones by itself
	}
	must.Each(t, map[string]row{"near": {10, 1, nil}, "near, in a workspace": {10, 1, []string{"--depth=1"}}, "far": {100, 2, nil}}, func(t *testing.T, test row) {
		t.Parallel()
		h, fork, base, head := apart(t, test.apart)
		dir := ""
		if test.workspace != nil {
			dir = h.Workspace("main", test.workspace...)
		}
		c := h.Open(dir)
		met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
		assert.Equal(t, history.Divergence{BaseSHA: base, HeadSHA: head, MergeBase: fork}, met)
		assert.Equal(t, test.calls, c.NetworkCalls())
		assert.Len(t, gittest.Must(history.List(gittest.Ctx, c, base, head))(t), test.apart+1)
		if test.calls == 1 {
			assert.Error(t, must.Err(history.List(gittest.Ctx, c, fork+"~290", fork)), "the rest of the history is not fetched")
		}
	})
}

func TestMeetInACompleteClone(t *testing.T) {
	h, fork, base, head := apart(t, 10)
	dir := h.Workspace("agent/x")
	gittest.Write(t, dir, map[string]string{"a.txt": "a person's\n", "new.txt": "untracked\n"})
	before := h.Git(dir, "for-each-ref") + h.Git(dir, "status", "--porcelain") + gittest.Read(t, dir, ".git", "config") + gittest.Read(t, dir, ".git", "HEAD")
	moved := h.Commit("main", "more", map[string]string{"b.txt": "b\n"})
	c := h.Open(dir)
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	assert.Equal(t, history.Divergence{BaseSHA: moved, HeadSHA: head, MergeBase: fork}, met)
	assert.NotEqual(t, base, moved)
	assert.Equal(t, 1, c.NetworkCalls())
	after := h.Git(dir, "for-each-ref") + h.Git(dir, "status", "--porcelain") + gittest.Read(t, dir, ".git", "config") + gittest.Read(t, dir, ".git", "HEAD")
	assert.Equal(t, before, after, "refs, index, files and configuration are somebody's")
}

func TestMeetAForksPullRequest(t *testing.T) {
	h, fork, base, head := apart(t, 3)
	h.Git(h.Bare, "update-ref", "refs/pull/7/head", head)
	h.Git(h.Bare, "update-ref", "-d", "refs/heads/agent/x")
	c := h.Open("")
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/pull/7/head"))(t)
	assert.Equal(t, history.Divergence{BaseSHA: base, HeadSHA: head, MergeBase: fork}, met)
}

func TestMeetTellsWhichRefIsMissing(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	c := h.Open("")
	for _, pair := range [][3]string{
		{"none", "refs/heads/agent/x", "refs/heads/none"}, {"main", "refs/heads/none", "refs/heads/none"}, {"main", "refs/pull/9/head", "refs/pull/9/head"},
	} {
		_, err := history.FetchMergeBase(gittest.Ctx, c, pair[0], pair[1])
		assert.Equal(t, pair[2], gittest.As[*git.ErrNoRef](t, err).Ref)
	}
	for _, pair := range [][2]string{{"main", "agent/x"}, {"", "refs/heads/agent/x"}, {"main", "refs/heads/main"}, {"main", "-x"}} {
		assert.ErrorContains(t, gittest.Err(history.FetchMergeBase(gittest.Ctx, c, pair[0], pair[1])), "not a ref and another branch",
			"%v", pair)
	}
}

func TestMeetHistoriesWithNothingInCommon(t *testing.T) {
	h := gittest.NewHub(t)
	h.Grow("main", 70)
	h.Git(h.Dev, "checkout", "-q", "--orphan", "agent/x")
	h.Git(h.Dev, "commit", "-q", "-m", "another beginning")
	h.Git(h.Dev, "push", "-q", "origin", "agent/x")
	h.Grow("agent/x", 70)
	c := h.Open(h.Workspace("main", "--depth=1"))
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	assert.True(t, met.Unrelated)
	assert.Empty(t, met.MergeBase)
}

func TestMeetKnowsWhereMergesInTheBranchCameFrom(t *testing.T) {
	h := gittest.NewHub(t)
	h.Git(h.Dev, "checkout", "-q", "-b", "agent/x")
	h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	first := h.Tip("main")
	h.Grow("main", 120)
	h.Git(h.Dev, "checkout", "-q", "agent/x")
	h.Git(h.Dev, "merge", "-q", "-m", "update branch", "main")
	h.Git(h.Dev, "push", "-q", "origin", "agent/x")
	c := h.Open("")
	assert.Equal(t, h.Tip("main"), gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t).MergeBase)
	calls := c.NetworkCalls()
	base := gittest.Must(history.ForkPoint(gittest.Ctx, c, h.Git(h.Dev, "rev-parse", "agent/x^1"), h.Tip("main")))(t)
	assert.Equal(t, first, base, "where the merge's own sides parted")
	assert.Equal(t, calls, c.NetworkCalls(), "all of it was here after Meet")
}

func TestMeetWithSeveralMergeBases(t *testing.T) {
	h := gittest.NewHub(t)
	h.Grow("main", 80)
	h.Commit("agent/x", "ours", map[string]string{"a.txt": "a\n"})
	h.Commit("main", "theirs", map[string]string{"b.txt": "b\n"})
	one, two := h.Tip("main"), h.Tip("agent/x")
	h.Git(h.Dev, "checkout", "-q", "main")
	h.Git(h.Dev, "merge", "-q", "-m", "cross", two)
	h.Git(h.Dev, "checkout", "-q", "agent/x")
	h.Git(h.Dev, "merge", "-q", "-m", "criss", one)
	h.Git(h.Dev, "push", "-q", "origin", "main", "agent/x")
	h.Commit("main", "m", map[string]string{"m.txt": "m\n"})
	h.Commit("agent/x", "x", map[string]string{"x.txt": "x\n"})
	c := h.Open("")
	assert.Contains(t, []string{one, two}, gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t).MergeBase)
	assert.Len(t, strings.Fields(h.Git(h.Bare, "merge-base", "--all", "main", "agent/x")), 2)
	base := gittest.Must(history.ForkPoint(gittest.Ctx, c, one, two))(t)
	assert.Equal(t, h.Git(h.Bare, "merge-base", one, two), base, "git merges the merge bases themselves first")
}

func TestHaveGetsWhatIsNotHere(t *testing.T) {
	h := gittest.NewHub(t)
	old := h.Commit("agent/x", "old", map[string]string{"a.txt": "a\n"})
	head := h.Grow("agent/x", 3)
	h.Git(h.Dev, "push", "-q", "-f", "origin", "main:agent/x")
	c := h.Open(h.Workspace("main", "--depth=1"))
	require.NoError(t, history.FetchCommits(gittest.Ctx, c, head, old))
	require.NoError(t, history.FetchCommits(gittest.Ctx, c, head, old))
	assert.Equal(t, 1, c.NetworkCalls())
	assert.Equal(t, "a\n", string(gittest.Must(history.Blob(gittest.Ctx, c, old, "a.txt"))(t)))
	gone := "00000000000000000000000000000000deadbeef"
	assert.Equal(t, gone, gittest.As[*git.ErrNoRef](t, history.FetchCommits(gittest.Ctx, c, head, gone)).Ref)
	assert.ErrorContains(t, history.FetchCommits(gittest.Ctx, c, "main"), "not a commit id")
}
