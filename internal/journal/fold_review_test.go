package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// Who claims beside another one does not know what that one is going to cost.
func TestATurnAndAReviewBesideItBothCount(t *testing.T) {
	t.Parallel()
	day := func(turns int, cost float64) *model.Spent {
		return &model.Spent{Day: "2026-01-02", Turns: turns, CostUSD: cost}
	}
	turn := func(key rune, spent *model.Spent, own float64) model.TurnMarker {
		m := marker(model.PhaseDone)
		m.Key, m.Claim, m.Spent, m.CostUSD = digits(key), "c", spent, own
		return m
	}
	review := func(command string, spent, own *model.Spent) model.ReviewMarker {
		return model.ReviewMarker{State: model.ReviewDone, Command: command, Head: digits('1'), By: "carol", Spent: spent, Own: own}
	}
	type row struct {
		said []any
		want model.Spent
	}
	must.Each(t, map[string]row{
		"a review that was claimed before the turn, and ends after it": {[]any{review("r", day(3, 0.9), day(1, 0.4)), turn('5', day(4, 0.7), 0.2)}, *day(4, 1.1)},
		"neither has seen the other":                                   {[]any{review("r", day(3, 0.9), day(1, 0.4)), turn('5', day(3, 0.7), 0.2)}, *day(4, 1.1)},
		"a turn that was claimed before the review":                    {[]any{turn('5', day(3, 0.7), 0.2), review("r", day(4, 0.9), day(1, 0.4))}, *day(4, 1.1)},
		"one after the other":                                          {[]any{turn('5', day(3, 0.7), 0.2), review("r", day(4, 1.1), day(1, 0.4)), turn('6', day(5, 1.2), 0.1)}, *day(5, 1.2)},
		"a review of an older version":                                 {[]any{turn('5', day(3, 0.7), 0.2), review("r", day(4, 1.1), nil)}, *day(4, 1.1)},
		"another day":                                                  {[]any{review("r", &model.Spent{Day: "2026-01-01", Turns: 9}, &model.Spent{Day: "2026-01-01", Turns: 1}), turn('5', day(1, 0.2), 0.2)}, *day(1, 0.2)},
	}, func(t *testing.T, c row) {
		var comments []model.Comment
		for i, m := range c.said {
			comments = append(comments, said(t, journal.Codec{}, int64(i+1), m))
		}
		got := fold(comments...).Spent
		assert.Equal(t, c.want.Turns, got.Turns)
		assert.InDelta(t, c.want.CostUSD, got.CostUSD, 1e-9)
	})
}

func TestAReviewChargesItselfAndTheDay(t *testing.T) {
	t.Parallel()
	before := &model.Spent{Day: "2026-01-02", Turns: 3, CostUSD: 0.5}
	m := model.ReviewMarker{Spent: before, Own: &model.Spent{Day: "2026-01-02", Turns: 1}}
	m.Charge(0, 0.25)
	m.Charge(-1, 0)
	assert.Equal(t, model.Spent{Day: "2026-01-02", Turns: 2, CostUSD: 0.75}, *m.Spent)
	assert.Equal(t, model.Spent{Day: "2026-01-02", CostUSD: 0.25}, *m.Own)
	assert.Equal(t, 3, before.Turns, "what was read stays as it was")
}
