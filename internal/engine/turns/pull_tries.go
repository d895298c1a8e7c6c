package turns

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// exhausted blocks a pull request whose last attempt died before it could say that it was the last. Its claim stays and tells
// of all attempts, as the block does.
func exhausted(ctx context.Context, p *Pull, m model.TurnMarker) error {
	p.Marker = m
	gone := replaced(p)
	at := -1
	for i, g := range gone {
		if g.Marker.Key == m.Key && g.Marker.Phase != model.PhasePlanned {
			at = i
		}
	}
	if at < 0 {
		return p.Block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: m.Start}, "")
	}
	last := gone[at]
	p.ClaimID, p.Marker = last.CommentID, last.Marker
	p.Marker.Tries = turn.Past(nil, gone)
	if _, err := work.FindSaved(ctx, p.Work, gone); err != nil {
		return err
	}
	for i, t := range p.Marker.Tries {
		if t.RunURL == last.Marker.RunURL && t.Attempt == last.Marker.Attempt {
			p.Kept = t.Kept
			p.Marker.Tries = slices.Delete(p.Marker.Tries, i, i+1)
			break
		}
	}
	p.Marker.Kept = p.Kept
	if p.Marker.Reason == "" {
		p.Marker.Reason = "the runs ended without a result; see their logs"
	}
	cause := p.Marker.Reason
	p.Feedback = feedbackOf(p, p.Marker.Events)
	if p.Marker.Phase != model.PhaseFailed {
		if err := GiveUp(ctx, p.Attempt, turn.Last); err != nil {
			return err
		}
	}
	blocked := p.Block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: work.Base(p.Work)}, cause)
	if err := Clear(ctx, p.Attempt, slices.Delete(gone, at, at+1)); err != nil {
		return err
	}
	return blocked
}
