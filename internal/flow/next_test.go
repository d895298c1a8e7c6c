package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
)

func TestAWaitEndsAtItsTimeOrWaitsForAPerson(t *testing.T) {
	midnight := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		until, now time.Time
		act        flow.Act
		why        string
	}{
		"before its time":                {midnight, midnight.Add(-time.Second), flow.Wait, "issue 3 waits until 2026-01-03 00:00 UTC (budget_spent)"},
		"at its time":                    {midnight, midnight, flow.GoOn, "the waiting time is over"},
		"of a version that kept no time": {time.Time{}, midnight.AddDate(1, 0, 0), flow.Wait, "issue 3 waits for a person (budget_spent)"},
	} {
		s := flow.Next(flow.Facts{
			Issue:  model.Issue{Number: 3, Author: model.Actor{Login: "alice"}, Labels: []string{"go"}, LabelChanges: []model.LabelChange{{Label: "go", On: true, By: model.Actor{Login: "alice"}}}},
			State:  model.State{Flows: []model.Posted[model.IssueMarker]{{Marker: model.IssueMarker{Status: model.PhaseWaiting, Waiting: model.ReasonBudget, Until: c.until}}}},
			Labels: flow.Labels{SmallJob: "go"}, May: func(string) bool { return true }, Now: c.now,
		})
		assert.Equal(t, c.act, s.Act, name)
		assert.Contains(t, s.Why, c.why, name)
	}
}

func TestAnIssueThatAsksForNothing(t *testing.T) {
	for why, issue := range map[string]model.Issue{
		"issue 3 is closed": {Number: 3, Closed: true, Labels: []string{"go"}},
		`issue 3 has label "no": a person has taken over`: {Number: 3, Labels: []string{"go", "no"}},
		"issue 3 has no label that starts an agent":       {Number: 3},
	} {
		s := flow.Next(flow.Facts{Issue: issue, Labels: flow.Labels{SmallJob: "go", Ignore: "no"}, May: func(string) bool { return true }})
		assert.Equal(t, []any{flow.Nothing, why}, []any{s.Act, s.Why})
	}
}
