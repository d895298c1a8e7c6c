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

// HandOver ends the job of an agent: it writes part, the agent's share of the work, into the handoff's directory. A cancelled run has
// LastWords for that, and cut is true. what names the work in a sentence. failed is an error of the run itself, and is given back.
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

// send writes a handoff. If the agent's work is invalid, it writes another one with the reason, and with the commits unless they are the
// reason. It returns the handoff that was written.
func send(ctx context.Context, w *Work, h handoff.Handoff) (handoff.Handoff, error) {
	_, err := w.Apply(ctx, effect.HandOver(w.Bundle, h))
	if !isInvalidWork(err) {
		return h, err
	}
	bare := handoff.Handoff{
		Repository: h.Repository, Number: h.Number, Flow: h.Flow, Made: h.Made, TurnKey: h.TurnKey, Start: h.Start, Onto: h.Onto, Events: h.Events,
		Ended: handoff.Failed, Detail: err.Error(),
	}
	if refused := (*handoff.Refusal)(nil); errors.As(err, &refused) {
		kept := bare
		kept.Head = h.Head
		if _, err := w.Apply(ctx, effect.HandOver(w.Bundle, kept)); !isInvalidWork(err) {
			return kept, err
		}
	}
	_, err = w.Apply(ctx, effect.HandOver(w.Bundle, bare))
	return bare, err
}

// isInvalidWork reports whether the agent has left work that cannot be handed over. That is a failure of the agent, not of the run.
func isInvalidWork(err error) bool {
	var refused *handoff.Refusal
	var bundle *transport.ErrBundle
	var rewind *git.ErrRewind
	return errors.As(err, &refused) || errors.As(err, &bundle) || errors.As(err, &rewind)
}
