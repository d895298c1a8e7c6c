package turn

import (
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Budget limits the cost of one pull request per day. Zero is no limit. Days are in UTC, whatever the runner's time zone.
type Budget struct {
	Turns         int
	CostUSD       float64
	RepositoryUSD float64 // of all pull requests and issues together
}

// Spend counts one more turn at this server time. If the budget does not allow it, why says so and opens is the start of
// the next day; a running turn may exceed the cost, which is known only afterwards.
func (b Budget) Spend(before model.Spent, now time.Time) (after model.Spent, why string, opens time.Time) {
	now = now.UTC()
	if day := now.Format(time.DateOnly); before.Day != day {
		before = model.Spent{Day: day}
	}
	after = before
	after.Turns++
	switch {
	case b.Turns > 0 && before.Turns >= b.Turns:
		why = fmt.Sprintf("%s today, and turns_per_day is %d", markdown.Count(before.Turns, "turn"), b.Turns)
	case b.CostUSD > 0 && before.CostUSD >= b.CostUSD:
		why = fmt.Sprintf("the agent cost $%.2f today, and [feedback] cost_per_day_usd is %.2f", before.CostUSD, b.CostUSD)
	default:
		return after, "", time.Time{}
	}
	return after, why, tomorrow(now)
}

// Together is Spend for all that was spent in the repository today.
func (b Budget) Together(spent float64, now time.Time) (why string, opens time.Time) {
	if b.RepositoryUSD == 0 || spent < b.RepositoryUSD {
		return "", time.Time{}
	}
	return fmt.Sprintf("agents cost $%.2f in this repository today, and [agent] cost_per_day_usd is %.2f", spent, b.RepositoryUSD), tomorrow(now)
}

// tomorrow is the start of the next day.
func tomorrow(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }
