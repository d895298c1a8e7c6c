package turns

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// Block stops the pull request and ends the claim at hand. If the turn's work is recorded and still fits the history, it keeps
// its plan. After an operator unblocks, it continues without the agent.
func (p *Pull) Block(ctx context.Context, m model.BlockMarker, detail string) error {
	end := func(ctx context.Context, m model.BlockMarker) error {
		if p.ClaimID == 0 || p.Marker.Phase == model.PhaseFailed {
			return nil
		}
		p.Marker.Reason = m.Reason
		if p.State.Block != nil && p.State.Block.Marker.Reason != m.Reason { // another run's came first: nothing else says why
			p.Marker.Reason += ": " + detail
		}
		p.Marker.Kept = p.Kept
		if p.Marker.Phase != model.PhasePlanned || m.Reason == model.ReasonOutcome {
			p.Marker.Phase, p.Marker.Outbox = model.PhaseFailed, nil
		}
		return GiveUpClaim(ctx, p.Attempt, "The pull request is blocked; see the comment below.")
	}
	err := thread.Block(ctx, p.Thread, m, thread.Told{Detail: detail, Kept: p.Kept, Notes: p.Notes, End: end})
	if s := (*thread.Stop)(nil); !errors.As(err, &s) && p.Marker.NeedsAgent() {
		Unsaid(p.Attempt, m, detail)
	}
	return err
}
