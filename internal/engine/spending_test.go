package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestADaysTurnsAreCountedAndTheNextDayGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "[feedback]\nturns_per_day = 2")
	w.agent = "exit"
	w.review("alice", "One.")
	require.Equal(t, model.ResultFailed, w.handle(w.delivery("pull_request_review_comment")).Result)
	w.agent = "answer"
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result, "an attempt counts")
	w.settled(1, 1, 1)

	w.review("alice", "Two.")
	ev := w.delivery("pull_request_review_comment")
	rep := w.handle(ev)
	require.Equal(t, model.ResultBlocked, rep.Result, rep.Reason)
	assert.Equal(t, "budget_spent", rep.BlockedReason)
	assert.Contains(t, rep.Reason, "the block ends at 2026-01-03 00:00 UTC")
	require.Len(t, w.marked("block", ""), 1)
	assert.Contains(t, w.marked("block", "")[0]["body"], "2 turns today, and turns_per_day is 2")
	assert.Equal(t, model.ResultBlocked, w.handle(ev).Result)
	assert.Len(t, w.marked("block", ""), 1, "it is said once")
	w.settled(1, 1, 1)

	w.later(12 * time.Hour)
	rep = w.handle(ev)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.settled(2, 2, 2)
	w.review("alice", "Three.")
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
	w.review("alice", "Four.")
	require.Equal(t, model.ResultBlocked, w.handle(w.delivery("pull_request_review_comment")).Result)
	assert.Len(t, w.marked("block", ""), 2, "another day, another block")

	w.talk("carol", "/mergexo unblock")
	rep = w.handle(w.delivery("issue_comment"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.settled(4, 4, 4)
}

func TestADaysCostIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "[feedback]\ncost_per_day_usd = 1.50")
	w.agent = "answer+costs"
	w.review("alice", "One.")
	for range 2 {
		require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
		w.review("alice", "And this.")
	}
	rep := w.handle(w.delivery("pull_request_review_comment"))
	require.Equal(t, model.ResultBlocked, rep.Result, rep.Reason)
	assert.Contains(t, rep.Reason, "the agent cost $1.50 today, and cost_per_day_usd is 1.50")
	assert.Equal(t, 2, w.calls())
}
