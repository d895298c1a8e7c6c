package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// pass is one way through for one pull request or issue: at most one turn.
type pass struct {
	*thread.Thread
	task *task // that the pass is one look at; nil where it is no run's

	// The turn at hand.
	feedback []model.Comment
	commits  []model.Commit
	notes    []string   // what people should know of the agent's work
	sessions string     // where the agent has its transcripts
	sealed   []byte     // the transcript of its session
	earlier  string     // the head that a handoff began at, where the branch has grown since
	admitted string     // the head of commits that another process handed over, and that hold
	kept     model.Kept // where the work is of an attempt without a result
	wip      wip
	// inherited are the branches with saved work of claims whose work is recorded elsewhere.
	inherited []git.Ref

	// The way from an issue to a pull request.
	issue  *issueWork      // nil on a pull request
	source *issueWork      // that a pull request which is new comes from
	queue  []model.Comment // what waits on the issue to be taken up
	pulls  []model.PullRef // from the branch of the newest receipt; nil: not asked

	// The commands at hand.
	others      map[int]*pass // further pull requests that commands are about
	lastComment int64         // that was posted for a command
	asked       bool          // for a merge, by a command
	refused     *thread.Stop  // why a merge that was asked for is out of the question
}

// newPass is a pass over a pull request or issue, with what the run remembers of it; nil: nothing.
func newPass(w *thread.World, ev model.Event, rep *model.Report, known *thread.Memory) *pass {
	return &pass{Thread: thread.New(w, ev, rep, known)}
}

func (p *pass) close() {
	for _, other := range p.others {
		other.close()
	}
	p.LeaveCheckout()
}

// once takes the pull request or issue as far as one turn goes. It says whether another look is due.
func (p *pass) once(ctx context.Context) (again bool, err error) {
	if err := p.Begin(ctx); err != nil {
		return false, err
	}
	p.collect()
	if p.Phase != thread.AgentPhase {
		if err := p.commands(ctx); err != nil {
			return false, err
		}
	}
	if err := p.task.ended(); err != nil {
		return false, err
	}
	if !p.Snap.IsPull {
		return p.onIssue(ctx)
	}
	if err := p.wrapUp(ctx); err != nil {
		return false, err
	}
	turned, err := p.welcome(ctx)
	if err != nil {
		return false, err
	}
	waiting, err := p.mergeOn(ctx)
	if err != nil {
		return false, err
	}
	waiting = cmp.Or(waiting, p.refused, turned)
	if issue := p.designed(); issue != 0 {
		next := p.follow(issue, "")
		next.instead = true
		return false, next
	}
	again, err = p.onPull(ctx)
	if waiting != nil && p.Settings.Agent.None() && errors.Is(err, config.ErrInvalid) { // what this run was for has its end
		p.Log.Warn("left_out", p.NumberKey(), p.Event.Number, "error", err)
		return false, waiting
	}
	if s := (*thread.Stop)(nil); waiting != nil && !again && (err == nil || errors.As(err, &s) && s.Result == model.ResultNothing) {
		return false, waiting // there is nothing else to be said of this run
	}
	return again, err
}

// beforeTurn does what comes before any turn, and gives what a turn would be about.
func (p *pass) beforeTurn(ctx context.Context) (pending []model.Comment, dead []model.Posted[model.TurnMarker], err error) {
	for _, step := range []func(context.Context) error{p.hearAnswer, p.gates, p.readFailures, p.flaky} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	if p.Event.Name == "schedule" {
		if err := p.tellLost(ctx); err != nil {
			return nil, nil, err
		}
	}
	if dead, err = p.DeadClaims(ctx); err != nil {
		return nil, nil, err
	}
	if pending, err = p.Pending(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.restoreReceipts(ctx); err != nil {
		return nil, nil, err
	}
	if len(pending) > 0 && p.Snap.Pull.Issue == nil {
		if err := p.ReadSource(ctx); err != nil {
			return nil, nil, err
		}
		if err := p.gates(ctx); err != nil { // its issue may say that a person has taken over
			return nil, nil, err
		}
	}
	return pending, dead, p.catchUp(ctx)
}

// onPull takes the pull request as far as one turn goes.
func (p *pass) onPull(ctx context.Context) (again bool, err error) {
	pending, dead, err := p.beforeTurn(ctx)
	if err != nil {
		return false, err
	}
	if len(pending) == 0 && len(dead) == 0 && (!p.Watched() || p.Settings.Agent.None()) {
		return false, thread.End(model.ResultNothing, "nothing is pending on pull request %d", p.Snap.Pull.Number)
	}
	if err := p.needAgent(); err != nil && len(dead) == 0 { // a plan of a dead run may be published without one
		return false, err
	}
	if err := p.guardCrossCycle(ctx, dead); err != nil {
		return false, err
	}
	if p.Phase == thread.AgentPhase {
		return false, p.handOver(ctx, pending, dead)
	}
	if err := p.track(ctx); err != nil {
		return false, err
	}
	if len(pending) == 0 && len(dead) == 0 {
		return false, thread.End(model.ResultNothing, "nothing is pending on pull request %d", p.Snap.Pull.Number)
	}
	p.BackToWorkspace()
	return p.take(ctx, pending, dead)
}

// gates stops at the first gate that is not met.
func (p *pass) gates(ctx context.Context) error {
	gates := turn.Gates(p.Snap, p.State, p.Policy)
	if p.OwesAnswers() {
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
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonMarkerEdited, Expected: p.State.Accepted, Observed: p.Snap.Pull.HeadSHA}, g.Evidence)
	}
	return thread.End(model.ResultNothing, "%s", g.Evidence)
}

// hearAnswer lifts a question of the agent where somebody who is heard has said something since: that is feedback of the
// next turn, whose claim records it.
func (p *pass) hearAnswer(ctx context.Context) error {
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

// designed is the issue whose design this pull request was merged with just now; 0 for none.
func (p *pass) designed() int {
	t := p.State.Tracked
	if p.Event.Name != "pull_request" || p.Snap.Pull.State != model.PullMerged || t == nil {
		return 0
	}
	if t.Marker.Flow == string(model.FlowDesign) {
		return t.Marker.Issue
	}
	if t.Marker.Flow == "" { // tracked before the flow's own run could say so; the issue tells whether it is true
		return flow.DesignOf(p.Snap.Pull.HeadRef)
	}
	return 0
}
