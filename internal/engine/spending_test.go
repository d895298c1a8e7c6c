package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestADaysTurnsAreCountedAndTheNextDayGoesOn(t *testing.T) {
	w := newWorld(t, "", "[feedback]\nturns_per_day = 2").whoseAgent("exit")
	require.Equal(t, model.ResultFailed, w.handle(w.remark("alice", "One.")).Result)
	w.agent = "answer"
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result, "an attempt counts")
	w.settled(1, 1, 1)

	ev := w.remark("alice", "Two.")
	assert.Contains(t, w.blocked("budget_spent", w.handle(ev)).Reason, "the block ends at 2026-01-03 00:00 UTC")
	assert.Contains(t, w.saidOnce("block", ""), "2 turns today, and turns_per_day is 2")
	assert.Equal(t, model.ResultBlocked, w.handle(ev).Result)
	assert.Len(t, w.marked("block", ""), 1, "it is said once")
	w.settled(1, 1, 1)

	w.later(12 * time.Hour)
	w.done(w.handle(ev))
	w.settled(2, 2, 2)
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Three.")).Result)
	require.Equal(t, model.ResultBlocked, w.handle(w.remark("alice", "Four.")).Result)
	assert.Len(t, w.marked("block", ""), 2, "another day, another block")

	w.done(w.handle(w.say("carol", "/mergexo unblock")))
	w.settled(4, 4, 4)
}

// What agents cost on one number counts for all others, and whoever an operator lets go on is not asked about it again that day.
func TestADaysCostOfTheRepositoryIsCounted(t *testing.T) {
	w := newWorld(t, "", "cost_per_day_usd = 1.50").whoseAgent("answer+costs")
	var ev model.Event
	comment := func(number int, text string) model.Report {
		w.number = number
		ev = w.say("alice", text)
		return w.handle(ev)
	}
	require.Equal(t, model.ResultDone, comment(1, "One.").Result)
	other := w.second("agent/second", "second.txt")
	require.Equal(t, model.ResultDone, comment(other, "Two.").Result, "0.75 is below the limit")
	rep := w.gives(model.ResultBlocked, comment(1, "Three."))
	assert.Contains(t, rep.Reason, "agents cost $1.50 in this repository today, and [agent] cost_per_day_usd is 1.50")
	assert.Contains(t, rep.Reason, "the block ends at 2026-01-03 00:00 UTC")
	assert.Equal(t, 2, w.calls())

	require.Equal(t, model.ResultDone, w.handle(w.say("carol", "/mergexo unblock")).Result)
	require.Equal(t, model.ResultDone, comment(1, "Four.").Result, "an operator has let it go on")
	require.Equal(t, model.ResultBlocked, comment(other, "Five.").Result, "and no other one")
	w.later(12 * time.Hour)
	w.done(w.handle(ev))
	all := must.Get(w.engine().History(context.Background(), repo, 0, time.Time{}))(t)
	assert.Equal(t, []model.DayCost{
		{Day: "2026-01-03", Number: other, Entries: 1, CostUSD: 0.75},
		{Day: "2026-01-02", Number: 1, Entries: 3, CostUSD: 2.25}, {Day: "2026-01-02", Number: other, Entries: 1, CostUSD: 0.75},
	}, model.CostsOf(all))
}

// costs says that the dashboard and the log know what all that was done on the number has cost.
func (w *world) costs(want float64) {
	w.t.Helper()
	b, board, log := w.board(), 0.0, 0.0
	turns := []model.BoardTurn{}
	for _, p := range b.Pulls {
		if p.Number == w.number {
			turns = append(turns, p.Turns...)
		}
	}
	for _, i := range b.Issues {
		if i.Number == w.number {
			turns = append(turns, i.Turns...)
		}
	}
	for _, t := range turns {
		board += t.CostUSD
	}
	entries := must.Get(w.engine().History(context.Background(), repo, w.number, time.Time{}))(w.t)
	for _, e := range entries {
		log += e.CostUSD
	}
	assert.InDelta(w.t, want, board, 0.001)
	assert.InDelta(w.t, want, log, 0.001)
}

func TestWhatWasPaidOnceIsCountedOnce(t *testing.T) {
	t.Parallel()
	t.Run("work that waited for its pull request", func(t *testing.T) {
		w := newIssue(t).whoseAgent("job+costs")
		w.pullsByActions(false)
		require.Equal(t, model.ReasonNoPull, w.handle(w.label("alice", smallJob)).BlockedReason)
		require.Equal(t, model.ReasonNoPull, w.handle(w.say("carol", "/mergexo retry")).BlockedReason)
		w.pullsByActions(true)
		require.Equal(t, model.ResultDone, w.handle(w.say("carol", "/mergexo retry")).Result)
		require.Equal(t, 1, w.calls())
		w.costs(0.75)
	})
	t.Run("a review before a turn that says no cost", func(t *testing.T) {
		w := newWorld(t).whoseAgent("reviews+costs")
		w.finds(threeFindings())
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo review").Result)
		w.agent = "answer"
		require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Change it.")).Result)
		w.costs(0.75)
	})
}
