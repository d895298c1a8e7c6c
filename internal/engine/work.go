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

// work runs the agent in a clean checkout of the head, holds what it did against the rules, and records it: commits on
// the stage, answers in the claim. From then on no agent is needed for this turn.
func (p *pass) work(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	pull := p.snap.Pull
	if err := p.checkout.Restore(ctx, pull.HeadRef, pull.BaseRef, p.base()); err != nil {
		var moved *git.ErrHeadMoved
		if errors.As(err, &moved) {
			return p.withdraw(ctx, model.ResultRetry, "%s", err)
		}
		if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
			return p.withdraw(ctx, model.ResultRetry, "%s; the head branch was deleted while it was being claimed", err)
		}
		return err
	}
	began := p.Now()
	out, head, err := p.agentRounds(ctx)
	if broken := (*git.Error)(nil); errors.As(err, &broken) && broken.Failure == "" { // the agent left a checkout that git cannot work with
		return p.failed(ctx, err)
	}
	if err != nil {
		return err
	}
	// Finished work is kept even when the run was cancelled while it was being finished.
	ctx = context.WithoutCancel(ctx)
	if p.commits, err = p.list(ctx, p.base(), head); err != nil {
		return err
	}
	p.marker.Planned = head
	if out.Session != "" {
		p.marker.Session = out.Session
	}
	seconds := int(p.Now().Sub(began).Round(time.Second).Seconds())
	return p.record(ctx, turn.Outbox(out, p.feedback, seconds, p.commits, p.notes))
}

// record stages the planned head and then says so in the claim. The order is the promise: the work is on GitHub before
// anything else is said or done.
func (p *pass) record(ctx context.Context, o model.Outbox) error {
	p.marker.Phase, p.marker.Outbox = model.PhasePlanned, &o
	text := turn.PlannedText(p.snap.Pull, p.feedback, p.marker)
	if _, err := p.encodeTurn(text); err != nil { // better known before the push than after it
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonOutcome, Observed: p.base()}, "the answers are too long to be recorded: "+err.Error())
	}
	if p.marker.Planned != p.base() {
		ref := stageRef(p.event.Number, p.marker.Key)
		err := p.checkout.Stage(ctx, ref, p.marker.Planned)
		if unclear := (*git.ErrUnclear)(nil); errors.As(err, &unclear) { // the ref is ours alone: once more does no harm
			err = p.checkout.Stage(ctx, ref, p.marker.Planned)
		}
		if err != nil {
			return err
		}
		p.applied("stage", ref, journal.Token("stage", p.marker.Key), "applied")
	}
	return p.edit(ctx, text)
}
