package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestAnIssueOverTheDaysBudgetGoesOnTheNextDay(t *testing.T) {
	w := newIssue(t, "", "[feedback]\nturns_per_day = 1").whoseAgent("exit")
	ev := w.label("alice", smallJob)
	require.Equal(t, model.ResultFailed, w.handle(ev).Result)
	w.agent = "job"
	assert.Contains(t, w.blocked(model.ReasonBudget, w.handle(ev)).Reason, "the block ends at 2026-01-03 00:00 UTC; it then continues automatically")
	assert.Contains(t, w.lastSaid(), "**Waiting for the next day: today's budget is used up**")
	count := len(w.comments())
	w.later(11 * time.Hour)
	assert.Contains(t, w.handle(ev).Reason, "issue 2 waits until 2026-01-03 00:00 UTC (budget_spent)")
	w.rests()
	assert.Len(t, w.comments(), count, "said once")
	assert.Equal(t, 1, w.calls())
	board := w.board()
	require.Len(t, board.Needs(), 1)
	assert.Equal(t, "raise today's budget, or wait", board.Needs()[0].Headline)
	w.later(time.Hour)
	w.sweep()
	require.Len(t, w.pulls(), 1, w.logged.String())
	w.rests()
	assert.Equal(t, 2, w.calls())
}

func TestCommentsThatArriveMeanwhileKeepToTheBudget(t *testing.T) {
	each(t, map[string]int{"turns_per_day = 2": 2, "cost_per_day_usd = 0.5": 1}, func(t *testing.T, setting string, calls int) {
		w := newIssue(t, "", "[feedback]\n"+setting).whoseAgent("meanwhile+costs+told")
		ev := w.label("alice", smallJob)
		w.later(time.Minute)
		w.meanwhile(deed{"bob", "POST", w.thread("/comments"), `{"body": "Louder"}`})
		w.done(w.handle(ev))
		assert.Equal(t, calls, w.calls())
		assert.Len(t, w.pulls(), 1)
		w.handle(ev)
		assert.Equal(t, calls == 1, strings.Contains(w.lastSaid(), "continues in [#3]"))
	})
}
