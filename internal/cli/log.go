package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

func logCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "list what MergeXO did: when, why, in which run, at what cost",
		Description: "Reads the comments of MergeXO on pull requests and issues, closed ones too. Each comment is one entry, in its latest state.",
		Flags: outFlags(
			pullFlag("list only the pull request or issue with this `NUMBER`"),
			&cli.StringFlag{Name: "since", Usage: "how far back to look: a `TIME` such as 12h, 7d or 2w, or a date such as 2026-01-31; by default 7d, or everything with --pr"},
			&cli.BoolFlag{Name: "cost", Usage: "sum up what agents cost, by day and number"},
			repoFlag,
		),
		Action: func(c *cli.Context) error {
			text := c.String("since")
			if text == "" && !c.IsSet("pr") {
				text = "7d"
			}
			since, err := sinceOf(text)
			if err != nil {
				return err
			}
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				entries, err := e.History(ctx, repo, c.Int("pr"), since(e.Now()))
				if c.Bool("cost") {
					return answer(p, c, err, map[string]any{"costs": model.CostsOf(entries), "cost_usd": model.CostOf(entries)}, func() error { return report.Costs(p.Out, entries) })
				}
				return answer(p, c, err, map[string]any{"log": entries}, func() error { return report.History(p.Out, entries) })
			})
		},
	}
}

// spans are the units of --since that are longer than an hour, in hours.
var spans = map[string]int{"d": 24, "w": 7 * 24}

// mostHours is a century, which bounds what --since may ask for: a duration of Go's holds three.
const mostHours = 100 * 365 * 24

// sinceOf turns what --since names into a time, by the time that it is now. "" is the beginning.
func sinceOf(text string) (func(now time.Time) time.Time, error) {
	if text == "" {
		return func(time.Time) time.Time { return time.Time{} }, nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return func(time.Time) time.Time { return at }, nil
		}
	}
	ago, err := time.ParseDuration(text)
	if hours, ok := spans[text[len(text)-1:]]; ok {
		var n int
		n, err = strconv.Atoi(text[:len(text)-1])
		if n > mostHours/hours {
			return nil, usagef("--since %s: that is before GitHub; leave it out and name one number with --pr to read everything", text)
		}
		ago = time.Duration(n*hours) * time.Hour
	}
	if err != nil || ago <= 0 {
		return nil, usagef("--since: want a time such as 12h, 7d or 2w, or a date such as 2026-01-31, got %q", text)
	}
	return func(now time.Time) time.Time { return now.Add(-ago) }, nil
}
