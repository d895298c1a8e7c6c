package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// block stops the pull request: one comment, whoever else meets the same in this moment, and the claim at hand says so.
func (p *pass) block(ctx context.Context, m model.BlockMarker, detail string) error {
	if p.issue != nil {
		return p.wait(ctx, m.Reason, detail)
	}
	m.Repo, m.Number, m.Key = p.Event.Repo.String(), p.Event.Number, p.Marker.Key
	m.Detail = thread.Clip(detail)
	blocked := &thread.Stop{Result: model.ResultBlocked, Reason: turn.BlockReason(p.Snap.Pull, m, detail), Block: &m}
	if m.Reason == model.ReasonRewrite {
		p.logRewrite(m)
	}
	parts := []string{"block", fmt.Sprint(m.Number), m.Reason, m.Expected, m.Observed}
	if !m.Until.IsZero() { // another day is another block
		parts = append(parts, m.Until.Format(time.RFC3339))
	}
	token := journal.Token(parts...)
	if p.Phase == thread.AgentPhase { // the apply phase finds the same, and says so
		return thread.End(model.ResultNothing, "%s", blocked.Reason)
	}
	if p.State.Block == nil {
		if err := p.postBlock(ctx, token, m, detail); err != nil {
			return err
		}
	}
	if err := p.endBlocked(ctx, m, detail); err != nil {
		return err
	}
	return blocked
}

// postBlock says it, and looks whether another run has said it first.
func (p *pass) postBlock(ctx context.Context, token string, m model.BlockMarker, detail string) error {
	tries := turn.WorthTelling(p.Marker.Tries)
	if m.Reason == model.ReasonAttempts {
		tries = append(slices.Clone(p.Marker.Tries), turn.TryOf(p.Marker))
	}
	body := journal.Body{Text: turn.BlockText(p.Snap.Pull, m, detail, p.kept, tries, p.notes...), Kind: journal.KindBlock, Marker: m}
	if _, err := p.Comment(ctx, token, body, effect.Mark{Block: true}); err != nil {
		return err
	}
	if err := p.Read(ctx); err != nil {
		return err
	}
	return p.Tidy(ctx)
}

// endBlocked ends the claim at hand. A turn whose work is recorded and still fits the history keeps its plan: when an
// operator unblocks, it goes on without the agent.
func (p *pass) endBlocked(ctx context.Context, m model.BlockMarker, detail string) error {
	if p.ClaimID == 0 || p.Marker.Phase == model.PhaseFailed {
		return nil
	}
	p.Marker.Reason = m.Reason
	if p.State.Block != nil && p.State.Block.Marker.Reason != m.Reason { // another run's came first: nothing else says why
		p.Marker.Reason += ": " + detail
	}
	p.Marker.Checkpoint, p.Marker.CheckpointSHA = p.kept.Branch, p.kept.SHA
	if p.Marker.Phase != model.PhasePlanned || m.Reason == model.ReasonRewrite || m.Reason == model.ReasonOutcome {
		p.Marker.Phase, p.Marker.Outbox = model.PhaseFailed, nil
	}
	return p.park(ctx, "The pull request is blocked; see the comment below.")
}

func (p *pass) logRewrite(m model.BlockMarker) {
	issue := 0
	if p.Snap.Pull.Issue != nil {
		issue = p.Snap.Pull.Issue.Number
	}
	p.Log.Error("history_rewrite_blocked", "issue_number", issue, "pr_number", m.Number, "turn_key", m.Key,
		"expected_head_sha", m.Expected, "observed_head_sha", m.Observed)
}
