package engine

import (
	"context"
	"strconv"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// planned notes what a dry run would do.
func (p *pass) planned(kind, target, token string) {
	p.report.Effects = append(p.report.Effects, model.Effect{Kind: kind, Target: target, Token: token, Status: "planned"})
}

// foretell puts into the report what would be done, for a dry run.
func (p *pass) foretell(ctx context.Context, pending []model.Comment, dead []model.Said[model.TurnMarker]) error {
	number, plan := strconv.Itoa(p.snap.Pull.Number), p.planned
	if p.state.Tracked == nil && len(p.state.Turns) == 0 {
		plan("comment", number, trackToken(p.event))
	}
	m, feedback := p.next(pending, dead)
	if m.Key == "" {
		return stop(model.ResultNothing, "dry run: what a dead claim was about is not pending any more")
	}
	p.report.TurnKey = m.Key
	if m.Attempt > turn.MaxAttempts {
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: m.Start}, "")
	}
	if _, why, opens := p.budget().Spend(p.state.Spent, p.serverNow()); why != "" && m.Phase == model.PhaseStarted {
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonBudget, Observed: m.Start, Until: opens}, why)
	}
	plan("comment", number, turnToken(m.Key))
	plan("stage", stageRef(p.snap.Pull.Number, m.Key), journal.Token("stage", m.Key))
	plan("push", p.snap.Pull.HeadRef, journal.Token("push", m.Key))
	for _, c := range feedback {
		if c.Kind == model.KindReview {
			plan("reply", strconv.FormatInt(c.ID, 10), replyToken(m.Key, c.ID))
		}
	}
	return stop(model.ResultNothing, "dry run: a turn over %d comments on pull request %s would start at %s", len(feedback), number, markdown.Short(m.Start))
}
