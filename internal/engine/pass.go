package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// pass is one way through for one pull request or issue: at most one turn.
type pass struct {
	*Engine
	event  model.Event
	report *model.Report

	snap     model.Snapshot
	state    model.State
	settings config.Settings
	policy   turn.Policy
	*memory
	readAt   time.Time               // of the snapshot, on our clock
	liveness map[int64]turn.Liveness // what was found out about claims, by comment id
	reported map[int64]bool          // distrusted comments that the log has

	// The turn at hand.
	claimID  int64
	marker   model.TurnMarker
	feedback []model.Comment
	checkout *git.Checkout
	ownClone bool // and not the workspace
	cleared  bool // since tests of merges run there
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
	branch string          // that is read along with the issue
	queue  []model.Comment // what waits on the issue to be taken up
	lost   []model.Trace   // what is left of turns whose receipts were deleted
	pulls  []model.PullRef // from the branch of the newest receipt; nil: not asked

	// The commands at hand.
	operators   command.Policy
	others      map[int]*pass     // further pull requests that commands are about
	lastComment int64             // that was posted for a command
	mergeFacts  *model.MergeFacts // nil: not asked
	asked       bool              // for a merge, by a command
	refused     *Stop             // why a merge that was asked for is out of the question
	// elsewhereEnded is how the turns ended that commands set going on other pull requests.
	elsewhereEnded error
	lifted         int64 // the comment of the agent's question that somebody has answered; 0: none
	onlooks        bool  // the token need not be the one that the work is done with
}

func (p *pass) close() {
	for _, other := range p.others {
		other.close()
	}
	p.leaveCheckout()
}

// once takes the pull request or issue as far as one turn goes. It says whether another look is due.
func (p *pass) once(ctx context.Context) (again bool, err error) {
	if err := p.begin(ctx); err != nil {
		return false, err
	}
	p.collect()
	if p.Phase != AgentPhase {
		if err := p.commands(ctx); err != nil {
			return false, err
		}
	}
	if p.elsewhereEnded != nil {
		return false, p.elsewhereEnded
	}
	if !p.snap.IsPull {
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
		return false, errors.Join(p.goOn(ctx, model.Event{Name: p.event.Name, Repo: p.event.Repo, Number: issue}), p.elsewhereEnded)
	}
	again, err = p.onPull(ctx)
	if waiting != nil && p.settings.Agent.None() && errors.Is(err, config.ErrInvalid) { // what this run was for has its end
		p.Log.Warn("left_out", p.numberKey(), p.event.Number, "error", err)
		return false, waiting
	}
	if s := (*Stop)(nil); waiting != nil && !again && (err == nil || errors.As(err, &s) && s.Result == model.ResultNothing) {
		return false, waiting // there is nothing else to be said of this run
	}
	return again, err
}

// beforeTurn does what comes before any turn, and gives what a turn would be about.
func (p *pass) beforeTurn(ctx context.Context) (pending []model.Comment, dead []model.Said[model.TurnMarker], err error) {
	for _, step := range []func(context.Context) error{p.hearAnswer, p.gates, p.readFailures, p.flaky} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	if p.event.Name == "schedule" {
		if err := p.tellLost(ctx); err != nil {
			return nil, nil, err
		}
	}
	if dead, err = p.deadClaims(ctx); err != nil {
		return nil, nil, err
	}
	if pending, err = p.pending(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.restoreReceipts(ctx); err != nil {
		return nil, nil, err
	}
	if len(pending) > 0 && p.snap.Pull.Issue == nil {
		if err := p.readSource(ctx); err != nil {
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
	if len(pending) == 0 && len(dead) == 0 && (!p.watched() || p.settings.Agent.None()) {
		return false, stop(model.ResultNothing, "nothing is pending on pull request %d", p.snap.Pull.Number)
	}
	if err := p.needAgent(); err != nil && len(dead) == 0 { // a plan of a dead run may be published without one
		return false, err
	}
	if err := p.guardCrossCycle(ctx, dead); err != nil {
		return false, err
	}
	if p.DryRun {
		return false, p.foretell(ctx, pending, dead)
	}
	if p.Phase == AgentPhase {
		return false, p.handOver(ctx, pending, dead)
	}
	if err := p.track(ctx); err != nil {
		return false, err
	}
	if len(pending) == 0 && len(dead) == 0 {
		return false, stop(model.ResultNothing, "nothing is pending on pull request %d", p.snap.Pull.Number)
	}
	p.backToWorkspace()
	return p.take(ctx, pending, dead)
}

// configure reads the settings off the base branch.
func (p *pass) configure() error {
	branch := p.settingsBranch()
	if p.snap.DefaultBranch == "" {
		return fmt.Errorf("%w: repository %s has no commit yet: push one to its default branch, with %s in it", config.ErrInvalid, p.event.Repo, SettingsPath)
	}
	if _, mirror := git.MirrorOf(branch); mirror { // whose settings a stranger has written
		return stop(model.ResultNothing, "nothing is done for pull requests into %s: it may be the mirror of a fork", branch)
	}
	source := p.settingsSource()
	if !p.snap.SettingsFound {
		return config.Missing(source)
	}
	s, err := config.Parse(p.snap.Settings, source)
	if err != nil {
		return err
	}
	if err := p.checkAgent(s); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	p.settings, p.operators = s, command.Policy{Operators: s.Repo.Operators, OperationsIssue: s.Repo.OperationsIssue}
	if p.snap.IsPull && branch != p.snap.DefaultBranch { // other pull requests are no affair of this branch's settings
		p.operators.OperationsIssue = 0
	}
	p.policy = policyOf(s)
	p.policy.Trigger = p.event
	if len(p.settings.Repo.Bots) > 0 {
		p.fold() // more comments count as ours than were known when the state was folded first
	}
	return nil
}

// settingsBranch is the branch whose settings count.
func (p *pass) settingsBranch() string {
	if p.snap.IsPull {
		return p.snap.Pull.BaseRef
	}
	return p.snap.DefaultBranch
}

// settingsSource is what people know the settings by.
func (p *pass) settingsSource() string { return p.settingsBranch() + ":" + SettingsPath }

// policyOf is what the settings say about whose words count.
func policyOf(s config.Settings) turn.Policy {
	return turn.Policy{
		AllowedUsers: s.Repo.AllowedUsers, Track: s.Repo.Track, IgnoreLabel: s.Labels.Ignore,
		MaxPerTurn: s.Feedback.MaxPerTurn, IsCommand: command.Is,
	}
}

// labelsOf are the labels that set an agent to work.
func labelsOf(l config.Labels) flow.Labels {
	return flow.Labels{Design: l.Design, Bugfix: l.Bugfix, SmallJob: l.SmallJob, Ignore: l.Ignore}
}

// subject names what the pass is about.
func (p *pass) subject() string {
	if p.issue != nil || p.snap.Thread != nil {
		return fmt.Sprintf("issue %d", p.event.Number)
	}
	return fmt.Sprintf("pull request %d", p.event.Number)
}

// numberKey is what the log calls the number that the pass is about.
func (p *pass) numberKey() string {
	if p.issue != nil || p.snap.Thread != nil {
		return "issue_number"
	}
	return "pr_number"
}

// SettingsPath is where the settings live, on the base branch.
const SettingsPath = ".github/mergexo.toml"

// gates stops at the first gate that is not met.
func (p *pass) gates(ctx context.Context) error {
	gates := turn.Gates(p.snap, p.state, p.policy)
	if p.owesAnswers() {
		gates = slices.DeleteFunc(gates, func(g model.Gate) bool { return g.Name == turn.GateOpen || g.Name == turn.GateBranch })
	}
	g, unmet := turn.Unmet(gates)
	switch {
	case !unmet:
		return nil
	case g.Name == turn.GateBlock:
		b := p.state.Block.Marker
		return &Stop{Result: model.ResultBlocked, Reason: g.Evidence, Block: &b}
	case g.Name == turn.GateMarkers:
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonMarkerEdited, Expected: p.state.Accepted, Observed: p.snap.Pull.HeadSHA}, g.Evidence)
	}
	return stop(model.ResultNothing, "%s", g.Evidence)
}

// owesAnswers says that a turn of a run that died was published before the pull request was merged or closed.
func (p *pass) owesAnswers() bool {
	return slices.ContainsFunc(turn.Open(p.state), func(t model.Said[model.TurnMarker]) bool {
		m := t.Marker
		return m.Phase == model.PhasePlanned && m.Planned == p.snap.Pull.HeadSHA && m.Planned != turn.Base(m)
	})
}

// hearAnswer lifts a question of the agent where somebody who is heard has said something since: that is feedback of the
// next turn, whose claim records it.
func (p *pass) hearAnswer(ctx context.Context) error {
	question := turn.Question(p.state)
	if question == nil {
		return nil
	}
	pending, err := p.pending(ctx)
	if err == nil && len(turn.Answers(*question, p.state, p.event.Number, pending)) > 0 {
		p.lifted = question.CommentID
		p.state.Lift(p.lifted)
	}
	return err
}

// pending is the feedback that this run may act on, asking for the rights of people it does not know yet.
func (p *pass) pending(ctx context.Context) ([]model.Comment, error) {
	candidates := turn.Candidates(p.snap, p.state, p.policy)
	if err := p.attest(ctx, candidates); err != nil {
		return nil, err
	}
	p.findLost()
	candidates = turn.Candidates(p.snap, p.state, p.policy)
	if err := p.ask(ctx, turn.Unasked(candidates, p.rights, p.state.Settled, p.policy)); err != nil {
		return nil, err
	}
	return p.unheard(turn.Allowed(candidates, p.rights, p.policy)), nil
}

// unheard are comments without the words of an approval while a merge is asked for. Those are for who merges: a turn over
// them would take the approval away.
func (p *pass) unheard(comments []model.Comment) []model.Comment {
	if m := p.state.Merge(); m == nil || !m.Marker.Open() {
		return comments
	}
	return slices.DeleteFunc(comments, func(c model.Comment) bool { return c.Kind == model.KindReviewSummary && c.ReviewState == "APPROVED" })
}

// ask finds out what these people may do, each asked about once a run.
func (p *pass) ask(ctx context.Context, logins []string) error {
	if len(logins) == 0 {
		return nil
	}
	got, err := p.GitHub.Permissions(ctx, p.event.Repo, logins)
	if err != nil {
		return err
	}
	for _, login := range logins {
		p.rights[login] = got[login] // absent: none
	}
	return nil
}

// designed is the issue whose design this pull request was merged with just now; 0 for none.
func (p *pass) designed() int {
	t := p.state.Tracked
	if p.event.Name != "pull_request" || p.snap.Pull.State != model.PullMerged || t == nil {
		return 0
	}
	if t.Marker.Flow == string(model.FlowDesign) {
		return t.Marker.Issue
	}
	if t.Marker.Flow == "" { // tracked before the flow's own run could say so; the issue tells whether it is true
		return flow.DesignOf(p.snap.Pull.HeadRef)
	}
	return 0
}

// watched says that the event is about the pull request's head itself: then it is tracked and guarded even when nobody
// has said anything.
func (p *pass) watched() bool {
	if p.event.Name == "schedule" {
		return true
	}
	if p.event.Name != "pull_request" {
		return false
	}
	return slices.Contains([]string{"opened", "reopened", "ready_for_review", "synchronize"}, p.event.Action)
}
