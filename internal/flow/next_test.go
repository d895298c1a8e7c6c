package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// attempted adds an attempt to what is known of an issue.
func attempted(change func(*model.IssueMarker)) func(*flow.Facts) {
	return func(f *flow.Facts) {
		m := model.IssueMarker{Flow: model.FlowSmallJob, Status: model.PhaseWaiting, Waiting: model.ReasonAgent}
		change(&m)
		f.State.Flows = append(f.State.Flows, model.Posted[model.IssueMarker]{Marker: m, UpdatedAt: noon.Add(time.Hour), URL: "https://stop"})
	}
}

func waiting(*model.IssueMarker) {}

// opened is an attempt that opened pull request 7, which is in this state and, unless it is open, was closed two hours after noon.
func opened(state model.PullState, changes ...func(*flow.Facts)) func(*flow.Facts) {
	return func(f *flow.Facts) {
		attempted(func(m *model.IssueMarker) { m.Status, m.Pull = model.PhaseDone, 7 })(f)
		f.Pulls = []model.PullRef{{Number: 7, State: state, ClosedAt: noon.Add(2 * time.Hour)}}
		all(changes...)(f)
	}
}

// all are several changes.
func all(changes ...func(*flow.Facts)) func(*flow.Facts) {
	return func(f *flow.Facts) {
		for _, change := range changes {
			change(f)
		}
	}
}

func retried(f *flow.Facts)  { f.State.Retried = true }
func answered(f *flow.Facts) { f.Queued = 1 }
func untold(f *flow.Facts)   { f.Untold = 1 }

// relabelled adds the label so many hours after noon.
func relabelled(hours int) func(*flow.Facts) {
	return func(f *flow.Facts) { f.Issue.LabelChanges[0].At = noon.Add(time.Duration(hours) * time.Hour) }
}

// of makes the newest attempt, and the label, one of a flow.
func of(kind model.Flow, label string) func(*flow.Facts) {
	return func(f *flow.Facts) {
		f.Issue.Labels, f.Issue.LabelChanges[0].Label = []string{label}, label
		if n := len(f.State.Flows); n > 0 {
			f.State.Flows[n-1].Marker.Flow = kind
		}
	}
}

func TestWhatHappensNextOnAnIssue(t *testing.T) {
	midnight := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	until := func(until, now time.Time) func(*flow.Facts) {
		return all(attempted(func(m *model.IssueMarker) { m.Waiting, m.Until = model.ReasonBudget, until }), func(f *flow.Facts) { f.Now = now })
	}
	rewritten := attempted(func(m *model.IssueMarker) { m.Waiting = model.ReasonRewrite })
	recorded := attempted(func(m *model.IssueMarker) { m.Outbox = &model.Outbox{} })
	type row struct {
		change func(*flow.Facts)
		act    flow.Act
		flow   model.Flow
		why    string
	}
	must.Each(t, map[string]row{
		"closed":                      {func(f *flow.Facts) { f.Issue.Closed = true }, flow.Nothing, "", "issue 3 is closed"},
		"taken over":                  {func(f *flow.Facts) { f.Issue.Labels = append(f.Issue.Labels, "Agent:Ignore") }, flow.Nothing, "", `issue 3 has label "agent:ignore": a person has taken over`},
		"no label":                    {func(f *flow.Facts) { f.Issue.Labels = nil }, flow.Nothing, "", "issue 3 has no label that starts an agent"},
		"labeled":                     {func(*flow.Facts) {}, flow.Begin, model.FlowSmallJob, "it is labeled"},
		"labeled by who may not":      {func(f *flow.Facts) { f.May = func(string) bool { return false } }, flow.Nothing, "", flow.WhyNobody},
		"planned":                     {attempted(func(m *model.IssueMarker) { m.Status = model.PhasePlanned }), flow.Finish, model.FlowSmallJob, "done and recorded"},
		"failed":                      {attempted(func(m *model.IssueMarker) { m.Status, m.Waiting = model.PhaseFailed, "" }), flow.GoOn, model.FlowSmallJob, "had no result"},
		"it waits":                    {attempted(waiting), flow.Wait, model.FlowSmallJob, "waits for a person (agent_blocked), see https://stop"},
		"answered":                    {all(attempted(waiting), answered), flow.GoOn, model.FlowSmallJob, "somebody answered"},
		"retried":                     {all(attempted(waiting), retried), flow.GoOn, model.FlowSmallJob, "an operator asked"},
		"rewritten, and answered":     {all(rewritten, answered), flow.Wait, model.FlowSmallJob, "waits for an operator (history_rewrite)"},
		"rewritten, and retried":      {all(rewritten, retried), flow.GoOn, model.FlowSmallJob, "an operator asked"},
		"recorded, and it waits":      {recorded, flow.Wait, model.FlowSmallJob, "waits for a person"},
		"recorded, and retried":       {all(recorded, retried), flow.Finish, model.FlowSmallJob, "done and recorded"},
		"before the day ends":         {until(midnight, midnight.Add(-time.Second)), flow.Wait, model.FlowSmallJob, "issue 3 waits until 2026-01-03 00:00 UTC (budget_spent)"},
		"as the day ends":             {until(midnight, midnight), flow.GoOn, model.FlowSmallJob, "the waiting time is over"},
		"of a version without a time": {until(time.Time{}, midnight.AddDate(1, 0, 0)), flow.Wait, model.FlowSmallJob, "issue 3 waits for a person (budget_spent)"},
		"another label since":         {all(of("", labels.SmallJob), attempted(func(m *model.IssueMarker) { m.Flow = model.FlowImplementation }), answered), flow.GoOn, model.FlowSmallJob, "answered"},
		"an implementation goes on":   {all(attempted(waiting), of(model.FlowImplementation, labels.Design), answered), flow.GoOn, model.FlowImplementation, "answered"},

		"opened":                                 {opened(model.PullOpen), flow.Nothing, "", "pull request 7 was opened for issue 3"},
		"opened, and somebody asks":              {opened(model.PullOpen, untold), flow.Redirect, "", "continues in pull request 7"},
		"somebody asks, its state is unknown":    {opened(model.PullOpen, untold, func(f *flow.Facts) { f.Pulls = nil }), flow.LookUp, "", "the state of pull request 7"},
		"labeled again while it is open":         {opened(model.PullOpen, relabelled(2)), flow.Nothing, "", "pull request 7 is open"},
		"labeled while it was open, and closed":  {opened(model.PullClosed, relabelled(2)), flow.Nothing, "", "is closed; to start again, add the label again"},
		"closed, and labeled again":              {opened(model.PullClosed, relabelled(3)), flow.Begin, model.FlowSmallJob, "requested it again after pull request 7"},
		"closed, and retried":                    {opened(model.PullClosed, retried), flow.Begin, model.FlowSmallJob, "requested it again"},
		"closed, and only the edit is accepted":  {opened(model.PullClosed, retried, func(f *flow.Facts) { f.State.EditAccepted = true }), flow.Nothing, "", "was opened"},
		"closed, and somebody asks":              {opened(model.PullClosed, untold), flow.Redirect, "", "pull request 7 is closed"},
		"merged, and somebody asks":              {opened(model.PullMerged, untold), flow.Nothing, "", "is closed"},
		"a design is open":                       {opened(model.PullOpen, of(model.FlowDesign, labels.Design)), flow.Nothing, "", "is open"},
		"a design is merged":                     {opened(model.PullMerged, of(model.FlowDesign, labels.Design)), flow.Begin, model.FlowImplementation, "its design was merged with pull request 7"},
		"a design is closed":                     {opened(model.PullClosed, of(model.FlowDesign, labels.Design)), flow.Nothing, "", "is closed"},
		"a design is merged, its label is gone":  {opened(model.PullMerged, of(model.FlowDesign, labels.Design), func(f *flow.Facts) { f.Issue.Labels = nil }), flow.Nothing, "", "was opened"},
		"a roadmap is merged":                    {opened(model.PullMerged, of(model.FlowRoadmap, labels.Roadmap)), flow.Run, "", "its roadmap was merged"},
		"a roadmap is closed":                    {opened(model.PullClosed, of(model.FlowRoadmap, labels.Roadmap)), flow.Nothing, "", "is closed"},
		"the pull request that GitHub lost":      {opened(model.PullOpen, relabelled(3), func(f *flow.Facts) { f.Pulls = []model.PullRef{} }), flow.Nothing, "", "is closed"},
		"labeled again for another flow, closed": {opened(model.PullClosed, of(model.FlowDesign, labels.Bugfix), relabelled(3)), flow.Begin, model.FlowBugfix, "requested it again"},
	}, func(t *testing.T, c row) {
		f := flow.Facts{
			Issue:  model.Issue{Number: 3, Author: who("eve"), Labels: []string{labels.SmallJob}, LabelChanges: []model.LabelChange{{Label: labels.SmallJob, On: true, At: noon, By: who("alice")}}},
			Labels: labels, May: func(login string) bool { return login == "alice" }, Now: noon,
		}
		c.change(&f)
		s := flow.Next(f)
		assert.Equal(t, c.act, s.Act, s.Why)
		assert.Contains(t, s.Why, c.why)
		if c.flow != "" {
			assert.Equal(t, c.flow, s.Flow)
		}
	})
}
