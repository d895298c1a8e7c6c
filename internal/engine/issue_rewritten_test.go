package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// stuckIssue is an issue whose agent has asked a question, with a checkpoint on its branch.
func stuckIssue(t *testing.T, more ...string) (w *world, checkpoint string) {
	t.Helper()
	w = newIssue(t, more...).whoseAgent("ask")
	require.Equal(t, model.ReasonAgent, w.handle(w.label("alice", smallJob)).BlockedReason)
	return w, w.branches()[branch]
}

func TestACheckpointThatAPersonRewroteWaitsForAnOperator(t *testing.T) {
	w, old := stuckIssue(t)
	w.head = branch
	now := w.rewritten()
	rep := w.blocked(model.ReasonRewrite, w.handle(w.say("bob", "Formal")))
	assert.NotContains(t, rep.Reason, "to continue, comment on the issue")
	assert.NotContains(t, rep.Reason, "kept on branch "+branch+" at "+old)
	said := w.lastSaid()
	assert.NotContains(t, said, "The work so far is kept on")
	assert.Contains(t, said, "is now at [`"+now[:10])
	assert.Contains(t, said, old, "and what was kept can be had back")
	assert.Contains(t, said, "until an operator decides")
	count := len(w.comments())

	w.ended(model.ResultBlocked, "waits for an operator", w.handle(w.say("bob", "Go on, please")))
	assert.Len(t, w.comments(), count+1, "nothing is said again")
	assert.Equal(t, 1, w.calls())

	w.done(w.handle(w.say("carol", "/mergexo retry")))
	assert.Equal(t, now, w.bare("rev-parse", branch+"~1"), "from what is there now")
}

func TestACheckpointThatIsGoneIsNotSaidToBeKept(t *testing.T) {
	w, old := stuckIssue(t, "", "[feedback]\nturns_per_day = 1")
	w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil)
	w.blocked(model.ReasonBudget, w.handle(w.say("bob", "Formal")))
	assert.NotContains(t, w.lastSaid(), "The work so far is kept")
	assert.Contains(t, w.lastSaid(), "that branch was deleted")
	assert.Contains(t, w.lastSaid(), old)
}
