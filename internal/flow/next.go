package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Act is the next action on an issue.
type Act string

// The acts.
const (
	Nothing  Act = "nothing"
	Wait     Act = "wait"     // for a person's comment
	Begin    Act = "begin"    // a first attempt, on a new branch
	GoOn     Act = "go_on"    // another attempt, from the last one's work
	Finish   Act = "finish"   // finish a planned result: no agent is needed
	Redirect Act = "redirect" // send commenters to the pull request
	Run      Act = "run"      // work off the roadmap that was merged
	LookUp   Act = "look_up"  // look up the pull request of the newest receipt, then decide again
)

// Step is the next act, and its reason.
type Step struct {
	Act  Act
	Why  string
	Flow model.Flow
	// From is the newest attempt; nil before the first.
	From *model.Posted[model.IssueMarker]
}

// Facts are what a step depends on.
type Facts struct {
	Issue  model.Issue
	State  model.State
	Labels Labels
	// May reports whether somebody may start an agent; logins are in lower case.
	May func(login string) bool
	// Queued is how many comments by such people are pending.
	Queued int
	// Untold is how many of them were not answered yet with where the work goes on.
	Untold int
	// Pulls are the pull requests from the newest receipt's branch; nil: unknown.
	Pulls []model.PullRef
	// Now is when the issue was read, on GitHub's clock.
	Now time.Time
}

// Next decides the next step on an issue.
func Next(f Facts) Step {
	s := f.next()
	if s.Act != Begin && s.Act != GoOn {
		return s
	}
	_, label, _ := Of(f.Issue.Labels, f.Labels)
	if ok, why := MayStart(f.Issue, label, f.May); !ok {
		return Step{Act: Nothing, Why: why, From: s.From}
	}
	return s
}

func (f Facts) next() Step {
	s := Step{Act: Nothing}
	if n := len(f.State.Flows); n > 0 {
		s.From = &f.State.Flows[n-1]
	}
	flow, _, labelled := Of(f.Issue.Labels, f.Labels)
	switch {
	case f.Issue.Closed:
		return s.as(Nothing, "issue %d is closed", f.Issue.Number)
	case model.Named(f.Issue.Labels, f.Labels.Ignore):
		return s.as(Nothing, "issue %[2]d has label %[1]q: a person has taken over", f.Labels.Ignore, f.Issue.Number)
	case s.From != nil && s.From.Marker.Status == model.PhasePlanned:
		s.Flow = s.From.Marker.Flow
		return s.as(Finish, "the work is done and recorded")
	case s.From != nil && s.From.Marker.Status == model.PhaseDone:
		return f.opened(s, flow, labelled)
	case !labelled && f.Issue.Item != "":
		return s.as(Nothing, "issue %d is item %s of the roadmap of issue %d, which adds the label once everything that the item needs is done", f.Issue.Number, f.Issue.Item, f.Issue.Roadmap)
	case !labelled:
		return s.as(Nothing, "issue %d has no label that starts an agent", f.Issue.Number)
	case s.From == nil:
		s.Flow = flow
		return s.as(Begin, "it is labeled")
	}
	return f.unfinished(s, flow)
}

// unfinished handles an issue whose newest attempt opened no pull request.
func (f Facts) unfinished(s Step, flow model.Flow) Step {
	m := s.From.Marker
	s.Flow = flow
	if m.Flow == model.FlowImplementation && flow == model.FlowDesign { // the label that started the flow
		s.Flow = model.FlowImplementation
	}
	switch {
	case ForOperators(m.Waiting) && !f.State.Retried:
		return s.as(Wait, "issue %d waits for an operator (%s), see %s; /mergexo retry continues", f.Issue.Number, m.Waiting, s.From.URL)
	case !m.Waits():
		return s.as(GoOn, "the last attempt had no result")
	case m.Outbox != nil && (f.State.Retried || f.Queued > 0): // new comments come before the pull request
		s.Flow = m.Flow
		return s.as(Finish, "the work is done and recorded")
	case f.Queued > 0:
		return s.as(GoOn, "somebody answered")
	case f.State.Retried:
		return s.as(GoOn, "an operator asked for another attempt")
	case !m.Until.IsZero() && f.Now.Before(m.Until):
		return s.as(Wait, "issue %d waits until %s (%s), see %s; /mergexo retry continues at once", f.Issue.Number, m.Until.UTC().Format("2006-01-02 15:04 MST"), m.Waiting, s.From.URL)
	case !m.Until.IsZero():
		return s.as(GoOn, "the waiting time is over")
	}
	return s.as(Wait, "issue %d waits for a person (%s), see %s; a comment there continues, or /mergexo retry", f.Issue.Number, m.Waiting, s.From.URL)
}

// opened handles an issue with a pull request.
func (f Facts) opened(s Step, flow model.Flow, labelled bool) Step {
	m := s.From.Marker
	retried := f.State.Retried && !f.State.EditAccepted
	anew := labelled && (retried || f.labelledSince(s.From.UpdatedAt))
	design := labelled && m.Flow == model.FlowDesign && flow == model.FlowDesign
	roadmap := labelled && m.Flow == model.FlowRoadmap && flow == model.FlowRoadmap
	if roadmap && f.State.Roadmap != nil {
		return s.as(Run, "its roadmap was merged with pull request %d", m.Pull)
	}
	if f.Untold == 0 && !anew && !design && !roadmap {
		return s.as(Nothing, "pull request %d was opened for issue %d", m.Pull, f.Issue.Number)
	}
	if f.Pulls == nil {
		return s.as(LookUp, "it depends on the state of pull request %d", m.Pull)
	}
	at := slices.IndexFunc(f.Pulls, func(p model.PullRef) bool { return p.Number == m.Pull })
	switch {
	case at >= 0 && f.Pulls[at].State == model.PullOpen && f.Untold > 0:
		return s.as(Redirect, "the work continues in pull request %d", m.Pull)
	case at >= 0 && f.Pulls[at].State == model.PullOpen:
		return s.as(Nothing, "pull request %d is open for issue %d", m.Pull, f.Issue.Number)
	case design && at >= 0 && f.Pulls[at].State == model.PullMerged:
		s.Flow = model.FlowImplementation
		return s.as(Begin, "its design was merged with pull request %d", m.Pull)
	case roadmap && at >= 0 && f.Pulls[at].State == model.PullMerged:
		return s.as(Run, "its roadmap was merged with pull request %d", m.Pull)
	case labelled && (retried || at >= 0 && f.labelledSince(f.Pulls[at].ClosedAt)):
		s.Flow = flow
		return s.as(Begin, "somebody requested it again after pull request %d", m.Pull)
	case at >= 0 && f.Pulls[at].State == model.PullClosed && f.Untold > 0:
		return s.as(Redirect, "pull request %d is closed", m.Pull)
	}
	return s.as(Nothing, "pull request %d of issue %d is closed; to start again, add the label again, or /mergexo retry", m.Pull, f.Issue.Number)
}

// labelledSince reports whether the flow's label was added after a time.
func (f Facts) labelledSince(at time.Time) bool {
	_, label, ok := Of(f.Issue.Labels, f.Labels)
	if !ok {
		return false
	}
	change, ok := Labelled(f.Issue, label)
	return ok && change.At.After(at)
}

func (s Step) as(act Act, why string, args ...any) Step {
	s.Act, s.Why = act, fmt.Sprintf(why, args...)
	return s
}
