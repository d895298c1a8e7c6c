package engine

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// claimMargin is how much longer than its agent may take a claim is held.
const claimMargin = 10 * time.Minute

// deadClaims are the open claims that nobody works on any more. A live one ends the run: the process behind it looks
// again when its turn is done, and so takes up what is pending now.
func (p *pass) deadClaims(ctx context.Context) ([]model.Said[model.TurnMarker], error) {
	open := turn.Open(p.state)
	for _, c := range open {
		live, err := p.live(ctx, c)
		if err != nil {
			return nil, err
		}
		if live {
			return nil, stop(model.ResultRetry, "another run is at work on %s, see %s", p.subject(), c.URL)
		}
	}
	return open, nil
}

func (p *pass) live(ctx context.Context, c model.Said[model.TurnMarker]) (bool, error) {
	if known, ok := p.liveness[c.CommentID]; ok {
		return known == turn.Live, nil
	}
	alive := turn.Alive(c.Marker, p.Run.ID, p.Run.Attempt, p.snap.ReadAt)
	if alive == turn.AskRun {
		state, err := p.GitHub.Run(ctx, p.event.Repo, c.Marker.Run)
		if err != nil {
			return false, err
		}
		alive = turn.AliveByRun(c.Marker, state)
	}
	if p.liveness == nil {
		p.liveness = map[int64]turn.Liveness{}
	}
	p.liveness[c.CommentID] = alive
	return alive == turn.Live, nil
}

// track posts the marker that makes the pull request tracked, with the baseline of the history guard.
func (p *pass) track(ctx context.Context) error {
	if p.state.Tracked != nil || len(p.state.Turns) > 0 {
		return nil
	}
	pull := p.snap.Pull
	m := model.PRMarker{
		Repo: p.event.Repo.String(), Number: pull.Number, Branch: pull.HeadRef, Agent: p.settings.Agent.Adapter,
		Base: pull.BaseRef, Head: pull.HeadSHA,
	}
	if pull.Issue != nil {
		m.Issue = pull.Issue.Number
	}
	if p.source != nil {
		m.Issue, m.Flow = p.source.number, string(p.source.marker.Flow)
	}
	token := trackToken(p.event)
	_, err := p.comment(ctx, token, journal.Body{Text: turn.TrackText(pull, m.Agent), Kind: journal.KindPR, Marker: m},
		func() int64 { return p.state.Tokens[token] })
	if err == nil {
		p.state.Accepted = pull.HeadSHA
	}
	return err
}

// next decides which turn is taken up: one that is planned already, one whose agent did not come to an end, or a new one.
func (p *pass) next(pending []model.Comment, dead []model.Said[model.TurnMarker]) (model.TurnMarker, []model.Comment) {
	for _, d := range dead {
		if d.Marker.Phase == model.PhasePlanned && !p.answered(d.Marker) {
			found, missing := turn.Find(p.snap, d.Marker.Events)
			return p.mine(d.Marker), append(found, turn.Recall(p.event.Number, missing, p.memory.runs)...)
		}
	}
	if len(pending) == 0 {
		return model.TurnMarker{}, nil
	}
	now, later := turn.TakeUp(pending, p.state, p.event.Number, p.policy)
	head := p.snap.Pull.HeadSHA
	for _, d := range p.wanted(dead) {
		fits := d.Start == head || p.earlier != "" && d.Start == p.earlier
		if found, missing := turn.Find(p.snap, d.Events); fits && len(missing) == 0 && within(found, pending) {
			now, head = found, d.Start
			later = slices.DeleteFunc(slices.Clone(pending), func(c model.Comment) bool { return within([]model.Comment{c}, found) })
		}
	}
	events := turn.Keys(p.snap.Pull.Number, now)
	m := model.TurnMarker{
		Repo: p.event.Repo.String(), Number: p.snap.Pull.Number, Key: journal.TurnKey(p.snap.Pull.Number, head, events),
		Phase: model.PhaseStarted, Events: events, Start: head, Session: p.session(),
		Lifts: p.state.Lifted,
	}
	spent, _, _ := p.budget().Spend(p.state.Spent, p.serverNow())
	m.Spent = &spent
	mark := turn.Since(p.snap, later)
	if open := p.state.Merge(); open != nil && open.Marker.Open() && open.UpdatedAt.Before(mark.At) {
		mark = model.Mark{At: open.UpdatedAt} // a request that waits is read again, however much is said after it
	}
	m.Since, m.Seen = mark.At, mark.ID
	m.Attempt = turn.Attempts(p.state, m.Key) + 1
	return p.mine(m), now
}

// mine signs a marker with this process.
func (p *pass) mine(m model.TurnMarker) model.TurnMarker {
	m.Run, m.RunAttempt, m.RunURL, m.Claim = p.Run.ID, p.Run.Attempt, p.Run.URL, p.Random()
	m.Expires, m.Reason = p.expiry(), ""
	return m
}

// expiry is until when one landing may take from now: each round the agent's time and that of the required tests, each errand
// and a session that begins anew the agent's. It is renewed with every edit of the claim.
func (p *pass) expiry() time.Time {
	tests := p.settings.Feedback.RepairRounds + 1
	agents := tests + maxErrands + 1
	work := time.Duration(agents)*p.settings.Agent.Timeout + time.Duration(tests)*p.settings.Agent.TestTimeout
	return p.serverNow().Add(work + claimMargin).UTC().Truncate(time.Second)
}

// serverNow is the time on GitHub's clock, by which claims expire.
func (p *pass) serverNow() time.Time { return p.snap.ReadAt.Add(p.Now().Sub(p.readAt)) }

// alive stops a run that took so long that another one may hold its claim for dead.
func (p *pass) alive() error {
	if p.claimID != 0 && p.serverNow().After(p.marker.Expires) {
		return stop(model.ResultRetry, "the claim of this run on %s expired at %s", p.subject(), p.marker.Expires.Format(time.RFC3339))
	}
	return nil
}

// budget is what the settings allow this pull request in a day.
func (p *pass) budget() turn.Budget {
	return turn.Budget{Turns: p.settings.Feedback.TurnsPerDay, CostUSD: p.settings.Feedback.CostPerDayUSD}
}

// session is the agent's session of the newest receipt.
func (p *pass) session() string {
	s := ""
	for _, t := range p.state.Turns {
		if t.Marker.Phase == model.PhaseDone && t.Marker.Session != "" {
			s = t.Marker.Session
		}
	}
	return s
}

func within(some, all []model.Comment) bool {
	return !slices.ContainsFunc(some, func(c model.Comment) bool {
		return !slices.ContainsFunc(all, func(d model.Comment) bool { return c.Kind == d.Kind && c.ID == d.ID && c.UpdatedAt.Equal(d.UpdatedAt) })
	})
}

// take claims the next turn and brings it to its end.
func (p *pass) take(ctx context.Context, pending []model.Comment, dead []model.Said[model.TurnMarker]) (again bool, err error) {
	m, feedback := p.next(pending, dead)
	if m.Key == "" { // what the dead claims were about is not pending any more
		return true, p.clear(ctx, dead)
	}
	if m.Attempt > turn.MaxAttempts {
		return false, p.exhausted(ctx, m)
	}
	if _, why, opens := p.budget().Spend(p.state.Spent, p.serverNow()); why != "" && m.Phase == model.PhaseStarted {
		return false, p.block(ctx, model.BlockMarker{Reason: model.ReasonBudget, Observed: p.snap.Pull.HeadSHA, Until: opens}, why)
	}
	if m.Phase == model.PhaseStarted {
		if err := p.overtime(); err != nil {
			return false, err
		}
	}
	if p.Phase == ApplyPhase && m.Phase == model.PhaseStarted {
		if err := p.fitting(m, pending); err != nil {
			return false, err
		}
	}
	p.report.TurnKey, p.marker, p.feedback = m.Key, m, feedback
	p.marker.Tries = turn.Past(m.Tries, p.replaced())
	if err := p.carry(ctx); err != nil {
		p.release(ctx, err)
		return false, err
	}
	p.report.Result, p.report.Reason = model.ResultDone, ""
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
func (p *pass) replaced() []model.Said[model.TurnMarker] {
	return slices.DeleteFunc(slices.Clone(p.state.Turns), func(t model.Said[model.TurnMarker]) bool {
		m := t.Marker
		same := m.Key == p.marker.Key && m.Phase != model.PhaseDone
		return t.CommentID == p.claimID || !same && m.Phase != model.PhaseStarted && !(m.Phase == model.PhasePlanned && p.answered(m))
	})
}

// answered says that a receipt answers some of what a turn is about: then the turn must not be finished any more.
func (p *pass) answered(m model.TurnMarker) bool {
	return slices.ContainsFunc(m.Events, func(e string) bool { return p.state.Answered[e] })
}

// claim posts the claim and looks at all claims once: the live one with the lowest comment id goes on. When it is not
// ours, or what it was made for has changed meanwhile, ours is taken back.
func (p *pass) claim(ctx context.Context) (err error) {
	if err := p.isolateTurn(ctx); err != nil {
		return err
	}
	p.claimID, err = p.comment(ctx, turnToken(p.marker.Key), p.bodyOf(p.claimText(), p.marker),
		func() int64 {
			for _, t := range p.state.Turns {
				if t.Marker.Claim == p.marker.Claim {
					return t.CommentID
				}
			}
			return 0
		})
	if err != nil {
		return err
	}
	key := p.marker.Key
	if err := p.read(ctx); err != nil {
		return err
	}
	if err := p.tidy(ctx); err != nil {
		return err
	}
	if p.state.Block != nil {
		return p.withdraw(ctx, model.ResultBlocked, "pull request %d was blocked meanwhile, see %s", p.event.Number, p.state.Block.URL)
	}
	for _, t := range p.state.Turns {
		switch {
		case t.CommentID == p.claimID:
			continue
		case t.Marker.Phase == model.PhaseDone && t.Marker.Key == key:
			return p.withdraw(ctx, model.ResultNothing, "another run finished this turn, see %s", t.URL)
		case !openPhase(t.Marker.Phase) || t.CommentID > p.claimID:
			continue
		}
		live, err := p.live(ctx, t)
		if err != nil {
			return err
		}
		if live {
			return p.withdraw(ctx, model.ResultRetry, "another run is at work on %s, see %s", p.subject(), t.URL)
		}
	}
	if m := p.state.Merge(); m != nil && m.Marker.State == model.MergeRunning {
		if live, err := p.liveMerge(ctx, *m); err != nil {
			return err
		} else if live {
			return p.withdraw(ctx, model.ResultRetry, "pull request %d is being merged, see %s", p.event.Number, m.URL)
		}
	}
	if p.overtaken() {
		return p.withdraw(ctx, model.ResultRetry, "%s changed while it was being claimed", p.subject())
	}
	return nil
}

// overtaken says that what the claim was made for is not so any more: some of it is answered, or, before the agent has
// worked on it, gone or said about another head.
func (p *pass) overtaken() bool {
	if p.answered(p.marker) && (p.issue == nil || p.marker.Phase == model.PhaseStarted) { // a stop answers what its plan is about
		return true
	}
	_, missing := turn.Find(p.snap, p.marker.Events)
	return p.marker.Phase == model.PhaseStarted &&
		(p.snap.Pull.HeadSHA != p.marker.Start && p.earlier == "" || len(missing) > 0 || p.snap.Pull.State != model.PullOpen)
}

// tidy deletes what two runs said in the same moment: the first stays.
func (p *pass) tidy(ctx context.Context) error {
	for _, id := range p.state.Surplus {
		if err := p.remove(ctx, id, ""); err != nil {
			return err
		}
	}
	return nil
}

// withdraw takes our claim back and ends the run.
func (p *pass) withdraw(ctx context.Context, result model.Result, format string, args ...any) error {
	if p.claimID != 0 {
		if err := p.remove(ctx, p.claimID, turnToken(p.marker.Key)); err != nil {
			return err
		}
	}
	p.claimID = 0
	s := stop(result, format, args...)
	if result == model.ResultBlocked {
		s.Block = &p.state.Block.Marker
	}
	return s
}

// release lets the next run take an open claim at once when this one ends in order but not at its goal. It is a
// courtesy: without it the claim is dead as soon as GitHub says that the workflow run is over. A cancelled run has no time
// for it.
func (p *pass) release(ctx context.Context, cause error) {
	if p.claimID == 0 || !openPhase(p.marker.Phase) || ctx.Err() != nil || outlives(cause) {
		return
	}
	if p.marker.Reason == "" && p.marker.Phase == model.PhaseStarted { // an attempt without a result says why
		p.marker.Reason = p.clean(ctx, cause.Error())
	}
	if err := p.park(ctx, "This run ended before its goal; the next one goes on from here."); err != nil {
		p.Log.Warn("claim_not_released", p.numberKey(), p.event.Number, "turn_key", p.marker.Key, "error", err, "cause", cause)
	}
}

// clear deletes comments of claims that came to nothing or that ours replaces.
func (p *pass) clear(ctx context.Context, claims []model.Said[model.TurnMarker]) error {
	for _, c := range claims {
		if err := p.remove(ctx, c.CommentID, turnToken(c.Marker.Key)); err != nil {
			return err
		}
	}
	return nil
}
