package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// answered is an approved pull request with a turn behind it, from which the history guard has its baseline.
func answered(t *testing.T) *world {
	t.Helper()
	w := newMerge(t)
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "please change")).Result)
	return w
}

// A pull request that is blocked stays so, though somebody has edited the comment that says it.
func TestMergeOfABlockedPullRequestWhoseBlockWasEdited(t *testing.T) {
	w := answered(t).landsNothing()
	w.rewritten()
	w.approve("alice")
	require.Equal(t, model.ResultBlocked, w.handle(w.delivery("pull_request")).Result)
	block := w.marked("block", "")
	require.Len(t, block, 1)
	w.edits("octo", block[0])
	w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
	assert.Equal(t, "open", w.badge())
}

// A rewritten head stops the automation, also where a command to merge is the first to see it.
func TestMergeOfARewrittenHeadBlocks(t *testing.T) {
	w := answered(t).landsNothing()
	w.rewritten()
	w.approve("alice")
	w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
	assert.Len(t, w.marked("block", ""), 1)
}

// A reset to the tip of an earlier merge takes off the branch what came since, which is a rewrite.
func TestMergeTipOfAnEarlierAttemptIsNoWayBack(t *testing.T) {
	w := newMerge(t)
	w.failsHalfWay()
	tip := w.tip()
	require.Equal(t, w.at("main"), w.bare("rev-parse", tip+"^"), "the head was moved to what would have landed")
	w.done(w.handle(w.remark("alice", "please change")))
	require.NotEqual(t, tip, w.tip())
	w.later(time.Minute)
	w.move(tip)
	w.gives(model.ResultBlocked, w.handle(w.delivery("pull_request")))
	assert.Len(t, w.marked("block", ""), 1)
}

// A comment of ours that somebody has edited stops merges as it stops turns.
func TestMergeWhoseRequestWasEditedBlocks(t *testing.T) {
	w := unapproved(t).landsNothing()
	said := w.marked("merge", "")
	require.Len(t, said, 1)
	w.edits("octo", said[0])
	w.approve("alice")
	w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
	assert.Len(t, w.marked("block", ""), 1)
}

// The work of a turn that an agent has finished and whose run has died comes before the merge that is asked for.
func TestMergeLeavesNoPlannedTurnBehind(t *testing.T) {
	w := newMerge(t).landsNothing() // what the turn makes is not what was approved
	ev := w.remark("alice", "please change")
	w.gate.when(diesAfter, isEdit) // to planned
	w.dies(ev)
	require.Len(t, w.marked("turn", "planned"), 1)
	w.command("carol", "/mergexo merge")
	w.handle(w.delivery("pull_request"))
	assert.Empty(t, w.marked("turn", "planned"), "the turn is not left half-way")
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Len(t, w.replies(), 1, "every comment gets one answer")
}
