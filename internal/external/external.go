// Package external decides what happens to a fork's pull request that a maintainer's label accepts, and holds the texts about it.
// Its commits come from outside, so every decision depends on one question: is the head still the one that an authorized person
// reviewed?
package external

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Policy is what the settings say about pull requests of forks.
type Policy struct {
	Enabled     bool
	Label       string // that admits a pull request
	Ignore      string // label with which a person takes over; "": none
	Fix         bool   // whether a command for it is set
	MaxRounds   int    // of fixes
	MaxAttempts int    // per step
}

// Facts are what the decision about a fork's pull request depends on.
type Facts struct {
	Pull   model.Pull
	State  model.State
	Policy Policy
	// Operator reports whether somebody may admit a pull request.
	Operator func(login string) bool
}

// Act is the next action on a fork's pull request.
type Act string

// The acts. The caller first checks whether another run is already working on an open admission.
const (
	Nothing Act = "nothing"
	LetIn   Act = "let_in"  // mirror the head and evaluate it
	GoOn    Act = "go_on"   // with From: what a dead run left, or an approved one that is not merged yet
	GiveUp  Act = "give_up" // From used up its attempts
	Void    Act = "void"    // the head or the base has changed: say so
	Relabel Act = "relabel" // it is unknown which head the label was for, or whether this label was meant: ask for it again
	// Finish carries out what is decided and posted, as From says, and removes the label: otherwise the pull request would
	// be closed again whenever a person reopens it.
	Finish Act = "finish"
)

// Step is the next act, and its reason.
type Step struct {
	Act Act
	Why string // without a full stop
	// By and At are the label's.
	By   string
	At   time.Time
	From *model.Posted[model.ExternalMarker] // the newest admission; nil for none
	// Marker goes into the comment of LetIn, GiveUp, Void and Relabel, apart from Repo and the run's own fields. With it a
	// Void and a Relabel are posted only once.
	Marker model.ExternalMarker
}

// Labelled reports whether the label is on that admits a pull request, added by somebody who may do so.
func Labelled(f Facts) bool { return labelGate(f).Met }

// Next decides the next step on a fork's pull request. A label counts once: its result stands until the label is added
// again.
func Next(f Facts) Step {
	label, _ := f.Pull.LabelledBy(f.Policy.Label)
	s := Step{Act: Nothing, By: label.By.Login, At: label.At, From: f.State.External()}
	for _, g := range admission(f) {
		if !g.Met {
			s.Why = g.Evidence
			return s
		}
	}
	return bound(f, s, label)
}

// bound handles a new label.
func bound(f Facts, s Step, label model.LabelChange) Step {
	switch {
	case s.From == nil || s.From.Marker.State == model.ExternalLinked: // not admitted before
	case s.From.Marker.At.Equal(s.At):
		return again(f, s)
	case s.From.Marker.At.After(s.At):
		s.Why = "a newer label than GitHub shows has already been handled, see " + s.From.URL
		return s
	}
	s.Marker = model.ExternalMarker{
		Number: f.Pull.Number, State: model.ExternalLetIn, Head: f.Pull.HeadSHA, At: s.At, By: s.By, Label: f.Policy.Label, Base: f.Pull.BaseRef,
	}
	if why, reason := unsure(f, label); why != "" {
		s.Act, s.Why, s.Marker.State, s.Marker.Reason = Relabel, why, model.ExternalVoid, reason
		return s
	}
	s.Act, s.Why = LetIn, fmt.Sprintf("accepted by %s with label %q, at %s", s.By, f.Policy.Label, markdown.Short(f.Pull.HeadSHA))
	return s
}

// Reasons in the marker of a Relabel.
const (
	gone    = "fork_gone"     // the fork is no longer accessible
	changed = "label_changed" // the label itself was changed
	moved   = "base_changed"  // the pull request was moved to another base
)

// unsure says why the label may not have been for this head, and the marker's reason for that; "": it was. GitHub reports a
// fork's pushes in whole seconds, so a push in the same second may have come after the label. A renamed label appears to
// have been added by its new name, perhaps renamed by somebody who may not admit; and it may be created in the second of
// its adding. The author may change the base, and so where the pull request lands and by whose settings.
func unsure(f Facts, label model.LabelChange) (why, reason string) {
	at, pushed, edited := label.At.Truncate(time.Second), f.Pull.ForkPushedAt.Truncate(time.Second), label.LabelAt.Truncate(time.Second)
	based := f.Pull.BaseChangedAt.Truncate(time.Second)
	unknown := f.Pull.ForkDeleted || pushed.IsZero()
	switch {
	case unknown && !seen(f, label.At):
		return "GitHub no longer shows when the fork was pushed to, so the label may be for another head", gone
	case edited.After(at):
		return fmt.Sprintf("the label itself was changed at %s and added at %s, so it may have meant something else", moment(edited), moment(at)), changed
	case !based.IsZero() && !based.Before(at):
		return fmt.Sprintf("the base was changed to %q at %s and the label was added at %s, so it may be for another branch", f.Pull.BaseRef, moment(based), moment(at)), moved
	case !unknown && !pushed.Before(at):
		return fmt.Sprintf("the fork was pushed to at %s and the label was added at %s, so it may be for another head", moment(pushed), moment(at)), ""
	}
	return "", ""
}

// seen reports whether the head of a deleted fork was admitted before, or the label was asked for by name: a push may have
// come just before the deletion.
func seen(f Facts, at time.Time) bool {
	return slices.ContainsFunc(f.State.Externals, func(e model.Posted[model.ExternalMarker]) bool {
		m := e.Marker
		asked := m.State == model.ExternalVoid && m.Moved == ""
		return m.Head == f.Pull.HeadSHA && m.State != model.ExternalLinked && (!asked || m.Reason == gone && e.At.Before(at))
	})
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// again is what remains to be done for a label that was handled already.
func again(f Facts, s Step) Step {
	p, m := f.Pull, s.From.Marker
	request := merging(f.State, m)
	state := m.State.Words()
	renew := fmt.Sprintf("; add label %q again, see %s", f.Policy.Label, s.From.URL)
	switch {
	case m.State == model.ExternalVoid:
		s.Why = "the label may be for another head" + renew
	case request != nil && request.Marker.State == model.MergeDone:
		s.Why = "it is merged, see " + request.URL
	case m.Head != p.HeadSHA:
		s.Act, s.Why = Void, fmt.Sprintf("%s was accepted, but the head is now %s", m.Head, p.HeadSHA)
	case m.Open() && m.Base != p.BaseRef:
		s.Act, s.Why = Void, fmt.Sprintf("accepted for branch %q, but the base is now %q", m.Base, p.BaseRef)
	case request != nil && request.Marker.State == model.MergeFailed:
		s.Why = fmt.Sprintf("its merge failed (%s), see %s; a merge command or the label, added again, starts another one", request.Marker.Reason, request.URL)
	case m.State == model.ExternalRejected || m.State == model.ExternalLanded:
		s.Act, s.Why = Finish, "it is decided but not closed yet, see "+s.From.URL
	case m.State != model.ExternalApproved && m.Open() && m.Attempt >= f.Policy.MaxAttempts:
		s.Act, s.Why = GiveUp, fmt.Sprintf("%d of %d attempts made", m.Attempt, f.Policy.MaxAttempts)
	case m.Open():
		s.Act, s.Why = GoOn, fmt.Sprintf("%s since %s", state, s.From.URL)
	default:
		s.Why = state + renew
	}
	if s.Act == Void || s.Act == GiveUp {
		m.Run, m.RunAttempt, m.RunURL, m.Expires, m.Claim = 0, 0, "", time.Time{}, ""
		s.Marker = m
	}
	switch s.Act {
	case Void:
		s.Marker.State, s.Marker.Moved = model.ExternalVoid, p.HeadSHA
	case GiveUp:
		s.Marker.State, s.Marker.Reason = model.ExternalFailed, "every run that started it was interrupted"
	}
	return s
}

// LabelLeft reports whether the label is still on although its result should have removed it: a run died before that. While a
// person has taken over, it stays.
func LabelLeft(f Facts) bool {
	label, on := f.Pull.LabelledBy(f.Policy.Label)
	from := f.State.External()
	if !on || from == nil || !from.Marker.At.Equal(label.At) || !f.Policy.Enabled || !f.Pull.CrossRepo {
		return false
	}
	if slices.ContainsFunc(standing(f), func(g model.Gate) bool { return !g.Met }) {
		return false
	}
	switch from.Marker.State {
	case model.ExternalVoid, model.ExternalWanting, model.ExternalFailed:
		return true
	case model.ExternalRejected, model.ExternalLanded: // an open one is closed first, see Finish
		return f.Pull.State != model.PullOpen
	}
	return false
}

// merging is the newest request to merge what this admission made; nil for none. A request is never older than its label.
func merging(st model.State, m model.ExternalMarker) *model.Posted[model.MergeMarker] {
	r := st.Merge()
	if r == nil || m.Mirror == "" || r.Marker.Mirror != m.Mirror || r.Marker.MirrorSHA != m.Tip || r.Marker.At.Before(m.At) {
		return nil
	}
	return r
}

// Decide is the result of an admission, given the evaluation of its tip; without evaluation the label decides. A fix starts
// the next round.
func Decide(p Policy, m model.ExternalMarker, j model.EvaluationResult) model.ExternalMarker {
	m.Verdict, m.Reason = j.Verdict, j.Reason
	switch {
	case j.Verdict == model.VerdictApprove:
		m.State = model.ExternalApproved
	case j.Verdict == model.VerdictReject:
		m.State = model.ExternalRejected
	case j.Verdict == model.VerdictFix && p.Fix && m.Round < p.MaxRounds:
		m.State, m.Round, m.Attempt = model.ExternalFix, m.Round+1, 1
	case j.Verdict == model.VerdictFix:
		m.State = model.ExternalWanting
	default:
		m.State, m.Reason = model.ExternalFailed, fmt.Sprintf("the verdict %q is unknown", j.Verdict)
	}
	return m
}

// Evidence replaces the approvals that the settings demand: the label, and the evaluation of the tip.
func Evidence(m model.ExternalMarker) string {
	if m.Evaluated {
		return fmt.Sprintf("accepted by %s with label %q, and the evaluation approved %s", m.By, m.Label, markdown.Short(m.Tip))
	}
	return fmt.Sprintf("accepted by %s with label %q, which covers %s", m.By, m.Label, markdown.Short(m.Head))
}
