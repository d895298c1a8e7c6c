package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// maxLandings bounds how often a turn is brought onto a head that somebody moved meanwhile.
const maxLandings = 3

// finish brings a claimed turn to its receipt, from wherever it stands.
func (p *pass) finish(ctx context.Context) error {
	for range maxLandings {
		if p.Marker.Phase == model.PhaseStarted {
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
	if p.Snap.Pull.HeadSHA == p.base() {
		return thread.End(model.ResultRetry, "the push to %s did not get through; its work is recorded and the next run publishes it", p.Snap.Pull.HeadRef)
	}
	return p.block(ctx, model.BlockMarker{Reason: model.ReasonConflict, Expected: p.base(), Observed: p.Snap.Pull.HeadSHA}, "")
}

// base is the head that the turn's commits sit on.
func (p *pass) base() string { return turn.Base(p.Marker) }

// product is what came of the agent's part of a turn.
type product struct {
	out     model.Outcome // all answers as one
	head    string        // that they lead to
	seconds int           // how long it took
	ending  *ending       // in place of all that
}

// work brings the turn to what can be published: the agent's part, then its record on GitHub.
func (p *pass) work(ctx context.Context) error {
	if p.Phase != thread.ApplyPhase {
		if err := p.Outside(ctx, p.agentNext()); err != nil {
			return err
		}
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	part := p.produce
	if p.Phase == thread.ApplyPhase {
		part = p.receive
	}
	done, err := part(ctx)
	if s := (*thread.Stop)(nil); err != nil && !errors.As(err, &s) {
		p.salvage(context.WithoutCancel(ctx), err)
	}
	if err != nil {
		return err
	}
	if done.ending != nil {
		if p.issue != nil { // the next attempt goes on in this session
			p.Marker.Session = cmp.Or(done.out.Session, p.Marker.Session)
		}
		return p.end(ctx, done.ending)
	}
	done.out = p.cleaned(context.WithoutCancel(ctx), done.out)
	// Finished work is kept even when the run was cancelled while it was being finished.
	ctx = context.WithoutCancel(ctx)
	if done.head, err = p.trail(ctx, done.head); err != nil {
		p.salvage(ctx, err)
		return err
	}
	if p.commits, err = p.list(ctx, p.base(), done.head); err != nil {
		p.salvage(ctx, err)
		return err
	}
	m := p.Marker
	m.Planned = done.head
	if done.out.Session != "" {
		m.Session = done.out.Session
	}
	p.seal(&m)
	o := turn.Outbox(done.out, p.feedback, done.seconds, p.commits, p.notes)
	if p.issue != nil {
		if o.Draft, err = p.draft(ctx, done.out, done.head); err != nil {
			p.salvage(ctx, err)
			return err
		}
	}
	return p.record(ctx, m, o)
}

// agentNext is what the agent would do next, for a dry run.
func (p *pass) agentNext() string {
	if p.issue != nil {
		return fmt.Sprintf("%s for issue %d would begin at %s", p.issue.marker.Flow, p.Event.Number, markdown.Short(p.Marker.Start))
	}
	return fmt.Sprintf("a turn over %s on pull request %d would start at %s", markdown.Count(len(p.feedback), "comment"), p.Event.Number, markdown.Short(p.base()))
}

// salvage keeps what an agent has done in a run that cannot go on, and has the claim say so when the run gives it up.
func (p *pass) salvage(ctx context.Context, cause error) {
	k := p.keep(ctx)
	p.Marker.Checkpoint, p.Marker.CheckpointSHA, p.Marker.Reason = k.Branch, k.SHA, cause.Error()
}

// produce runs the agent in a clean checkout of the head and holds what it did against the rules.
func (p *pass) produce(ctx context.Context) (done product, err error) {
	if err := p.restore(ctx, p.base()); err != nil {
		return done, err
	}
	began := p.Now()
	err = p.inTime(ctx, func(ctx context.Context) error {
		var err error
		done.out, done.head, err = p.agentRounds(ctx)
		return err
	})
	done.seconds = int(p.Now().Sub(began).Round(time.Second).Seconds())
	if thread.Outlives(err) {
		return done, err
	}
	p.findAstray(ctx)
	if broken := (*git.Error)(nil); errors.As(err, &broken) && broken.Failure == "" { // the agent left a checkout that git cannot work with
		err = failing(err)
	}
	if errors.As(err, &done.ending) {
		return done, nil
	}
	return done, err
}

// restore makes the checkout a clean one of the head.
func (p *pass) restore(ctx context.Context, head string) error {
	if p.issue != nil && p.issue.tip == "" {
		return p.branchOff(ctx)
	}
	pull := p.Snap.Pull
	err := checkpoint.Restore(ctx, p.Checkout, pull.HeadRef, pull.BaseRef, head)
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
	p.Marker.CostUSD += cost
	if p.Marker.Spent != nil {
		p.Marker.Spent.CostUSD += cost
	}
}

// record stages the planned head and then says so in the claim. The order is the promise: the work is on GitHub before
// anything else is said or done; and until it is there, nothing of what is planned is in the turn's marker.
func (p *pass) record(ctx context.Context, m model.TurnMarker, o model.Outbox) error {
	m.Phase, m.Outbox = model.PhasePlanned, &o
	text := p.plannedText(m)
	if _, err := p.encode(text, m); err != nil { // better known before the push than after it
		return p.end(ctx, p.blocked(model.ReasonOutcome, turn.TooLong(len(p.feedback), err)))
	}
	if err := p.Alive(); err != nil {
		p.salvage(ctx, err)
		return err
	}
	if err := p.stage(ctx, &m); err != nil && p.Marker.Phase == model.PhasePlanned { // what is recorded still holds
		return err
	} else if err != nil {
		e := failing(fmt.Errorf("what was done could not be pushed: %w", err))
		e.waits = unanswered(err)
		ended := p.end(ctx, e)
		if s := (*thread.Stop)(nil); denied(err) && errors.As(ended, &s) && s.Result != model.ResultBlocked { // only whoever runs this can change that
			return err
		}
		return ended
	}
	text = p.plannedText(m) // which says where it is
	if m.Planned != turn.Base(m) {
		p.Applied("stage", stagedAt(p.Event.Number, m), journal.Token("stage", m.Key), "applied")
	}
	p.Marker = m
	return p.edit(ctx, text)
}
