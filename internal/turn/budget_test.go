package turn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/turn"
)

func TestADaysBudget(t *testing.T) {
	evening := time.Date(2026, 1, 2, 23, 59, 59, 0, time.FixedZone("", -3600)) // which is the 3rd in UTC
	midnight := time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC)
	type row struct {
		budget turn.Budget
		before model.Spent
		after  model.Spent
		why    string
	}
	must.Each(t, map[string]row{
		"the first":            {turn.Budget{Turns: 2}, model.Spent{}, model.Spent{Day: "2026-01-03", Turns: 1}, ""},
		"the last":             {turn.Budget{Turns: 2}, model.Spent{Day: "2026-01-03", Turns: 1}, model.Spent{Day: "2026-01-03", Turns: 2}, ""},
		"one too many":         {turn.Budget{Turns: 2}, model.Spent{Day: "2026-01-03", Turns: 2}, model.Spent{Day: "2026-01-03", Turns: 3}, "2 turns today, and turns_per_day is 2"},
		"yesterday's":          {turn.Budget{Turns: 2, CostUSD: 1}, model.Spent{Day: "2026-01-02", Turns: 9, CostUSD: 9}, model.Spent{Day: "2026-01-03", Turns: 1}, ""},
		"no limit":             {turn.Budget{}, model.Spent{Day: "2026-01-03", Turns: 900, CostUSD: 9}, model.Spent{Day: "2026-01-03", Turns: 901, CostUSD: 9}, ""},
		"a cost not reached":   {turn.Budget{CostUSD: 1}, model.Spent{Day: "2026-01-03", Turns: 1, CostUSD: 0.99}, model.Spent{Day: "2026-01-03", Turns: 2, CostUSD: 0.99}, ""},
		"a cost that is spent": {turn.Budget{CostUSD: 1}, model.Spent{Day: "2026-01-03", Turns: 1, CostUSD: 1.2}, model.Spent{Day: "2026-01-03", Turns: 2, CostUSD: 1.2}, "the agent cost $1.20 today, and [feedback] cost_per_day_usd is 1.00"},
	}, func(t *testing.T, c row) {
		after, why, opens := c.budget.Spend(c.before, evening)
		assert.Equal(t, c.after, after)
		assert.Equal(t, c.why, why)
		want := midnight
		if c.why == "" {
			want = time.Time{}
		}
		assert.Equal(t, want, opens)
	})
}

func TestADaysBudgetOfTheRepository(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for spent, want := range map[float64]string{0: "", 1.99: "", 2: "agents cost $2.00 in this repository today, and [agent] cost_per_day_usd is 2.00"} {
		why, opens := turn.Budget{CostUSD: 1, RepositoryUSD: 2}.Together(spent, noon)
		assert.Equal(t, want, why)
		assert.Equal(t, want == "", opens.IsZero())
	}
	why, _ := turn.Budget{CostUSD: 1}.Together(1000, noon)
	assert.Empty(t, why, "no limit")
}
