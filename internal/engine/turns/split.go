package turns

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
)

// needless ends an agent's job that has no work for the agent.
func needless(p *Attempt) error {
	return thread.End(model.ResultNothing, "%s needs no agent now; the apply phase continues from here", p.About())
}

// handOver ends the job of an agent with what its part of the turn came to.
func handOver(ctx context.Context, p *Attempt, done product, failed error) error {
	if s := (*thread.Stop)(nil); errors.As(failed, &s) {
		return failed
	}
	if failed != nil { // not the agent's fault: the attempt does not count
		done.ending = &work.Ending{Cause: failed, Waits: true}
	}
	return work.HandOver(ctx, p.Work, "the turn on "+p.About(), func(ctx context.Context, cut bool) handoff.Handoff {
		h := handoffOf(ctx, p, done)
		if cut {
			return h.CutShort()
		}
		return h
	}, failed)
}

// handoffOf is the result of the agent's part, for the other phase.
func handoffOf(ctx context.Context, p *Attempt, done product) handoff.Handoff {
	m := p.Marker
	h := handoff.Handoff{
		Repository: p.Event.Repo.String(), Number: p.Event.Number, Ended: handoff.Planned, Made: m.Claim, TurnKey: m.Key, Start: m.Start, Onto: m.Onto,
		Events: m.Events, Head: done.head, Outcome: done.out, Seconds: done.seconds,
	}
	h.Outcome = redact.Outcome(ctx, p.Thread, h.Outcome) // only this phase knows the keys that the agent was given
	h.Outcome.GitOps, h.Outcome.BlockedReason = nil, ""  // they were this phase's to deal with
	h.Flow = kind(p)
	if p.Left != nil {
		h.Outcome.Findings = p.Left.Findings
	}
	if e := done.ending; e != nil {
		h.Outcome = model.Outcome{Session: done.out.Session, Usage: done.out.Usage}
		h.Head, h.Detail = worth(ctx, p, e), e.Detail
		switch {
		case e.Block.Reason != "":
			h.Ended, h.Reason = handoff.Blocked, e.Block.Reason
			if e.Block.Reason == model.ReasonRewrite {
				h.Observed = e.Block.Observed
			}
		case e.Waits:
			h.Ended, h.Detail = handoff.Postponed, e.Cause.Error()
		case h.Flow != "" && TimedOut(e):
			h.Ended, h.Reason, h.Detail = handoff.Blocked, model.ReasonTimeout, e.Cause.Error()
		default:
			h.Ended, h.Detail = handoff.Failed, e.Cause.Error()
		}
	}
	h.Detail = redact.Text(ctx, p.Thread, h.Detail)
	h.Outcome.Usage.CostUSD = m.CostUSD
	h.Notes = p.Notes
	return h
}

// worth is the head of work without a result that is worth keeping, "" for none.
func worth(ctx context.Context, p *Attempt, e *work.Ending) string {
	held, err := work.Gather(ctx, p.Work)
	if err != nil && p.Issue != nil && err.Error() == e.Detail { // that is said already
		return ""
	}
	if err != nil {
		work.Note(p.Work, "the agent's work could not be kept: "+err.Error())
		return ""
	}
	return held.Head
}

// Collect reads the handoff, once a run. If it cannot be read, the turn says so once it is claimed.
func Collect(p *Attempt) {
	if p.Bundle == "" || p.Memory.Received != nil {
		return
	}
	h, err := handoff.Read(p.Bundle)
	p.Memory.Received = &thread.Received{Handoff: h, Err: err, Digest: handoff.Digest(p.Bundle)}
}

// Fits returns nil if the attempt can use the handoff of the agent's job, or can say that the handoff is unreadable. Otherwise
// the error ends the run before it claims anything: somebody has moved the head, and the event for that has a run of its own.
// waits says what waits for an agent. want returns what the handoff has to match.
func Fits(p *Attempt, waits string, want func() (handoff.Expected, error)) error {
	if !ExpectsHandoff(p) {
		return thread.EndWithoutAgent(p.World, "%s", waits)
	}
	if err := fresh(p); err != nil || p.Memory.Received.Err != nil {
		return err
	}
	expected, err := want()
	if err != nil {
		return err
	}
	expected.Repo, expected.Number = p.Event.Repo, p.Event.Number
	if err := handoff.Check(p.Memory.Received.Handoff, expected); err != nil {
		return thread.End(model.ResultRetry, "%s; the agent phase of the next event continues", err)
	}
	return nil
}

// fresh is an error where what was handed over has led to an attempt already, which failed: somebody had only the last job run
// again. That is no attempt of the agent.
func fresh(p *Attempt) error {
	digest := p.Memory.Received.Digest
	for _, t := range p.State.Turns {
		failed := slices.Clone(t.Marker.Tries)
		if t.Marker.Phase == model.PhaseFailed {
			failed = append(failed, t.Marker.Try())
		}
		for _, try := range failed {
			if digest != "" && try.Handoff == digest {
				return thread.End(model.ResultFailed, "attempt %d on %s failed with what the agent's job handed over, see %s; rerun all jobs, so that the agent runs again", try.Attempt, p.About(), t.URL)
			}
		}
	}
	return nil
}

// Offered reports whether a handoff may hold the agent's part of a turn that this run has not used yet.
func Offered(p *Attempt) bool {
	r := p.Memory.Received
	return r != nil && !p.Memory.Used && (r.Err != nil || r.Ended != handoff.Nothing)
}

// ExpectsHandoff reports whether a handoff is there, or should be, for the number of this run.
func ExpectsHandoff(p *Attempt) bool {
	return Offered(p) && (p.Memory.Received.Err == nil || p.Event.Number == p.Number)
}

// receive is the agent's part of a turn in the apply phase: what was handed over, none of it believed. Whatever does not
// hold is an attempt that failed, and says by name what it was.
func receive(ctx context.Context, p *Attempt) (product, error) {
	r := p.Memory.Received
	p.Memory.Used, p.Marker.Handoff = true, r.Digest
	start := work.Base(p.Work)
	if p.Earlier != "" {
		start = p.Snap.Pull.HeadSHA
	}
	if err := restore(ctx, p, start); err != nil {
		return product{}, err
	}
	if r.Err != nil {
		return product{ending: work.Failing(r.Err)}, nil
	}
	if p.Issue != nil {
		if err := p.Flow.BeginAt(ctx, r.Start); err != nil {
			return product{}, err
		}
	}
	done, err := takeIn(ctx, p, r.Handoff)
	if errors.As(err, &done.ending) {
		withheld := slices.Contains([]string{model.ReasonForbidden, model.ReasonSecret}, done.ending.Block.Reason) // it must not be pushed
		if withheld && p.Admitted == "" && p.Issue != nil {
			p.Unkept = done.ending.Detail
		}
		return done, nil
	}
	return done, err
}

// takeIn holds what was handed over against the rules, and takes in as much of it as holds.
func takeIn(ctx context.Context, p *Attempt, h handoff.Handoff) (product, error) {
	charge(p, h.Outcome.Usage.CostUSD)
	for _, n := range h.Notes {
		if !slices.Contains(p.Notes, n) { // this phase may have found the same
			work.Note(p.Work, n)
		}
	}
	done := product{out: h.Outcome, head: h.Base(), seconds: h.Seconds}
	if h.Commits() {
		var err error
		if h.Head, err = admit(ctx, p, h); err != nil {
			return done, err
		}
		done.head, p.Admitted = h.Head, h.Head
	}
	if p.Issue != nil && h.Commits() {
		if err := p.Flow.ReceiveCommits(ctx, h); err != nil {
			return done, err
		}
	}
	if e := endingOf(p, h); e != nil {
		return done, e
	}
	if p.Issue != nil {
		if err := p.Flow.Valid(ctx, h); err != nil {
			return done, err
		}
	}
	done.out = sift(p, h.Outcome, done.head)
	return done, takeReview(ctx, p, h.Outcome.Findings, done.head)
}

// admit takes the commits of a handoff in and holds them against the rules. They are not checked out: their files are
// nobody's business here. It gives the head that they lead to once they are ours.
func admit(ctx context.Context, p *Attempt, h handoff.Handoff) (string, error) {
	if main := p.Snap.DefaultBranch; main != p.Snap.Pull.BaseRef { // the agent may have had it merged
		if _, err := checkout.FetchOrigin(ctx, p.Checkout, main); err != nil {
			return "", err
		}
	}
	if t := Earlier(p); t.Kept.Left() && !t.Kept.Bundled() { // the agent may have continued from it
		if _, err := fetchKept(ctx, p, t.Try); err != nil && !git.IsNoRef(err) {
			return "", err
		}
	}
	err := transport.ReadBundle(ctx, p.Checkout, handoff.BundlePath(p.Bundle), h.Base(), h.Head)
	if refused := (*transport.ErrBundle)(nil); errors.As(err, &refused) {
		return "", work.Failing(err)
	}
	if err != nil {
		return "", err
	}
	relation, err := thread.RelationIn(ctx, p.Checkout, h.Base(), h.Head)
	if err != nil {
		return "", err
	}
	if lineage.Decide(relation) != lineage.Pass {
		return "", &work.Ending{Block: thread.Rewritten(h.Base(), h.Head, model.GuardLocal)}
	}
	clear(p.Checkout.Differing) // these files are not those that the agent had
	done, err := work.Own(ctx, p.Work, h.Base(), h.Head)
	if p.Made = done; err != nil {
		return "", err
	}
	found, _, err := work.Inspect(ctx, p.Work, h.Base(), done.Head)
	if err == nil && found.Reason != "" {
		p.Admitted = done.Head // to be kept, where that may be
		return "", work.Blocked(p.Work, found.Reason, found.Detail)
	}
	return done.Head, err
}

// endingOf is how the agent's part ended that came to no result.
func endingOf(p *Attempt, h handoff.Handoff) *work.Ending {
	switch h.Ended {
	case handoff.Blocked:
		if h.Reason == model.ReasonRewrite {
			return &work.Ending{Block: thread.Rewritten(work.Base(p.Work), h.Observed, model.GuardLocal)}
		}
		return work.Blocked(p.Work, h.Reason, h.Detail)
	case handoff.Failed:
		return work.Failing(errors.New(h.Detail))
	case handoff.Postponed:
		return &work.Ending{Cause: errors.New(h.Detail), Waits: true}
	}
	return nil
}

// TimedOut reports whether an agent ran out of time, its own or the run's.
func TimedOut(e *work.Ending) bool {
	failed := (*agent.Error)(nil)
	return errors.As(e.Cause, &failed) && failed.Kind == agent.Timeout || errors.Is(e.Cause, thread.ErrRunTime)
}
