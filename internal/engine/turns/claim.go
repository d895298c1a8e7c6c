package turns

import (
	"context"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Claim posts the claim and reads all claims once. The live claim with the lowest comment id wins. If that is not ours, or the
// reason for the claim has changed, Claim withdraws ours and returns a Stop.
func Claim(ctx context.Context, p *Attempt) error {
	if err := isolate(ctx, p); err != nil {
		return err
	}
	if err := recordOf(p).Claim(ctx, p.Words.Claim()); err != nil {
		return err
	}
	if p.State.Block != nil {
		return Withdraw(ctx, p, model.ResultBlocked, "pull request %d was blocked in the meantime, see %s", p.Event.Number, p.State.Block.URL)
	}
	for _, t := range p.State.Turns {
		switch {
		case t.Marker.Phase == model.PhaseDone && t.Marker.Key == p.Marker.Key:
			return Withdraw(ctx, p, model.ResultNothing, "another run finished this turn, see %s", t.URL)
		case !t.Marker.Open() || t.CommentID > p.ClaimID:
			continue
		}
		live, err := p.Busy(ctx, t.CommentID, t.Marker.Lease)
		if err != nil {
			return err
		}
		if live {
			return Withdraw(ctx, p, model.ResultRetry, "another run is working on %s, see %s", p.About(), t.URL)
		}
	}
	if m := p.State.Merge(); m != nil && m.Marker.State == model.MergeRunning {
		if live, err := thread.MergeAtWork(ctx, p.Thread, *m); err != nil {
			return err
		} else if live {
			return Withdraw(ctx, p, model.ResultRetry, "pull request %d is being merged, see %s", p.Event.Number, m.URL)
		}
	}
	if overtaken(p) {
		return Withdraw(ctx, p, model.ResultRetry, "%s changed while this run claimed it", p.About())
	}
	return nil
}

// isolate finds out how the agent, and tests of what it did, can run here.
func isolate(ctx context.Context, p *Attempt) error {
	if !p.Phase.RunsAgent() || !p.Marker.NeedsAgent() {
		return nil
	}
	if err := thread.AgentReady(p.Thread); err != nil {
		return err
	}
	if agent.BuiltIn(p.Settings.Agent.Adapter) && len(p.Settings.RequiredTests()) == 0 {
		return nil
	}
	return thread.Isolate(ctx, p.World, p.Settings)
}

// overtaken says that what the claim was made for is no longer so: some of it is answered, or, before the agent has
// worked on it, gone or said about another head.
func overtaken(p *Attempt) bool {
	begins := p.Marker.Phase == model.PhaseStarted
	if thread.Answered(p.Thread, p.Marker) && (begins || p.Issue == nil) { // on an issue, a stop answers what its plan is about
		return true
	}
	_, missing := turn.Find(p.Snap, p.Marker.Events)
	return begins &&
		(p.Snap.Pull.HeadSHA != p.Marker.Start && p.Earlier == "" || len(missing) > 0 || p.Snap.Pull.State != model.PullOpen)
}

// Withdraw deletes our claim and returns a Stop with this result and reason.
func Withdraw(ctx context.Context, p *Attempt, result model.Result, format string, args ...any) error {
	if p.ClaimID != 0 {
		if err := p.Remove(ctx, p.ClaimID, TurnToken(p.Marker.Key)); err != nil {
			return err
		}
	}
	p.ClaimID = 0
	s := thread.End(result, format, args...)
	if result == model.ResultBlocked {
		s.Block = &p.State.Block.Marker
	}
	return s
}

// Release gives up an open claim when a run ends in order without a result, so that the next run can take it at once. Without it,
// the claim ends when GitHub says that the workflow run is over. A cancelled run has no time for it.
func Release(ctx context.Context, p *Attempt, cause error) {
	if p.ClaimID == 0 || !p.Marker.Open() || !thread.Releases(ctx, cause) {
		return
	}
	if p.Marker.Reason == "" && p.Marker.Phase == model.PhaseStarted { // an attempt without a result says why
		p.Marker.Reason = redact.Text(ctx, p.Thread, cause.Error())
	}
	if err := GiveUpClaim(ctx, p, "This run ended early; the next one continues from here."); err != nil {
		p.Log.Warn("claim_not_released", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err, "cause", cause)
	}
}

// takeOver takes the place of claims whose runs died, and says where the work is that those had saved.
func takeOver(ctx context.Context, p *Attempt, replaced []model.Posted[model.TurnMarker]) error {
	work.Inherit(p.Work, replaced)
	found, err := work.FindSaved(ctx, p.Work, replaced)
	if err == nil && found {
		err = Edit(ctx, p, p.Words.Claim()) // before the claims go that name them
	}
	if err != nil {
		return err
	}
	return Clear(ctx, p, replaced)
}

// Clear deletes the comments of claims that led to nothing or that ours replaces. It also gives up the stage of a turn that went
// back to the agent, if the work is kept elsewhere.
func Clear(ctx context.Context, p *Attempt, claims []model.Posted[model.TurnMarker]) error {
	for _, c := range claims {
		m := c.Marker
		if n := len(m.Tries); m.Key != p.Marker.Key && m.Phase == model.PhaseStarted && m.Onto != "" && n > 0 && m.Tries[n-1].Kept.Branch != "" {
			p.Inherited = append(p.Inherited, git.Ref{Name: stageRef(p.Event.Number, m.Key)})
		}
		if err := p.Remove(ctx, c.CommentID, TurnToken(c.Marker.Key)); err != nil {
			return err
		}
	}
	return nil
}
