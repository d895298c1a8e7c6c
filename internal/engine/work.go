package engine

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// maxLandings bounds how often a turn is brought onto a head that somebody moved meanwhile.
const maxLandings = 3

// finish brings a claimed turn to its receipt, from wherever it stands.
func (p *pass) finish(ctx context.Context) error {
	for range maxLandings {
		if p.marker.Phase == model.PhaseStarted {
			if err := p.work(ctx); err != nil {
				return err
			}
		}
		landed, err := p.land(ctx)
		if err != nil {
			return err
		}
		if landed {
			return p.answer(ctx)
		}
	}
	if p.snap.Pull.HeadSHA == p.base() {
		return stop(model.ResultRetry, "the push to %s did not get through; its work is recorded and the next run publishes it", p.snap.Pull.HeadRef)
	}
	return p.block(ctx, model.BlockMarker{Reason: model.ReasonConflict, Expected: p.base(), Observed: p.snap.Pull.HeadSHA}, "")
}

// base is the head that the turn's commits sit on.
func (p *pass) base() string { return turn.Base(p.marker) }

// product is what came of the agent's part of a turn.
type product struct {
	out     model.Outcome // all answers as one
	head    string        // that they lead to
	seconds int           // how long it took
	ending  *ending       // in place of all that
}

// work brings the turn to what can be published: the agent's part, then its record on GitHub.
func (p *pass) work(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	part := p.produce
	if p.Phase == ApplyPhase {
		part = p.receive
	}
	done, err := part(ctx)
	if err != nil {
		return err
	}
	if done.ending != nil {
		return p.end(ctx, done.ending)
	}
	// Finished work is kept even when the run was cancelled while it was being finished.
	ctx = context.WithoutCancel(ctx)
	if p.commits, err = p.list(ctx, p.base(), done.head); err != nil {
		return err
	}
	p.marker.Planned = done.head
	if done.out.Session != "" {
		p.marker.Session = done.out.Session
	}
	p.seal()
	return p.record(ctx, turn.Outbox(done.out, p.feedback, done.seconds, p.commits, p.notes))
}

// produce runs the agent in a clean checkout of the head and holds what it did against the rules.
func (p *pass) produce(ctx context.Context) (done product, err error) {
	if err := p.restore(ctx); err != nil {
		return done, err
	}
	began := p.Now()
	done.out, done.head, err = p.agentRounds(ctx)
	done.seconds = int(p.Now().Sub(began).Round(time.Second).Seconds())
	if broken := (*git.Error)(nil); errors.As(err, &broken) && broken.Failure == "" { // the agent left a checkout that git cannot work with
		err = failing(err)
	}
	if errors.As(err, &done.ending) {
		return done, nil
	}
	return done, err
}

// restore makes the checkout a clean one of the head that the turn began at.
func (p *pass) restore(ctx context.Context) error {
	pull := p.snap.Pull
	err := p.checkout.Restore(ctx, pull.HeadRef, pull.BaseRef, p.base())
	if moved := (*git.ErrHeadMoved)(nil); errors.As(err, &moved) {
		return p.withdraw(ctx, model.ResultRetry, "%s", err)
	}
	if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
		return p.withdraw(ctx, model.ResultRetry, "%s; the head branch was deleted meanwhile", err)
	}
	return err
}

// charge counts what the agent has cost.
func (p *pass) charge(cost float64) {
	p.marker.CostUSD += cost
	if p.marker.Spent != nil {
		p.marker.Spent.CostUSD += cost
	}
}

// record stages the planned head and then says so in the claim. The order is the promise: the work is on GitHub before
// anything else is said or done.
func (p *pass) record(ctx context.Context, o model.Outbox) error {
	p.marker.Phase, p.marker.Outbox = model.PhasePlanned, &o
	text := turn.PlannedText(p.snap.Pull, p.feedback, p.marker)
	if _, err := p.encodeTurn(text); err != nil { // better known before the push than after it
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonOutcome, Observed: p.base()}, "the answers are too long to be recorded: "+err.Error())
	}
	ref := stageRef(p.event.Number, p.marker.Key)
	if err := p.stage(ctx, ref); err != nil {
		return err
	}
	if p.marker.Planned != p.base() {
		p.applied("stage", ref, journal.Token("stage", p.marker.Key), "applied")
	}
	return p.edit(ctx, text)
}
