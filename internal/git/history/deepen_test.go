package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// related asks for a relation as a guard does: at first of what is here, then of what the server has as well.
func related(t *testing.T, c *git.Checkout, earlier, later string) model.Relation {
	t.Helper()
	relation := gittest.Must(history.Relation(gittest.Ctx, c, earlier, later))(t)
	if relation == model.Unknown {
		require.NoError(t, history.Deepen(gittest.Ctx, c, earlier, later))
		relation = gittest.Must(history.Relation(gittest.Ctx, c, earlier, later))(t)
	}
	return relation
}

func TestAnOrphanIsToldWithoutAskingTheServer(t *testing.T) {
	h, _, head, _ := longHistory(t)
	c := h.Restored("agent/x", "main", head, h.Workspace("agent/x", "--depth=1"))
	h.Agent(c, "checkout", "-q", "--orphan", "fresh")
	h.Agent(c, "commit", "-q", "-m", "a history of its own")
	orphan := gittest.Must(c.Head(gittest.Ctx))(t)
	assert.Equal(t, model.Diverged, gittest.Must(history.Relation(gittest.Ctx, c, head, orphan))(t))
	assert.Equal(t, model.Unknown, gittest.Must(history.Relation(gittest.Ctx, c, orphan, head))(t), "the other way round the boundary could hide it")
	assert.Equal(t, model.Diverged, related(t, c, orphan, head))
}

func TestACompleteHistoryWithoutTheEarlierCommitHasNotGrown(t *testing.T) {
	h, _, head, _ := longHistory(t)
	first := h.Tip("main")
	c := h.Restored("agent/x", "main", head, "")
	relation := gittest.Must(history.Relation(gittest.Ctx, c, head, first))(t)
	assert.Equal(t, model.Diverged, relation, "back or away needs what is missing; forward it is not")
	assert.Equal(t, model.Unknown, gittest.Must(history.Relation(gittest.Ctx, c, first, head))(t))
	assert.Equal(t, 1, c.NetworkCalls())
}

func TestDeepenLeavesTheAgentsCommitsOutOfIt(t *testing.T) {
	type row struct {
		more, calls int // commits on either branch, fetches that it takes
	}
	must.Each(t, map[string]row{"near": {60, 1}, "very far": {2600, 3}}, func(t *testing.T, test row) {
		h, old, _, _ := longHistory(t)
		head, away := h.Grow("agent/x", test.more), h.Grow("away", test.more)
		c := h.Restored("agent/x", "away", head, h.Workspace("agent/x", "--depth=1"))
		h.Agent(c, "commit", "-q", "--allow-empty", "-m", "an ordinary commit")
		ordinary := gittest.Must(c.Head(gittest.Ctx))(t)
		require.NoError(t, history.Deepen(gittest.Ctx, c, head, ordinary))
		assert.Equal(t, model.Ahead, related(t, c, head, ordinary))
		assert.Equal(t, 1, c.NetworkCalls(), "nothing is missing")

		h.Agent(c, "checkout", "-q", "-B", "agent/x", away+"~40")
		h.Agent(c, "commit", "-q", "--allow-empty", "-m", "on an old commit of the base")
		rebased := gittest.Must(c.Head(gittest.Ctx))(t)
		require.Equal(t, model.Unknown, gittest.Must(history.Relation(gittest.Ctx, c, head, rebased))(t))
		assert.Equal(t, model.Diverged, related(t, c, head, rebased))
		assert.Equal(t, 1+test.calls, c.NetworkCalls())
		assert.Equal(t, model.Ahead, related(t, c, old, ordinary), "an older commit, which was not here")
	})
}

func TestDeepenBeforeAnyRestore(t *testing.T) {
	h, old, head, _ := longHistory(t)
	c := h.Open(h.Workspace("agent/x", "--depth=1"))
	assert.Equal(t, model.Ahead, related(t, c, old, head))
	assert.Equal(t, 1, c.NetworkCalls(), "what the workspace has is deepened along")
}

// planned is a server whose stage has n commits on top of agent/x, which has more than 50 itself.
func planned(t *testing.T, n int) (h *gittest.Hub, base, sha string) {
	h, _, base, _ = longHistory(t)
	h.Git(h.Dev, "branch", "planned", "agent/x")
	sha = h.Grow("planned", n)
	h.Git(h.Dev, "push", "-q", "origin", "planned:"+gittest.Stage, ":planned")
	return h, base, sha
}

func TestAPlannedTurnWithManyCommitsIsTakenUpInAnOwnClone(t *testing.T) {
	must.Each(t, map[string]int{"51": 51, "300": 300}, func(t *testing.T, n int) {
		h, base, sha := planned(t, n)
		c := h.Open("")
		require.Equal(t, sha, gittest.Must(history.FetchRef(gittest.Ctx, c, gittest.Stage))(t))
		require.NoError(t, history.Deepen(gittest.Ctx, c, base, sha))
		assert.Len(t, gittest.Must(history.List(gittest.Ctx, c, base, sha))(t), n)
		require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: base, SHA: sha, Stage: gittest.Stage}))
		assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
		assert.Empty(t, h.Tip(gittest.Stage))
	})
}

func TestPublishDeepensWhereItCannotTell(t *testing.T) {
	h, base, sha := planned(t, 120)
	c := h.Open("")
	gittest.Must(history.FetchRef(gittest.Ctx, c, gittest.Stage))(t)
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: base, SHA: sha, Stage: gittest.Stage}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	assert.Equal(t, 3, c.NetworkCalls())
}

func TestDeepenStartsAtWhatAFetchGot(t *testing.T) {
	h, base, sha := planned(t, 120)
	c := h.Restored("agent/x", "main", base, "")
	gittest.Must(history.FetchRef(gittest.Ctx, c, gittest.Stage))(t)
	assert.Equal(t, model.Ahead, related(t, c, base, sha))
	assert.Equal(t, 3, c.NetworkCalls())
}

func TestWhatWasDeepenedStaysDeep(t *testing.T) {
	const n = 120
	h, base, sha := planned(t, n)
	c := h.Open("")
	gittest.Must(history.FetchRef(gittest.Ctx, c, gittest.Stage))(t)
	require.NoError(t, history.Deepen(gittest.Ctx, c, base, sha))
	gittest.Must(history.FetchRef(gittest.Ctx, c, gittest.Stage))(t)
	moved := h.Commit("agent/x", "by a person", map[string]string{"b.txt": "b\n"})
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", moved))
	assert.Len(t, gittest.Must(history.List(gittest.Ctx, c, base, sha))(t), n)
	gittest.Must(checkout.Replay(gittest.Ctx, c, base, sha, moved))(t)
}

func TestErrNoRefSaysWhatWasAskedFor(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	odd := "caf\xe9-\u00a0-\u0085-x" // not UTF-8, a space that is none in ASCII, a control character
	c := h.Open("")
	for _, ref := range []string{"refs/heads/none", "refs/heads/" + odd, "refs/mergexo/turn/8/none"} {
		assert.Equal(t, ref, gittest.As[*git.ErrNoRef](t, gittest.Err(history.FetchRef(gittest.Ctx, c, ref)), ref).Ref)
	}
	none := gittest.As[*git.ErrNoRef](t, checkout.Restore(gittest.Ctx, c, odd, "main", head))
	assert.Equal(t, "refs/heads/"+odd, none.Ref)
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", odd, head), "a base that is gone does no harm, whatever its name")
	for _, anySHA := range []string{"true", "false"} {
		h.Git(h.Bare, "config", "uploadpack.allowAnySHA1InWant", anySHA)
		gone := "00000000000000000000000000000000deadbeef"
		require.ErrorAs(t, history.Deepen(gittest.Ctx, c, gone, head), &none)
		assert.Equal(t, gone, none.Ref)
	}
}
