package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// block stops the pull request: one comment, whoever else meets the same in this moment, and the claim at hand says so.
func (p *pass) block(ctx context.Context, m model.BlockMarker, detail string) error {
	if p.issue != nil {
		return p.wait(ctx, m.Reason, detail)
	}
	m.Repo, m.Number, m.Key = p.event.Repo.String(), p.event.Number, p.marker.Key
	m.Detail = clip(detail)
	blocked := &Stop{Result: model.ResultBlocked, Reason: turn.BlockReason(p.snap.Pull, m, detail), Block: &m}
	if m.Reason == model.ReasonRewrite {
		p.logRewrite(m)
	}
	parts := []string{"block", fmt.Sprint(m.Number), m.Reason, m.Expected, m.Observed}
	if !m.Until.IsZero() { // another day is another block
		parts = append(parts, m.Until.Format(time.RFC3339))
	}
	token := journal.Token(parts...)
	if p.Phase == AgentPhase { // the apply phase finds the same, and says so
		return stop(model.ResultNothing, "%s", blocked.Reason)
	}
	if p.DryRun {
		p.planned("comment", fmt.Sprint(m.Number), token)
		return blocked
	}
	if p.state.Block == nil {
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
	tries := turn.WorthTelling(p.marker.Tries)
	if m.Reason == model.ReasonAttempts {
		tries = append(slices.Clone(p.marker.Tries), turn.TryOf(p.marker))
	}
	body := journal.Body{Text: turn.BlockText(p.snap.Pull, m, detail, p.kept, tries, p.notes...), Kind: journal.KindBlock, Marker: m}
	_, err := p.comment(ctx, token, body, func() int64 {
		if p.state.Block == nil {
			return 0
		}
		return p.state.Block.CommentID
	})
	if err != nil {
		return err
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	return p.tidy(ctx)
}

// endBlocked ends the claim at hand. A turn whose work is recorded and still fits the history keeps its plan: when an
// operator unblocks, it goes on without the agent.
func (p *pass) endBlocked(ctx context.Context, m model.BlockMarker, detail string) error {
	if p.claimID == 0 || p.marker.Phase == model.PhaseFailed {
		return nil
	}
	p.marker.Reason = m.Reason
	if p.state.Block != nil && p.state.Block.Marker.Reason != m.Reason { // another run's came first: nothing else says why
		p.marker.Reason += ": " + detail
	}
	p.marker.Checkpoint, p.marker.CheckpointSHA = p.kept.Branch, p.kept.SHA
	if p.marker.Phase != model.PhasePlanned || m.Reason == model.ReasonRewrite || m.Reason == model.ReasonOutcome {
		p.marker.Phase, p.marker.Outbox = model.PhaseFailed, nil
	}
	return p.park(ctx, "The pull request is blocked; see the comment below.")
}

func (p *pass) logRewrite(m model.BlockMarker) {
	issue := 0
	if p.snap.Pull.Issue != nil {
		issue = p.snap.Pull.Issue.Number
	}
	p.Log.Error("history_rewrite_blocked", "issue_number", issue, "pr_number", m.Number, "turn_key", m.Key,
		"expected_head_sha", m.Expected, "observed_head_sha", m.Observed)
}
