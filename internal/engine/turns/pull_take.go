package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// feedbackOf returns the comments and failed workflow runs of a turn, as far as they still exist.
func feedbackOf(p *Pull, events []string) []model.Comment {
	found, missing := turn.Find(p.Snap, events)
	return append(found, turn.Recall(p.Event.Number, missing, p.Memory.Runs)...)
}

// nextTurn decides which turn is taken up: one that is planned already, one whose agent did not come to an end, or a new one.
func nextTurn(p *Pull, pending []model.Comment, dead []model.Posted[model.TurnMarker]) (model.TurnMarker, []model.Comment) {
	for _, d := range dead {
		if d.Marker.Phase == model.PhasePlanned && !thread.Answered(p.Thread, d.Marker) {
			return Sign(p.Attempt, d.Marker), feedbackOf(p, d.Marker.Events)
		}
	}
	if len(pending) == 0 {
		return model.TurnMarker{}, nil
	}
	now, later := turn.TakeUp(pending, p.State, p.Event.Number, p.Policy)
	head := p.Snap.Pull.HeadSHA
	for _, d := range wanted(p, dead) {
		fits := d.Start == head || p.Earlier != "" && d.Start == p.Earlier
		if found, missing := turn.Find(p.Snap, d.Events); fits && len(missing) == 0 && thread.Within(found, pending) {
			if d.Unsaid != nil {
				return Sign(p.Attempt, d), found
			}
			now, head = found, d.Start
			later = slices.DeleteFunc(slices.Clone(pending), func(c model.Comment) bool { return thread.Within([]model.Comment{c}, found) })
		}
	}
	events := turn.Keys(p.Snap.Pull.Number, now)
	m := model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: p.Snap.Pull.Number, Key: journal.TurnKey(p.Snap.Pull.Number, head, events),
		Phase: model.PhaseStarted, Events: events, Start: head, Session: LastSession(p.Attempt).Session,
		Lifts: p.State.Lifted, Delegates: p.State.Delegates,
	}
	spent, _, _ := thread.Budget(p.Thread).Spend(p.State.Spent, p.ServerNow())
	m.Spent = &spent
	mark := turn.Since(p.Snap, later)
	for _, open := range p.State.Requests() {
		if open.UpdatedAt.Before(mark.At) {
			mark = model.Mark{At: open.UpdatedAt} // a request that waits is read again, however much is said after it
		}
	}
	if failed := turn.FailedMerge(p.Snap.Pull, p.State); failed != nil && failed.UpdatedAt.Before(mark.At) {
		mark = model.Mark{At: failed.UpdatedAt} // the agent is told of it for as long as the head stays
	}
	if open := p.State.Review(); open != nil && open.Marker.Open() && open.UpdatedAt.Before(mark.At) {
		mark = model.Mark{At: open.UpdatedAt}
	}
	m.Since, m.Seen = mark.At, mark.ID
	m.Attempt = turn.Attempts(p.State, m.Key) + 1
	return Sign(p.Attempt, m), now
}

// take claims the next turn and brings it to its end.
func take(ctx context.Context, p *Pull, pending []model.Comment, dead []model.Posted[model.TurnMarker]) (again bool, err error) {
	m, feedback := nextTurn(p, pending, dead)
	if m.Key == "" { // what the dead claims were about is no longer pending
		return true, Clear(ctx, p.Attempt, dead)
	}
	if m.Attempt > turn.MaxAttempts {
		return false, exhausted(ctx, p, m)
	}
	if m.NeedsAgent() {
		why, opens, err := thread.Overspent(ctx, p.Thread, !ExpectsHandoff(p.Attempt))
		if err != nil {
			return false, err
		}
		if why != "" {
			return false, p.Block(ctx, model.BlockMarker{Reason: model.ReasonBudget, Observed: p.Snap.Pull.HeadSHA, Until: opens}, why)
		}
		if err := work.Overtime(p.Work); err != nil {
			return false, err
		}
		if !p.Phase.RunsAgent() {
			waits := fmt.Sprintf("%s on %s wait", markdown.Count(len(pending), "comment"), p.About())
			err := Fits(p.Attempt, waits, func() (handoff.Expected, error) {
				return handoff.Expected{Start: m.Start, Onto: m.Onto, Pending: turn.Keys(p.Event.Number, pending), TurnKey: m.Key}, nil
			})
			if err != nil {
				return false, err
			}
		}
	}
	p.Report.TurnKey, p.Marker, p.Feedback = m.Key, m, feedback
	p.Marker.Tries = turn.Past(m.Tries, replaced(p))
	if err := runTurn(ctx, p); errors.Is(err, ErrAnew) {
		return true, nil
	} else if err != nil {
		Release(ctx, p.Attempt, err)
		return false, err
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, ""
	return true, nil
}

// runTurn claims the turn at hand and brings it to its receipt.
func runTurn(ctx context.Context, p *Pull) error {
	if err := Claim(ctx, p.Attempt); err != nil {
		return err
	}
	if err := takeOver(ctx, p.Attempt, replaced(p)); err != nil {
		return err
	}
	return Finish(ctx, p.Attempt)
}

// replaced are the claims whose place the turn at hand takes.
func replaced(p *Pull) []model.Posted[model.TurnMarker] {
	return slices.DeleteFunc(slices.Clone(p.State.Turns), func(t model.Posted[model.TurnMarker]) bool {
		m := t.Marker
		same := m.Key == p.Marker.Key && m.Phase != model.PhaseDone
		return t.CommentID == p.ClaimID || !same && m.Phase != model.PhaseStarted && !(m.Phase == model.PhasePlanned && thread.Answered(p.Thread, m))
	})
}
