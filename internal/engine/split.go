package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// handOver is the agent's phase of a turn: what comes of it goes into the handoff's directory. What needs no agent is left
// to the other phase, which finds it by itself.
func (p *pass) handOver(ctx context.Context, pending []model.Comment, dead []model.Posted[model.TurnMarker]) error {
	m, feedback := p.next(pending, dead)
	_, spent, _ := p.Budget().Spend(p.State.Spent, p.ServerNow())
	if m.Key == "" || m.Phase != model.PhaseStarted || m.Attempt > turn.MaxAttempts || spent != "" {
		return p.needless()
	}
	p.Report.TurnKey, p.Marker, p.feedback = m.Key, m, feedback
	return p.deliver(ctx)
}

// needless ends an agent's phase that has nothing to do.
func (p *pass) needless() error {
	return thread.End(model.ResultNothing, "%s needs no agent now; the apply phase goes on from here", p.About())
}

// deliver has the agent work on the turn at hand, and hands over what comes of it.
func (p *pass) deliver(ctx context.Context) error {
	if err := p.isolateTurn(ctx); err != nil {
		return err
	}
	if err := p.Outside(ctx, p.agentNext()); err != nil {
		return err
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	done, failed := p.produce(ctx)
	if s := (*thread.Stop)(nil); errors.As(failed, &s) {
		return failed
	}
	if failed != nil { // not the agent's fault: the attempt does not count
		done.ending = &ending{cause: failed, waits: true}
	}
	cut := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if cut {
		last, end := clock.WithTimeout(ctx, p.Clock, lastWords)
		defer end()
		ctx = last
	}
	h := p.handoff(ctx, done)
	if cut {
		h = p.cutOff(h)
	}
	h, err := p.write(ctx, h)
	if err != nil {
		return err
	}
	p.Handed = true
	if failed != nil {
		return failed
	}
	p.Applied("handoff", p.Bundle, journal.Token("handoff", p.Marker.Key), effect.Applied)
	p.Report.Result = model.ResultDone
	if cut {
		return thread.End(model.ResultRetry, "cancelled; what was done is handed over")
	}
	return thread.End(model.ResultDone, "the turn on %s ended %s and is handed over in %s", p.About(), h.Ended, p.Bundle)
}

// cutOff is what is handed over of a run that was cancelled. Of a turn the next event makes another attempt; about an issue
// a person is asked, as a whole run does.
func (p *pass) cutOff(h handoff.Handoff) handoff.Handoff {
	switch {
	case h.Ended == handoff.Planned || h.Ended == handoff.Blocked:
	case h.Flow != "":
		h.Ended, h.Reason, h.Detail = handoff.Blocked, model.ReasonCancelled, "the job of the agent was cancelled"
	case h.Ended == handoff.Failed:
		h.Ended = handoff.Postponed
	}
	return h
}

// write puts a handoff into its directory, or one that says why it cannot be.
func (p *pass) write(ctx context.Context, h handoff.Handoff) (handoff.Handoff, error) {
	// Whatever the agent has put there is not ours.
	if err := os.RemoveAll(p.Bundle); err != nil {
		return h, fmt.Errorf("make directory of the handoff: %w", err)
	}
	err := handoff.Write(p.Bundle, h, func(file string) error { return transport.WriteBundle(ctx, p.Checkout, file, h.Base(), h.Head) })
	if cannotBe(err) {
		h = handoff.Handoff{
			Repository: h.Repository, Number: h.Number, Flow: h.Flow, TurnKey: h.TurnKey, Start: h.Start, Onto: h.Onto, Events: h.Events,
			Ended: handoff.Failed, Detail: err.Error(),
		}
		err = handoff.Write(p.Bundle, h, nil)
	}
	return h, err
}

// cannotBe says that what the agent left is nothing that can be handed over: that is its failure and not the run's.
func cannotBe(err error) bool {
	var refused *handoff.Refusal
	var bundle *transport.ErrBundle
	var rewind *git.ErrRewind
	return errors.As(err, &refused) || errors.As(err, &bundle) || errors.As(err, &rewind)
}

// handoff is what came of the agent's part, for the other phase.
func (p *pass) handoff(ctx context.Context, done product) handoff.Handoff {
	m := p.Marker
	h := handoff.Handoff{
		Repository: p.Event.Repo.String(), Number: p.Event.Number, Ended: handoff.Planned, TurnKey: m.Key, Start: m.Start, Onto: m.Onto,
		Events: m.Events, Head: done.head, Outcome: done.out, Seconds: done.seconds,
	}
	h.Outcome = p.cleaned(ctx, h.Outcome)               // only this phase knows the keys that the agent was given
	h.Outcome.GitOps, h.Outcome.BlockedReason = nil, "" // they were this phase's to deal with
	if p.issue != nil {
		h.Flow = p.issue.marker.Flow
	}
	if e := done.ending; e != nil {
		h.Outcome = model.Outcome{Session: done.out.Session, Usage: done.out.Usage}
		h.Head, h.Detail = p.worth(ctx, e), e.detail
		switch {
		case e.block.Reason != "":
			h.Ended, h.Reason = handoff.Blocked, e.block.Reason
			if e.block.Reason == model.ReasonRewrite {
				h.Observed = e.block.Observed
			}
		case e.waits:
			h.Ended, h.Detail = handoff.Postponed, e.cause.Error()
		case p.issue != nil && timedOut(e):
			h.Ended, h.Reason, h.Detail = handoff.Blocked, model.ReasonTimeout, e.cause.Error()
		default:
			h.Ended, h.Detail = handoff.Failed, e.cause.Error()
		}
	}
	h.Detail = p.clean(ctx, h.Detail)
	h.Outcome.Usage.CostUSD = m.CostUSD
	h.Notes = p.notes
	return h
}

// worth is the head of work without a result that is worth keeping, "" for none.
func (p *pass) worth(ctx context.Context, e *ending) string {
	work, err := p.gather(ctx)
	if err == nil && work.hidden {
		err = errors.New(e.detail)
	}
	if err != nil && p.issue != nil && err.Error() == e.detail { // that is said already
		return ""
	}
	if err != nil {
		p.note("what the agent had done could not be kept: " + err.Error())
		return ""
	}
	return work.head
}

// collect reads the handoff, once a run. What cannot be read is for the turn to say, once it is claimed.
func (p *pass) collect() {
	if p.Phase != thread.ApplyPhase || p.Bundle == "" || p.Memory.Received != nil {
		return
	}
	h, err := handoff.Read(p.Bundle)
	p.Memory.Received = &thread.Received{Handoff: h, Err: err}
}

// offered says that a handoff may hold the agent's part of a turn that has not been taken up yet.
func (p *pass) offered() bool {
	r := p.Memory.Received
	return r != nil && !p.Memory.Used && (r.Err != nil || r.Ended != handoff.Nothing)
}

// catchUp looks whether the branch has grown since the agent's part began: then what was handed over is brought onto the
// new head like any other turn.
func (p *pass) catchUp(ctx context.Context) error {
	r := p.Memory.Received
	if !p.offered() || r.Err != nil || r.Number != p.Event.Number || r.Start == p.Snap.Pull.HeadSHA {
		return nil
	}
	relation, err := p.Relation(ctx, r.Start, p.Snap.Pull.HeadSHA)
	if err == nil && relation == model.Ahead {
		p.earlier = r.Start
	}
	return err
}

// owed says that something was handed over, or should have been, for what this run is about.
func (p *pass) owed() bool {
	return p.offered() && (p.Memory.Received.Err == nil || p.Event.Number == p.Number)
}

// unworked ends an apply phase that would need an agent to go on.
func (p *pass) unworked(what string, args ...any) error {
	result := model.ResultRetry
	if p.Bundle == "" { // the agent's phase is still to come
		result = model.ResultNothing
	}
	s := thread.End(result, "%s for an agent phase; the next event or the sweep starts one", fmt.Sprintf(what, args...))
	s.Agent = p.Bundle == ""
	return s
}

// fitting says why a turn cannot be taken up with what was handed over: somebody has moved the head, or has been faster.
// Then nothing is claimed; the event that moved it has a run of its own.
func (p *pass) fitting(m model.TurnMarker, pending []model.Comment) error {
	if !p.owed() {
		return p.unworked("%s on %s wait", markdown.Count(len(pending), "comment"), p.About())
	}
	if p.Memory.Received.Err != nil {
		return nil // the turn says so
	}
	err := handoff.Check(p.Memory.Received.Handoff, handoff.Expected{
		Repo: p.Event.Repo, Number: p.Event.Number, Start: m.Start, Onto: m.Onto, Pending: turn.Keys(p.Event.Number, pending), TurnKey: m.Key,
	})
	if err != nil {
		return thread.End(model.ResultRetry, "%s; the next event's agent phase takes it up", err)
	}
	return nil
}

// receive is the agent's part of a turn in the apply phase: what was handed over, none of it believed. Whatever does not
// hold is an attempt that failed, and says by name what it was.
func (p *pass) receive(ctx context.Context) (product, error) {
	r := p.Memory.Received
	p.Memory.Used = true
	at := p.base()
	switch {
	case p.issue != nil:
		at = p.issue.tip
	case p.earlier != "":
		at = p.Snap.Pull.HeadSHA
	}
	if err := p.restore(ctx, at); err != nil {
		return product{}, err
	}
	if r.Err != nil {
		return product{ending: failing(r.Err)}, nil
	}
	if p.issue != nil {
		if err := p.beginAt(ctx, r.Start); err != nil {
			return product{}, err
		}
	}
	done, err := p.takeIn(ctx, r.Handoff)
	if errors.As(err, &done.ending) {
		p.unkeepable(done.ending)
		return done, nil
	}
	return done, err
}

// takeIn holds what was handed over against the rules, and takes in as much of it as holds.
func (p *pass) takeIn(ctx context.Context, h handoff.Handoff) (product, error) {
	p.charge(h.Outcome.Usage.CostUSD)
	for _, n := range h.Notes {
		if !slices.Contains(p.notes, n) { // this phase may have found the same
			p.note(n)
		}
	}
	done := product{out: h.Outcome, head: h.Base(), seconds: h.Seconds}
	if h.Commits() {
		var err error
		if h.Head, err = p.admit(ctx, h); err != nil {
			return done, err
		}
		done.head, p.admitted = h.Head, h.Head
		if err := p.findDocument(ctx, h); err != nil {
			return done, err
		}
	}
	if e := p.endingOf(h); e != nil {
		return done, e
	}
	return done, p.valid(ctx, h)
}

// valid holds what was handed over as a result against the rules for it.
func (p *pass) valid(ctx context.Context, h handoff.Handoff) error {
	if p.issue != nil {
		return p.validIssue(ctx, h)
	}
	if err := turn.Validate(h.Outcome, p.feedback, h.Commits()); err != nil {
		return p.blocked(model.ReasonOutcome, err.Error())
	}
	return nil
}

// admit takes the commits of a handoff in and holds them against the rules. They are not checked out: their files are
// nobody's business here. It gives the head that they lead to once they are ours.
func (p *pass) admit(ctx context.Context, h handoff.Handoff) (string, error) {
	if main := p.Snap.DefaultBranch; main != p.Snap.Pull.BaseRef { // the agent may have had it merged
		if _, err := commits.FetchOrigin(ctx, p.Checkout, main); err != nil {
			return "", err
		}
	}
	err := transport.ReadBundle(ctx, p.Checkout, handoff.BundlePath(p.Bundle), h.Base(), h.Head)
	if refused := (*transport.ErrBundle)(nil); errors.As(err, &refused) {
		return "", failing(err)
	}
	if err != nil {
		return "", err
	}
	relation, err := p.LocalRelation(ctx, h.Base(), h.Head)
	if err != nil {
		return "", err
	}
	if lineage.Decide(relation) != lineage.Pass {
		return "", &ending{block: thread.Rewritten(h.Base(), h.Head, model.GuardLocal)}
	}
	done, err := p.own(ctx, h.Base(), h.Head)
	if err != nil {
		return "", err
	}
	found, err := p.inspect(ctx, h.Base(), done.Head)
	if err == nil && found.reason != "" {
		return "", p.blocked(found.reason, found.detail)
	}
	return done.Head, err
}

// endingOf is how the agent's part ended that came to no result.
func (p *pass) endingOf(h handoff.Handoff) *ending {
	switch h.Ended {
	case handoff.Blocked:
		if h.Reason == model.ReasonRewrite {
			return &ending{block: thread.Rewritten(p.base(), h.Observed, model.GuardLocal)}
		}
		return p.blocked(h.Reason, h.Detail)
	case handoff.Failed:
		return failing(errors.New(h.Detail))
	case handoff.Postponed:
		return &ending{cause: errors.New(h.Detail), waits: true}
	}
	return nil
}

// wanted are the sets of event keys, with the head that each began at, that a turn is taken up with in preference to all
// that is pending: those of claims that died before their agent came to an end, and what was handed over.
func (p *pass) wanted(dead []model.Posted[model.TurnMarker]) []model.TurnMarker {
	var list []model.TurnMarker
	for _, d := range dead {
		list = append(list, d.Marker)
	}
	if p.offered() && p.Memory.Received.Err == nil {
		list = append(list, model.TurnMarker{Start: p.Memory.Received.Start, Events: p.Memory.Received.Events})
	}
	return slices.Clip(list)
}
