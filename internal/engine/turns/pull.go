package turns

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Pull answers the feedback on a pull request.
type Pull struct{ *Attempt }

// NewPull returns the pull request of a thread.
func NewPull(t *thread.Thread) *Pull {
	p := &Pull{Attempt: &Attempt{Work: &work.Work{Thread: t}}}
	p.Subject, p.Words = p, Words{
		Kind: journal.KindTurn, Marker: func(m model.TurnMarker) any { return journal.Packed(m) },
		Claim:   func() string { return turn.ClaimText(p.Snap.Pull, p.Feedback, p.Marker) },
		Planned: func(m model.TurnMarker) string { return turn.PlannedText(p.Snap.Pull, p.Feedback, m) },
		Failed:  func(next string) string { return turn.FailedText(p.Snap.Pull, p.Feedback, p.Marker, next) },
		Again:   turn.Retry, Later: turn.Later,
	}
	return p
}

// dueTurn is what the next turn of a pull request is about.
type dueTurn struct {
	p       *Pull
	pending []model.Comment
	dead    []model.Posted[model.TurnMarker]
}

// Continue handles what is pending, up to the end of one turn. again reports whether another look is due.
func (p *Pull) Continue(ctx context.Context) (again bool, err error) {
	d := &dueTurn{p: p}
	p.Due(model.DueFeedback, time.Time{})
	for _, step := range []func(context.Context) error{
		p.hearAnswer, p.gates, p.readFailures, p.flaky, d.tellLost, d.find, d.restoreReceipts, d.readSource, d.isWorthIt,
	} {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	p.Due(d.reason())
	if err := Track(ctx, p.Thread, 0, ""); err != nil {
		return false, err
	}
	if d.empty() {
		return false, d.nothing()
	}
	thread.BackToWorkspace(p.Thread)
	return take(ctx, p, d.pending, d.dead)
}

// find looks for the claims of runs that died, and for what is pending.
func (d *dueTurn) find(ctx context.Context) (err error) {
	d.p.Due(model.DueTurn, time.Time{})
	if d.dead, err = thread.DeadClaims(ctx, d.p.Thread); err == nil {
		d.pending, err = d.p.Pending(ctx)
	}
	return err
}

// readSource reads the issue that the pull request came from, which may say that a person has taken over, and what was handed over.
func (d *dueTurn) readSource(ctx context.Context) error {
	if len(d.pending) > 0 && d.p.Snap.Pull.Issue == nil {
		if err := thread.ReadSource(ctx, d.p.Thread); err != nil {
			return err
		}
		if err := d.p.gates(ctx); err != nil {
			return err
		}
	}
	return catchUp(ctx, d.p)
}

// isWorthIt stops where there is nothing that a turn could do, or where nobody can say what it would be based on.
func (d *dueTurn) isWorthIt(ctx context.Context) error {
	if d.empty() && (!thread.Watched(d.p.Thread) || d.p.Settings.Agent.None()) {
		return d.nothing()
	}
	need := thread.NeedAgent
	if len(d.pending) > 0 {
		need = thread.AgentReady
	}
	if err := need(d.p.Thread); err != nil && len(d.dead) == 0 { // a plan of a dead run may be published without one
		return thread.TellLack(ctx, d.p.Thread, err)
	}
	return thread.GuardHistory(ctx, d.p.Thread, d.dead)
}

// reason is why a sweep would come, and since when that waits.
func (d *dueTurn) reason() (model.Reason, time.Time) {
	switch {
	case d.empty(): // it is not tracked yet
		return model.DueLink, d.p.Snap.Pull.CreatedAt
	case len(d.dead) > 0:
		return model.DueTurn, d.dead[0].At
	}
	since := d.pending[0].UpdatedAt
	switch {
	case slices.ContainsFunc(d.p.State.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.Marker.Phase == model.PhaseFailed }):
		return model.DueRetry, since
	case !slices.ContainsFunc(d.pending, func(c model.Comment) bool { return c.Kind != model.KindActions }):
		return model.DueCI, since
	}
	return model.DueFeedback, since
}

func (d *dueTurn) empty() bool { return len(d.pending) == 0 && len(d.dead) == 0 }

func (d *dueTurn) nothing() error {
	return thread.End(model.ResultNothing, "nothing is pending on pull request %d", d.p.Snap.Pull.Number)
}

// gates stops at the first gate that is not met.
func (p *Pull) gates(ctx context.Context) error {
	p.Due(model.DueReplies, time.Time{})
	gates := turn.Gates(p.Snap, p.State, p.Policy)
	if thread.OwesAnswers(p.Thread) {
		gates = slices.DeleteFunc(gates, func(g model.Gate) bool { return g.Name == model.GateOpen || g.Name == turn.GateBranch })
	}
	g, unmet := model.Unmet(gates)
	switch {
	case !unmet:
		return nil
	case g.Name == model.GateBlock:
		b := p.State.Block.Marker
		return &thread.Stop{Result: model.ResultBlocked, Reason: g.Evidence, Block: &b}
	case g.Name == model.GateMarkers:
		return p.Block(ctx, model.BlockMarker{Reason: p.State.Spoilt().Code(), Expected: p.State.Accepted, Observed: p.Snap.Pull.HeadSHA}, g.Evidence)
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
