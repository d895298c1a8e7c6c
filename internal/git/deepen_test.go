package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// related asks for a relation as a guard does: at first of what is here, then of what the server has as well.
func related(t *testing.T, c *git.Checkout, earlier, later string) model.Relation {
	t.Helper()
	relation, err := c.Relation(ctx, earlier, later)
	require.NoError(t, err)
	if relation == model.Unknown {
		require.NoError(t, c.Deepen(ctx, earlier, later))
		relation, err = c.Relation(ctx, earlier, later)
		require.NoError(t, err)
	}
	return relation
}

func TestAnOrphanIsToldWithoutAskingTheServer(t *testing.T) {
	h, _, head, _ := longHistory(t)
	c := h.open(h.workspace("agent/x", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	h.agent(c, "checkout", "-q", "--orphan", "fresh")
	h.agent(c, "commit", "-q", "-m", "a history of its own")
	orphan, err := c.Head(ctx)
	require.NoError(t, err)
	relation, err := c.Relation(ctx, head, orphan)
	require.NoError(t, err)
	assert.Equal(t, model.Diverged, relation)
	relation, err = c.Relation(ctx, orphan, head)
	require.NoError(t, err)
	assert.Equal(t, model.Unknown, relation, "the other way round the boundary could hide it")
	assert.Equal(t, model.Diverged, related(t, c, orphan, head))
}

func TestACompleteHistoryWithoutTheEarlierCommitHasNotGrown(t *testing.T) {
	h, _, head, _ := longHistory(t)
	first := h.tip("main")
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	relation, err := c.Relation(ctx, head, first)
	require.NoError(t, err)
	assert.Equal(t, model.Diverged, relation, "back or away needs what is missing; forward it is not")
	relation, err = c.Relation(ctx, first, head)
	require.NoError(t, err)
	assert.Equal(t, model.Unknown, relation)
	assert.Equal(t, 1, c.NetworkCalls())
}

func TestDeepenLeavesTheAgentsCommitsOutOfIt(t *testing.T) {
	for name, test := range map[string]struct {
		more, calls int // commits on either branch, fetches that it takes
	}{"near": {60, 1}, "far": {400, 2}, "very far": {2600, 3}} {
		t.Run(name, func(t *testing.T) {
			h, old, _, _ := longHistory(t)
			head, away := h.grow("agent/x", test.more), h.grow("away", test.more)
			c := h.open(h.workspace("agent/x", "--depth=1"))
			require.NoError(t, c.Restore(ctx, "agent/x", "away", head))
			h.agent(c, "commit", "-q", "--allow-empty", "-m", "an ordinary commit")
			ordinary, err := c.Head(ctx)
			require.NoError(t, err)
			require.NoError(t, c.Deepen(ctx, head, ordinary))
			assert.Equal(t, model.Ahead, related(t, c, head, ordinary))
			assert.Equal(t, 1, c.NetworkCalls(), "nothing is missing")

			h.agent(c, "checkout", "-q", "-B", "agent/x", away+"~40")
			h.agent(c, "commit", "-q", "--allow-empty", "-m", "on an old commit of the base")
			rebased, err := c.Head(ctx)
			require.NoError(t, err)
			relation, err := c.Relation(ctx, head, rebased)
			require.NoError(t, err)
			require.Equal(t, model.Unknown, relation)
			assert.Equal(t, model.Diverged, related(t, c, head, rebased))
			assert.Equal(t, 1+test.calls, c.NetworkCalls())
			assert.Equal(t, model.Ahead, related(t, c, old, ordinary), "an older commit, which was not here")
		})
	}
}

func TestDeepenBeforeAnyRestore(t *testing.T) {
	h, old, head, _ := longHistory(t)
	c := h.open(h.workspace("agent/x", "--depth=1"))
	assert.Equal(t, model.Ahead, related(t, c, old, head))
	assert.Equal(t, 1, c.NetworkCalls(), "what the workspace has is deepened along")
}

// planned is a server whose stage has n commits on top of agent/x, which has more than 50 itself.
func planned(t *testing.T, n int) (h *hub, base, sha string) {
	h, _, base, _ = longHistory(t)
	h.git(h.dev, "branch", "planned", "agent/x")
	sha = h.grow("planned", n)
	h.git(h.dev, "push", "-q", "origin", "planned:"+stage, ":planned")
	return h, base, sha
}

func TestAPlannedTurnWithManyCommitsIsTakenUpInAnOwnClone(t *testing.T) {
	for name, n := range map[string]int{"51": 51, "120": 120, "300": 300} {
		t.Run(name, func(t *testing.T) {
			h, base, sha := planned(t, n)
			c := h.open("")
			got, err := c.FetchRef(ctx, stage)
			require.NoError(t, err)
			require.Equal(t, sha, got)
			require.NoError(t, c.Deepen(ctx, base, sha))
			commits, err := c.Commits(ctx, base, sha)
			require.NoError(t, err)
			assert.Len(t, commits, n)
			require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: base, SHA: sha, Stage: stage}))
			assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
			assert.Empty(t, h.tip(stage))
		})
	}
}

func TestPublishDeepensWhereItCannotTell(t *testing.T) {
	h, base, sha := planned(t, 120)
	c := h.open("")
	_, err := c.FetchRef(ctx, stage)
	require.NoError(t, err)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: base, SHA: sha, Stage: stage}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
	assert.Equal(t, 3, c.NetworkCalls())
}

func TestDeepenStartsAtWhatAFetchGot(t *testing.T) {
	h, base, sha := planned(t, 120)
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "agent/x", "main", base))
	_, err := c.FetchRef(ctx, stage)
	require.NoError(t, err)
	assert.Equal(t, model.Ahead, related(t, c, base, sha))
	assert.Equal(t, 3, c.NetworkCalls())
}

func TestWhatWasDeepenedStaysDeep(t *testing.T) {
	for name, n := range map[string]int{"all of it": 120, "a part of it": 200} {
		t.Run(name, func(t *testing.T) {
			h, base, sha := planned(t, n)
			c := h.open("")
			_, err := c.FetchRef(ctx, stage)
			require.NoError(t, err)
			require.NoError(t, c.Deepen(ctx, base, sha))
			_, err = c.FetchRef(ctx, stage)
			require.NoError(t, err)
			moved := h.commit("agent/x", "by a person", map[string]string{"b.txt": "b\n"})
			require.NoError(t, c.Restore(ctx, "agent/x", "main", moved))
			commits, err := c.Commits(ctx, base, sha)
			require.NoError(t, err)
			assert.Len(t, commits, n)
			_, err = c.Replay(ctx, base, sha, moved)
			require.NoError(t, err)
		})
	}
}

func TestErrNoRefSaysWhatWasAskedFor(t *testing.T) {
	h := newHub(t)
	head := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	odd := "caf\xe9-\u00a0-\u0085-x" // not UTF-8, a space that is none in ASCII, a control character
	c := h.open("")
	for _, ref := range []string{"refs/heads/none", "refs/heads/" + odd, "refs/mergexo/turn/8/none"} {
		_, err := c.FetchRef(ctx, ref)
		var none *git.ErrNoRef
		require.ErrorAs(t, err, &none, ref)
		assert.Equal(t, ref, none.Ref)
	}
	var none *git.ErrNoRef
	require.ErrorAs(t, c.Restore(ctx, odd, "main", head), &none)
	assert.Equal(t, "refs/heads/"+odd, none.Ref)
	require.NoError(t, c.Restore(ctx, "agent/x", odd, head), "a base that is gone does no harm, whatever its name")
	for _, anySHA := range []string{"true", "false"} {
		h.git(h.bare, "config", "uploadpack.allowAnySHA1InWant", anySHA)
		gone := "00000000000000000000000000000000deadbeef"
		require.ErrorAs(t, c.Deepen(ctx, gone, head), &none)
		assert.Equal(t, gone, none.Ref)
	}
}
