package work

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
)

// HandOver ends the job of an agent: the agent's part of it goes into the handoff's directory, or in its place why it cannot be handed over.
// A run that was cancelled has LastWords for it. failed is how the run failed meanwhile.
func HandOver(ctx context.Context, w *Work, what string, part func(ctx context.Context, cut bool) handoff.Handoff, failed error) error {
	whole, cut := context.WithoutCancel(ctx), ctx.Err() != nil
	if cut {
		last, end := clock.WithTimeout(whole, w.Clock, LastWords)
		defer end()
		whole = last
	}
	h, err := send(whole, w, part(whole, cut))
	if err != nil {
		return err
	}
	w.Handed = true
	switch {
	case failed != nil:
		return failed
	case cut:
		return thread.End(model.ResultRetry, "cancelled; %s is handed over as far as it came", what)
	}
	return thread.End(model.ResultDone, "%s ended %s and is handed over in %s", what, h.Ended, w.Bundle)
}

// send hands over, and if that cannot be handed over, what says why: with the commits, where those are not why.
func send(ctx context.Context, w *Work, h handoff.Handoff) (handoff.Handoff, error) {
	_, err := w.Apply(ctx, effect.HandOver(w.Bundle, h))
	if !cannotBe(err) {
		return h, err
	}
	bare := handoff.Handoff{
		Repository: h.Repository, Number: h.Number, Flow: h.Flow, Made: h.Made, TurnKey: h.TurnKey, Start: h.Start, Onto: h.Onto, Events: h.Events,
		Ended: handoff.Failed, Detail: err.Error(),
	}
	if refused := (*handoff.Refusal)(nil); errors.As(err, &refused) {
		kept := bare
		kept.Head = h.Head
		if _, err := w.Apply(ctx, effect.HandOver(w.Bundle, kept)); !cannotBe(err) {
			return kept, err
		}
	}
	_, err = w.Apply(ctx, effect.HandOver(w.Bundle, bare))
	return bare, err
}

// cannotBe says that what the agent left is nothing that can be handed over: that is its failure and not the run's.
func cannotBe(err error) bool {
	var refused *handoff.Refusal
	var bundle *transport.ErrBundle
	var rewind *git.ErrRewind
	return errors.As(err, &refused) || errors.As(err, &bundle) || errors.As(err, &rewind)
}
