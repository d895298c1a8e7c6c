package engine

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ending is how the agent's part of a turn ended that came to no result, as data. It is an error only in Go's sense; end
// brings it about.
type ending struct {
	block  model.BlockMarker // without a reason: the attempt failed
	detail string            // of the block
	cause  error             // of the failure
	waits  bool              // nothing but time was missing: the attempt does not count
}

func (e *ending) Error() string {
	if e.block.Reason != "" {
		return e.block.Reason + ": " + e.detail
	}
	return e.cause.Error()
}

// said is an error in words that can be shown.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.err }

func (p *pass) blocked(reason, detail string) *ending {
	return &ending{block: model.BlockMarker{Reason: reason, Observed: p.base()}, detail: detail}
}

func failing(cause error) *ending { return &ending{cause: cause} }

// end keeps what the agent has done so far and says why there is no result.
func (p *pass) end(ctx context.Context, e *ending) error {
	e.detail = p.clean(context.WithoutCancel(ctx), e.detail)
	if e.cause != nil {
		e.cause = said{p.clean(context.WithoutCancel(ctx), e.cause.Error()), e.cause}
	}
	if p.issue != nil {
		return p.endIssue(ctx, e)
	}
	if ctx.Err() != nil && e.block.Reason == "" {
		return p.cancelled(ctx, e.cause)
	}
	ctx = context.WithoutCancel(ctx)
	p.kept = p.keep(ctx)
	p.unsave(ctx)
	p.dropDoubles(ctx, p.kept.SHA)
	switch {
	case e.block.Reason != "":
		return p.block(ctx, e.block, e.detail)
	case e.waits:
		return p.postpone(ctx, e.cause)
	}
	return p.failed(ctx, e.cause)
}

// failed ends this attempt of the turn.
func (p *pass) failed(ctx context.Context, cause error) error {
	p.Marker.Reason = cause.Error()
	last := p.Marker.Attempt >= turn.MaxAttempts
	next := turn.Retry(p.Marker)
	if p.issue != nil {
		next = flow.Again(p.Marker.Attempt, turn.MaxAttempts)
	}
	if last {
		next = "Nothing was pushed to the branch and the feedback stays pending."
	}
	if err := p.giveUp(ctx, next); err != nil {
		return err
	}
	if last {
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: p.base()}, cause.Error())
	}
	return thread.End(model.ResultFailed, "turn on %s, attempt %d of %d: %s", p.About(), p.Marker.Attempt, turn.MaxAttempts, p.Marker.Reason)
}

// postpone ends an attempt that only lacked time: the agent's provider is at a limit. It does not count.
func (p *pass) postpone(ctx context.Context, cause error) error {
	p.Marker.Reason = cause.Error()
	p.Marker.Attempt--
	if p.Marker.Spent != nil {
		p.Marker.Spent.Turns--
	}
	next := turn.Later
	if p.issue != nil {
		next = flow.Later
	}
	if err := p.giveUp(ctx, next); err != nil {
		return err
	}
	return thread.End(model.ResultRetry, "turn on %s waits: %s; the feedback stays pending", p.About(), cause)
}

// giveUp says that this attempt has no result, and where its work is.
func (p *pass) giveUp(ctx context.Context, next string) error {
	p.Marker.Phase, p.Marker.Outbox = model.PhaseFailed, nil
	p.Marker.Checkpoint, p.Marker.CheckpointSHA = p.kept.Branch, p.kept.SHA
	for _, n := range p.notes {
		p.Marker.Reason += "\n" + n
	}
	return p.edit(ctx, p.failedText(next))
}

// cutOff is why a run that was told to stop came to no result.
const cutOff = "the workflow run was cancelled, or its job ran out of time"

// cancelled brings the agent's work to safety in the moment that is left, and says so. The claim stays, by which the next run
// recovers; where it links the work it is given up, so that nobody has to wait until GitHub says that this run is over.
func (p *pass) cancelled(ctx context.Context, cause error) error {
	ended := errors.Join(context.Canceled, cause)
	ctx, done := clock.WithTimeout(context.WithoutCancel(ctx), p.Clock, lastWords)
	defer done()
	k := p.keep(ctx)
	p.Marker.Checkpoint, p.Marker.CheckpointSHA, p.Marker.Reason = k.Branch, k.SHA, cutOff
	say := p.park
	if k.Branch == "" {
		say = func(ctx context.Context, next string) error { return p.edit(ctx, p.failedText(next)) }
	}
	if err := say(ctx, "Nothing was pushed to the branch and the feedback stays pending. The next event or the sweep tries again."); err != nil {
		p.Log.Warn("checkpoint_not_linked", "branch", k.Branch, "error", err)
	}
	return ended
}
