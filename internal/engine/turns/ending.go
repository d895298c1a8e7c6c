package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// end keeps what the agent has done so far and says why there is no result.
func end(ctx context.Context, p *Attempt, e *work.Ending) error {
	e.Detail = redact.Text(context.WithoutCancel(ctx), p.Thread, e.Detail)
	if e.Cause != nil {
		e.Cause = work.Shown(redact.Text(context.WithoutCancel(ctx), p.Thread, e.Cause.Error()), e.Cause)
	}
	err := conclude(ctx, p, e)
	switch s := (*thread.Stop)(nil); {
	case errors.As(err, &s) && ctx.Err() == nil: // a comment names where the work is now
		work.Unsave(ctx, p.Work)
	case err != nil && s == nil && len(p.Notes) > 0: // no comment says it
		err = fmt.Errorf("%w; %s", err, strings.Join(p.Notes, "; "))
	}
	return err
}

// conclude keeps the work of an attempt without a result, and says what comes next.
func conclude(ctx context.Context, p *Attempt, e *work.Ending) error {
	if ctx.Err() != nil && e.Block.Reason == "" {
		return p.Subject.Cancelled(ctx, e.Cause)
	}
	ctx = context.WithoutCancel(ctx)
	p.Kept = work.KeepAll(ctx, p.Work)
	Supersede(ctx, p, p.Kept.SHA)
	if e.Block.Reason != "" {
		return p.Subject.Block(ctx, e.Block, e.Detail)
	}
	if p.Issue != nil {
		if reason := p.Flow.Stops(e); reason != "" {
			return p.Subject.Block(ctx, model.BlockMarker{Reason: reason}, e.Cause.Error())
		}
	}
	if e.Waits {
		return Postpone(ctx, p, e.Cause)
	}
	return Failed(ctx, p, e.Cause)
}

// Unsaid leaves a block or a stop that GitHub does not take now to the next run, which posts it without asking the agent again.
func Unsaid(p *Attempt, m model.BlockMarker, detail string) {
	m.Detail = thread.Clip(strings.Join(append([]string{detail}, p.Notes...), "\n"))
	p.Marker.Unsaid, p.Marker.Kept = &m, p.Kept
}

// Failed ends this attempt with cause, and says whether another one follows.
func Failed(ctx context.Context, p *Attempt, cause error) error {
	p.Marker.Reason = cause.Error()
	last := p.Marker.Attempt >= turn.MaxAttempts
	next := p.Words.Again(p.Marker)
	if last {
		next = turn.Last
	}
	if err := GiveUp(ctx, p, next); err != nil {
		return err
	}
	if last {
		return p.Subject.Block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: work.Base(p.Work)}, cause.Error())
	}
	return thread.End(model.ResultFailed, "the turn on %s failed, attempt %d of %d: %s", p.About(), p.Marker.Attempt, turn.MaxAttempts, p.Marker.Reason)
}

// Postpone ends an attempt that only lacked time, because the agent's provider is at a limit. The attempt does not count.
func Postpone(ctx context.Context, p *Attempt, cause error) error {
	p.Marker.Reason = cause.Error()
	p.Marker.Attempt--
	if p.Marker.Spent != nil {
		p.Marker.Spent.Turns--
	}
	if err := GiveUp(ctx, p, p.Words.Later); err != nil {
		return err
	}
	return thread.End(model.ResultRetry, "the turn on %s waits: %s; comments are kept", p.About(), cause)
}

// GiveUp records that this attempt has no result, why, and where its work is. next says what follows.
func GiveUp(ctx context.Context, p *Attempt, next string) error {
	p.Marker.Phase, p.Marker.Outbox = model.PhaseFailed, nil
	p.Marker.Kept = p.Kept
	for _, n := range p.Notes {
		p.Marker.Reason += "\n" + n
	}
	return Edit(ctx, p, p.Words.Failed(next))
}
