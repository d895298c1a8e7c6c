package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// product is the result of the agent's part of a turn.
type product struct {
	out     model.Outcome  // all answers as one
	head    string         // that they lead to
	commits []model.Commit // up to the head, if they were listed
	seconds int            // how long it took
	ending  *work.Ending   // in place of all that
}

// Perform runs the agent, or receives its result from the agent's job, and records what is to be published.
func Perform(ctx context.Context, p *Attempt) error {
	if u := p.Marker.Unsaid; u != nil {
		p.Kept, p.Marker.Unsaid = p.Marker.Kept, nil
		return p.Subject.Block(ctx, *u, u.Detail)
	}
	bring := receive
	if p.Phase.RunsAgent() {
		bring = produce
		if err := thread.AgentNext(ctx, p.Thread, next(p)); err != nil {
			return err
		}
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	done, err := bring(ctx, p)
	if !p.Phase.Writes() {
		return handOver(ctx, p, done, err)
	}
	if s := (*thread.Stop)(nil); err != nil && !errors.As(err, &s) {
		saveCheckpoint(context.WithoutCancel(ctx), p, err)
	}
	if err != nil {
		return err
	}
	if done.ending != nil {
		if p.Issue != nil { // the next attempt goes on in it
			p.Marker.Session = cmp.Or(done.out.Session, p.Marker.Session)
		}
		return end(ctx, p, done.ending)
	}
	// Finished work is kept even when the run was cancelled while it was being finished.
	ctx = context.WithoutCancel(ctx)
	m, o, err := plan(ctx, p, done)
	if err != nil {
		saveCheckpoint(ctx, p, err)
		return err
	}
	return Record(ctx, p, m, o)
}

// plan makes the record of finished work: the marker, and what is to be posted.
func plan(ctx context.Context, p *Attempt, done product) (m model.TurnMarker, o model.Outbox, err error) {
	m, out := p.Marker, redact.Outcome(ctx, p.Thread, done.out)
	if m.Planned, err = trail(ctx, p, done.head); err != nil {
		return m, o, err
	}
	Supersede(ctx, p, m.Planned)                      // in the marker, too
	if p.Commits = done.commits; len(p.Commits) > 0 { // the last one was reworded since
		p.Commits[len(p.Commits)-1].SHA = m.Planned
	} else if p.Commits, err = history.List(ctx, p.Checkout, work.Base(p.Work), m.Planned); err != nil {
		return m, o, err
	}
	if out.Session != "" {
		m.Session = out.Session
	}
	seal(p, &m)
	o = turn.Outbox(out, p.Feedback, done.seconds, p.Commits, p.Notes)
	o.Review = p.Left
	if p.Settings.Feedback.Resolve && m.Planned != work.Base(p.Work) { // else nothing has changed that would settle them
		o.Resolves = turn.Resolves(out, p.Feedback)
	}
	if p.Issue != nil {
		o.Draft, err = p.Flow.Draft(ctx, out, m.Planned)
	}
	return m, o, err
}

// saveCheckpoint keeps what an agent has done in a run that cannot go on, and has the claim say so when the run gives it up.
func saveCheckpoint(ctx context.Context, p *Attempt, cause error) {
	k := work.KeepAll(ctx, p.Work)
	p.Marker.Kept, p.Marker.Reason = k, cause.Error()
}

// produce runs the agent in a clean checkout of the head and holds what it did against the rules.
func produce(ctx context.Context, p *Attempt) (done product, err error) {
	if err := restore(ctx, p, work.Base(p.Work)); err != nil {
		return done, err
	}
	if err := resume(ctx, p); err != nil {
		return done, err
	}
	began := p.Now()
	err = work.InTime(ctx, p.Work, func(ctx context.Context) error {
		var err error
		done, err = agentRounds(ctx, p)
		return err
	})
	done.seconds = int(p.Now().Sub(began).Round(time.Second).Seconds())
	if thread.Outlives(err) {
		return done, err
	}
	work.KeepOtherBranches(ctx, p.Work)
	work.TellInside(context.WithoutCancel(ctx), p.Work, cmp.Or(done.head, work.Base(p.Work)))
	if broken := (*git.Error)(nil); errors.As(err, &broken) && broken.Failure == "" { // the agent left a checkout that git cannot work with
		err = work.Failing(err)
	}
	if agent.UserBusy(err) { // as the tests were about to run
		err = &work.Ending{Cause: err, Waits: true}
	}
	if errors.As(err, &done.ending) {
		return done, nil
	}
	return done, err
}

// charge counts what the agent has cost.
func charge(p *Attempt, cost float64) {
	p.Marker.CostUSD += cost
	if p.Marker.Spent != nil {
		p.Marker.Spent.CostUSD += cost
	}
}

// Record pushes the planned head to the stage and then records it in the claim, in this order. So the work is on GitHub before
// anything else happens, and the marker names nothing that is not there.
func Record(ctx context.Context, p *Attempt, m model.TurnMarker, o model.Outbox) error {
	m.Phase, m.Outbox = model.PhasePlanned, &o
	if _, err := encode(p, m); err != nil && o.Review != nil { // what people asked for goes before what nobody did
		o.Review = &model.PlannedReview{By: o.Review.By, Dropped: o.Review.Dropped + len(o.Review.Findings)}
	}
	if _, err := encode(p, m); err != nil { // better known before the push than after it
		turn.Cut(&o)
	}
	if _, err := encode(p, m); err != nil {
		return end(ctx, p, work.Blocked(p.Work, model.ReasonOutcome, "the answers are too long to be recorded: "+err.Error()))
	}
	if err := thread.Alive(p.Thread); err != nil {
		saveCheckpoint(ctx, p, err)
		return err
	}
	if err := stage(ctx, p, &m); err != nil && p.Marker.Phase == model.PhasePlanned { // what is recorded still holds
		return err
	} else if err != nil {
		e := work.Failing(fmt.Errorf("the work could not be pushed: %w", err))
		e.Waits = work.Unanswered(err)
		ended := end(ctx, p, e)
		if s := (*thread.Stop)(nil); work.Denied(err) && errors.As(ended, &s) && s.Result != model.ResultBlocked { // only whoever runs this can change that
			return err
		}
		return ended
	}
	if m.Planned != turn.Base(m) {
		thread.Applied(p.Thread, "stage", StagedAt(p.Event.Number, m), journal.Token("stage", m.Key), "applied")
	}
	p.Marker = m
	return Edit(ctx, p, p.Words.Planned(m)) // which says where it is
}

// restore makes the checkout a clean one of the head.
func restore(ctx context.Context, p *Attempt, head string) error {
	if p.Issue != nil && p.Tip == "" {
		return p.Flow.BranchOff(ctx)
	}
	pull := p.Snap.Pull
	err := checkout.Restore(ctx, p.Checkout, pull.HeadRef, pull.BaseRef, head)
	if moved := (*git.ErrHeadMoved)(nil); errors.As(err, &moved) {
		return Unplaced(ctx, p, err)
	}
	if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
		return Unplaced(ctx, p, fmt.Errorf("%w; the head branch was deleted", err))
	}
	return err
}

// Unplaced ends a run whose claim lost the place that its work was for. The claim stays if it holds the last record of a plan, or
// of attempts whose claims it has replaced.
func Unplaced(ctx context.Context, p *Attempt, cause error) error {
	switch {
	case p.Marker.Phase == model.PhasePlanned:
		return thread.End(model.ResultRetry, "%s", cause)
	case len(p.Marker.Tries) > 0:
		return Postpone(ctx, p, cause)
	}
	return Withdraw(ctx, p, model.ResultRetry, "%s", cause)
}
