// Package feedback answers what reviewers, and CI, say of a pull request: in turns, each with its commits, its replies and a
// receipt.
package feedback

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/attempt"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Pull is a pull request whose feedback is answered.
type Pull struct{ *attempt.Attempt }

// NewPull is the pull request that a thread is about.
func NewPull(t *thread.Thread) *Pull {
	p := &Pull{Attempt: &attempt.Attempt{Work: &work.Work{Thread: t}}}
	p.Subject, p.Work.Subject = p, p
	return p
}

// beforeTurn does what comes before any turn, and gives what a turn would be about.
func (p *Pull) beforeTurn(ctx context.Context) (pending []model.Comment, dead []model.Posted[model.TurnMarker], err error) {
	for _, step := range []func(context.Context) error{p.hearAnswer, p.gates, p.readFailures, p.flaky} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	if p.Event.Name == "schedule" && p.Phase.Writes() {
		if err := tellLost(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	if dead, err = thread.DeadClaims(ctx, p.Thread); err != nil {
		return nil, nil, err
	}
	if pending, err = p.Pending(ctx); err != nil {
		return nil, nil, err
	}
	if p.Phase.Writes() {
		if err := restoreReceipts(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	if len(pending) > 0 && p.Snap.Pull.Issue == nil {
		if err := thread.ReadSource(ctx, p.Thread); err != nil {
			return nil, nil, err
		}
		if err := p.gates(ctx); err != nil { // its issue may say that a person has taken over
			return nil, nil, err
		}
	}
	return pending, dead, catchUp(ctx, p)
}

// Continue takes the pull request as far as one turn goes.
func (p *Pull) Continue(ctx context.Context) (again bool, err error) {
	pending, dead, err := p.beforeTurn(ctx)
	if err != nil {
		return false, err
	}
	if len(pending) == 0 && len(dead) == 0 && (!thread.Watched(p.Thread) || p.Settings.Agent.None()) {
		return false, thread.End(model.ResultNothing, "nothing is pending on pull request %d", p.Snap.Pull.Number)
	}
	if err := thread.NeedAgent(p.Thread); err != nil && len(dead) == 0 { // a plan of a dead run may be published without one
		return false, err
	}
	if err := thread.GuardHistory(ctx, p.Thread, dead); err != nil {
		return false, err
	}
	if !p.Phase.Writes() {
		return false, handOver(ctx, p, pending, dead)
	}
	if err := attempt.Track(ctx, p.Thread, 0, ""); err != nil {
		return false, err
	}
	if len(pending) == 0 && len(dead) == 0 {
		return false, thread.End(model.ResultNothing, "nothing is pending on pull request %d", p.Snap.Pull.Number)
	}
	thread.BackToWorkspace(p.Thread)
	return take(ctx, p, pending, dead)
}

// gates stops at the first gate that is not met.
func (p *Pull) gates(ctx context.Context) error {
	gates := turn.Gates(p.Snap, p.State, p.Policy)
	if thread.OwesAnswers(p.Thread) {
		gates = slices.DeleteFunc(gates, func(g model.Gate) bool { return g.Name == turn.GateOpen || g.Name == turn.GateBranch })
	}
	g, unmet := turn.Unmet(gates)
	switch {
	case !unmet:
		return nil
	case g.Name == turn.GateBlock:
		b := p.State.Block.Marker
		return &thread.Stop{Result: model.ResultBlocked, Reason: g.Evidence, Block: &b}
	case g.Name == turn.GateMarkers:
		return p.Block(ctx, model.BlockMarker{Reason: model.ReasonMarkerEdited, Expected: p.State.Accepted, Observed: p.Snap.Pull.HeadSHA}, g.Evidence)
	}
	return thread.End(model.ResultNothing, "%s", g.Evidence)
}

// hearAnswer lifts a question of the agent where somebody who is heard has said something since: that is feedback of the
// next turn, whose claim records it.
func (p *Pull) hearAnswer(ctx context.Context) error {
	question := turn.Question(p.State)
	if question == nil {
		return nil
	}
	pending, err := p.Pending(ctx)
	if err == nil && len(turn.Answers(*question, p.State, p.Event.Number, pending)) > 0 {
		p.Lifted = question.CommentID
		p.State.Lift(p.Lifted)
	}
	return err
}
