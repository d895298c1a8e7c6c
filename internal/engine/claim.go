package engine

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// track posts the marker that makes the pull request tracked, with the baseline of the history guard.
func (p *pass) track(ctx context.Context) error {
	if p.State.Tracked != nil || len(p.State.Turns) > 0 {
		return nil
	}
	pull := p.Snap.Pull
	m := model.PRMarker{
		Repo: p.Event.Repo.String(), Number: pull.Number, Branch: pull.HeadRef, Agent: p.Settings.Agent.Adapter,
		Base: pull.BaseRef, Head: pull.HeadSHA,
	}
	if pull.Issue != nil {
		m.Issue = pull.Issue.Number
	}
	if p.source != nil {
		m.Issue, m.Flow = p.source.number, string(p.source.marker.Flow)
	}
	token := trackToken(p.Event)
	_, err := p.Comment(ctx, token, journal.Body{Text: turn.TrackText(pull, m.Agent), Kind: journal.KindPR, Marker: m}, effect.Mark{})
	if err == nil {
		p.State.Accepted = pull.HeadSHA
	}
	return err
}

// next decides which turn is taken up: one that is planned already, one whose agent did not come to an end, or a new one.
func (p *pass) next(pending []model.Comment, dead []model.Posted[model.TurnMarker]) (model.TurnMarker, []model.Comment) {
	for _, d := range dead {
		if d.Marker.Phase == model.PhasePlanned && !p.Answered(d.Marker) {
			found, missing := turn.Find(p.Snap, d.Marker.Events)
			return p.Mine(d.Marker), append(found, turn.Recall(p.Event.Number, missing, p.Memory.Runs)...)
		}
	}
	if len(pending) == 0 {
		return model.TurnMarker{}, nil
	}
	now, later := turn.TakeUp(pending, p.State, p.Event.Number, p.Policy)
	head := p.Snap.Pull.HeadSHA
	for _, d := range p.wanted(dead) {
		fits := d.Start == head || p.earlier != "" && d.Start == p.earlier
		if found, missing := turn.Find(p.Snap, d.Events); fits && len(missing) == 0 && thread.Within(found, pending) {
			now, head = found, d.Start
			later = slices.DeleteFunc(slices.Clone(pending), func(c model.Comment) bool { return thread.Within([]model.Comment{c}, found) })
		}
	}
	events := turn.Keys(p.Snap.Pull.Number, now)
	m := model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: p.Snap.Pull.Number, Key: journal.TurnKey(p.Snap.Pull.Number, head, events),
		Phase: model.PhaseStarted, Events: events, Start: head, Session: p.session(),
		Lifts: p.State.Lifted,
	}
	spent, _, _ := p.Budget().Spend(p.State.Spent, p.ServerNow())
	m.Spent = &spent
	mark := turn.Since(p.Snap, later)
	if open := p.State.Merge(); open != nil && open.Marker.Open() && open.UpdatedAt.Before(mark.At) {
		mark = model.Mark{At: open.UpdatedAt} // a request that waits is read again, however much is said after it
	}
	m.Since, m.Seen = mark.At, mark.ID
	m.Attempt = turn.Attempts(p.State, m.Key) + 1
	return p.Mine(m), now
}

// session is the agent's session of the newest receipt.
func (p *pass) session() string {
	s := ""
	for _, t := range p.State.Turns {
		if t.Marker.Phase == model.PhaseDone && t.Marker.Session != "" {
			s = t.Marker.Session
		}
	}
	return s
}

// take claims the next turn and brings it to its end.
func (p *pass) take(ctx context.Context, pending []model.Comment, dead []model.Posted[model.TurnMarker]) (again bool, err error) {
	m, feedback := p.next(pending, dead)
	if m.Key == "" { // what the dead claims were about is not pending any more
		return true, p.clear(ctx, dead)
	}
	if m.Attempt > turn.MaxAttempts {
		return false, p.exhausted(ctx, m)
	}
	if _, why, opens := p.Budget().Spend(p.State.Spent, p.ServerNow()); why != "" && m.Phase == model.PhaseStarted {
		return false, p.block(ctx, model.BlockMarker{Reason: model.ReasonBudget, Observed: p.Snap.Pull.HeadSHA, Until: opens}, why)
	}
	if m.Phase == model.PhaseStarted {
		if err := p.overtime(); err != nil {
			return false, err
		}
	}
	if p.Phase == thread.ApplyPhase && m.Phase == model.PhaseStarted {
		if err := p.fitting(m, pending); err != nil {
			return false, err
		}
	}
	p.Report.TurnKey, p.Marker, p.feedback = m.Key, m, feedback
	p.Marker.Tries = turn.Past(m.Tries, p.replaced())
	if err := p.carry(ctx); err != nil {
		p.release(ctx, err)
		return false, err
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, ""
	return true, nil
}

// carry claims the turn at hand and brings it to its receipt.
func (p *pass) carry(ctx context.Context) error {
	if err := p.claim(ctx); err != nil {
		return err
	}
	superseded := p.replaced()
	p.inherit(superseded)
	if err := p.tellSaved(ctx, superseded); err != nil {
		return err
	}
	if err := p.clear(ctx, superseded); err != nil {
		return err
	}
	return p.finish(ctx)
}

// replaced are the claims whose place the turn at hand takes.
func (p *pass) replaced() []model.Posted[model.TurnMarker] {
	return slices.DeleteFunc(slices.Clone(p.State.Turns), func(t model.Posted[model.TurnMarker]) bool {
		m := t.Marker
		same := m.Key == p.Marker.Key && m.Phase != model.PhaseDone
		return t.CommentID == p.ClaimID || !same && m.Phase != model.PhaseStarted && !(m.Phase == model.PhasePlanned && p.Answered(m))
	})
}

// claim posts the claim and looks at all claims once: the live one with the lowest comment id goes on. When it is not
// ours, or what it was made for has changed meanwhile, ours is taken back.
func (p *pass) claim(ctx context.Context) (err error) {
	if err := p.isolateTurn(ctx); err != nil {
		return err
	}
	p.ClaimID, err = p.Comment(ctx, turnToken(p.Marker.Key), p.bodyOf(p.claimText(), p.Marker), effect.Mark{Claim: p.Marker.Claim})
	if err != nil {
		return err
	}
	key := p.Marker.Key
	if err := p.Read(ctx); err != nil {
		return err
	}
	if err := p.Tidy(ctx); err != nil {
		return err
	}
	if p.State.Block != nil {
		return p.withdraw(ctx, model.ResultBlocked, "pull request %d was blocked meanwhile, see %s", p.Event.Number, p.State.Block.URL)
	}
	for _, t := range p.State.Turns {
		switch {
		case t.CommentID == p.ClaimID:
			continue
		case t.Marker.Phase == model.PhaseDone && t.Marker.Key == key:
			return p.withdraw(ctx, model.ResultNothing, "another run finished this turn, see %s", t.URL)
		case !thread.OpenPhase(t.Marker.Phase) || t.CommentID > p.ClaimID:
			continue
		}
		live, err := p.Live(ctx, t)
		if err != nil {
			return err
		}
		if live {
			return p.withdraw(ctx, model.ResultRetry, "another run is at work on %s, see %s", p.About(), t.URL)
		}
	}
	if m := p.State.Merge(); m != nil && m.Marker.State == model.MergeRunning {
		if live, err := p.liveMerge(ctx, *m); err != nil {
			return err
		} else if live {
			return p.withdraw(ctx, model.ResultRetry, "pull request %d is being merged, see %s", p.Event.Number, m.URL)
		}
	}
	if p.overtaken() {
		return p.withdraw(ctx, model.ResultRetry, "%s changed while it was being claimed", p.About())
	}
	return nil
}

// overtaken says that what the claim was made for is not so any more: some of it is answered, or, before the agent has
// worked on it, gone or said about another head.
func (p *pass) overtaken() bool {
	if p.Answered(p.Marker) && (p.issue == nil || p.Marker.Phase == model.PhaseStarted) { // a stop answers what its plan is about
		return true
	}
	_, missing := turn.Find(p.Snap, p.Marker.Events)
	return p.Marker.Phase == model.PhaseStarted &&
		(p.Snap.Pull.HeadSHA != p.Marker.Start && p.earlier == "" || len(missing) > 0 || p.Snap.Pull.State != model.PullOpen)
}

// withdraw takes our claim back and ends the run.
func (p *pass) withdraw(ctx context.Context, result model.Result, format string, args ...any) error {
	if p.ClaimID != 0 {
		if err := p.Remove(ctx, p.ClaimID, turnToken(p.Marker.Key)); err != nil {
			return err
		}
	}
	p.ClaimID = 0
	s := thread.End(result, format, args...)
	if result == model.ResultBlocked {
		s.Block = &p.State.Block.Marker
	}
	return s
}

// release lets the next run take an open claim at once when this one ends in order but not at its goal. It is a
// courtesy: without it the claim is dead as soon as GitHub says that the workflow run is over. A cancelled run has no time
// for it.
func (p *pass) release(ctx context.Context, cause error) {
	if p.ClaimID == 0 || !thread.OpenPhase(p.Marker.Phase) || ctx.Err() != nil || thread.Outlives(cause) {
		return
	}
	if p.Marker.Reason == "" && p.Marker.Phase == model.PhaseStarted { // an attempt without a result says why
		p.Marker.Reason = p.clean(ctx, cause.Error())
	}
	if err := p.park(ctx, "This run ended before its goal; the next one goes on from here."); err != nil {
		p.Log.Warn("claim_not_released", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err, "cause", cause)
	}
}

// clear deletes comments of claims that came to nothing or that ours replaces.
func (p *pass) clear(ctx context.Context, claims []model.Posted[model.TurnMarker]) error {
	for _, c := range claims {
		if err := p.Remove(ctx, c.CommentID, turnToken(c.Marker.Key)); err != nil {
			return err
		}
	}
	return nil
}
