package sweeping

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// reading is one number as a survey has read it.
type reading struct{ *thread.Thread }

// item is what a survey tells of one number: what is due, and what would be if somebody had the right to it.
type item struct {
	number     int
	logKey     string // what the log calls the number
	isIssue    bool
	why        []model.Reason
	since      time.Time
	candidates []model.Comment                                         // without their texts
	unanswered []model.Comment                                         // the same, where nothing is done about them before somebody decides
	commanders []string                                                // who gave commands that nobody has answered
	whisperers []string                                                // who may have, if they have a right here
	listen     func(rights map[string]model.Permission) []command.Said // reads what they said
	delegates  []string                                                // of them, if they may read
	starters   []string                                                // who would set a flow going
	unlooked   *model.Issue                                            // an item of a roadmap that starts by itself, unless somebody else changed it; without its texts
	hosts      []string                                                // who would let a fork's pull request in
	readied    string                                                  // whose pull request is reviewed by itself, if that is somebody who may write; "" for nobody's
	depends    []int                                                   // what the request to merge waits for to land
	foreign    []string                                                // who speaks as MergeXO under another account
	failed     bool                                                    // an attempt at the candidates did
	pending    int
	fails      *failingHead // nil: nothing does
	step       flow.Step
	quiet      flow.Step                          // on an issue: the step if nobody spoke there who may
	facts      flow.Facts                         // of a step for which a pull request is looked up
	roadmap    *model.Posted[model.RoadmapMarker] // the comment on it
	settled    model.Mark
	policy     turn.Policy
	operators  command.Policy
	needs      error // why nothing is done that takes an agent; nil: there is one
	left       bool  // there is something of that kind
}

func (g *item) due(why model.Reason, since time.Time) {
	g.why = append(g.why, why)
	if g.since.IsZero() || !since.IsZero() && since.Before(g.since) {
		g.since = since
	}
}

func (p *reading) item() *item {
	return &item{number: p.Event.Number, logKey: p.NumberKey(), settled: p.State.Settled, policy: p.Policy, operators: p.Operators, needs: thread.NeedAgent(p.Thread)}
}

// openItem is the item of an open number: with whether MergeXO has worked on it with another account, what two runs said in the same
// moment, and who gave commands.
func (p *reading) openItem() *item {
	g := p.item()
	g.foreign = thread.ForeignPeople(p.State)
	if slices.ContainsFunc(p.State.Foreign, func(f model.Foreign) bool { return f.Author.Bot }) {
		g.due(model.DueIdentity, time.Time{})
	}
	if len(p.State.Surplus) > 0 {
		g.due(model.DueSurplus, time.Time{})
	}
	if g.whisperers = thread.Whisperers(p.Thread); len(g.whisperers) > 0 {
		g.listen = func(rights map[string]model.Permission) []command.Said {
			maps.Copy(p.Memory.Rights, rights)
			return thread.OpenCommands(p.Thread)
		}
	}
	for _, said := range thread.OpenCommands(p.Thread) {
		g.commanders = append(g.commanders, strings.ToLower(said.Comment.Author.Login))
		if thread.CommandPolicy(p.Thread).RoleOf(said.Comment, model.PermissionRead) == command.Delegate {
			g.delegates = append(g.delegates, strings.ToLower(said.Comment.Author.Login))
		}
	}
	return g
}

// dueAnswers finds who may have answered the agent's question.
func (p *reading) dueAnswers(g *item, st model.State, question model.Posted[model.BlockMarker]) {
	all := turn.Candidates(p.Snap, st, p.Policy)
	answers := turn.Answers(question, st, g.number, all)
	g.unanswered = stubs(slices.DeleteFunc(all, func(c model.Comment) bool {
		return slices.ContainsFunc(answers, func(a model.Comment) bool { return a.Kind == c.Kind && a.ID == c.ID })
	}))
	g.candidates = stubs(answers)
}

// duePull finds what is due on a pull request, by what was read of it in a survey.
func (p *reading) duePull() *item {
	g, st := p.openItem(), p.State
	if since, due := p.mergeDue(); due {
		g.due(model.DueMerge, since)
	} else if m := p.State.Merge(); m != nil && m.Marker.Open() && m.Marker.Reason == model.CodeDepends {
		g.depends = merge.DependsOf(p.Snap.Pull).On
	}
	p.dueReview(g)
	if said := merge.Badge(p.State); said != nil && merge.Waits(said.Marker, p.Snap.Pull.HeadSHA) { // it is over but for the badge
		return g
	}
	if p.Snap.Pull.CrossRepo {
		p.dueExternal(g)
		return g
	}
	p.dueTurn(g, st)
	return g
}

// dueTurn finds what a turn on a pull request would take up.
func (p *reading) dueTurn(g *item, st model.State) {
	question := turn.Question(st)
	if question != nil { // whoever answers it lifts it
		st.Lift(question.CommentID)
	}
	gate, unmet := model.Unmet(turn.Gates(p.Snap, st, p.Policy))
	if question != nil && !unmet {
		p.dueAnswers(g, st, *question)
		return
	}
	if unmet {
		if gate.Name == model.GateMarkers {
			g.due(model.DueReplies, time.Time{})
		}
		if gate.Name != turn.GateTracked { // else people talk to each other
			g.unanswered = stubs(turn.Candidates(p.Snap, st, p.Policy))
		}
		return
	}
	if st.Tracked == nil && len(st.Turns) == 0 && g.needs == nil {
		g.due(model.DueLink, p.Snap.Pull.CreatedAt)
	}
	for _, t := range turn.Open(st) {
		g.due(model.DueTurn, t.At)
	}
	if g.needs == nil {
		g.fails = p.failingHead()
	}
	if len(thread.LostReplies(p.Thread)) > 0 || len(p.Lost) > 0 {
		g.due(model.DueReplies, time.Time{})
	}
	g.candidates = stubs(turn.Candidates(p.Snap, st, p.Policy))
	g.failed = slices.ContainsFunc(st.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.Marker.Phase == model.PhaseFailed })
}

// stubs are comments without what takes memory. What may say nothing to an agent keeps its text where its author's right is not
// known.
func stubs(comments []model.Comment) []model.Comment {
	for i, c := range comments {
		comments[i] = model.Comment{
			Kind: c.Kind, ID: c.ID, InReplyTo: c.InReplyTo, Author: c.Author, Association: c.Association, EditedByOther: c.EditedByOther, Editor: c.Editor,
			CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Submitted: c.Submitted, Body: c.Body, Posted: c.Posted,
		}
		if turn.Insider(c) || markdown.Opens(c.Body) && !strings.Contains(strings.ToLower(c.Body), command.Word) {
			comments[i].Body, comments[i].Posted = "words", ""
		}
	}
	return comments
}

// mergeDue says whether the request to merge has anything to gain from another look, and since when. What only time can fix
// is tried again; what waits for people or checks, when something of that is not what it was at the last look.
func (p *reading) mergeDue() (since time.Time, due bool) {
	if a, asks := thread.AsksByItself(p.Thread); asks && (a.By != "" || p.Snap.Pull.Opinions != "") {
		return a.At, true
	}
	if said := merge.Badge(p.State); said != nil && (merge.BadgeOver(said.Marker, p.Snap.ReadAt) || !merge.Waits(said.Marker, p.Snap.Pull.HeadSHA)) {
		return said.At, true
	}
	for _, m := range p.State.Replaced() {
		return m.At, true
	}
	for _, m := range p.State.Requests() {
		if p.lookDue(m.Marker) {
			return m.At, true
		}
	}
	return since, false
}

// lookDue says whether an open request has anything to gain from another look.
func (p *reading) lookDue(m model.MergeMarker) bool {
	switch {
	case m.Leader != "":
		return false
	case m.State == model.MergeRunning, m.Reason == model.CodeCancelled, m.Reason == model.CodeMember:
		return true
	case m.Reason.Retryable() && m.Reason != model.CodeChecks && m.Reason != model.CodeTrain:
		return true
	}
	return m.Looked != thread.Looked(p.Snap.Pull, p.State, m.Reason)
}

// failingHead is a head of which GitHub shows that checks fail, and the keys of the failures there that are answered.
type failingHead struct {
	sha      string
	policy   turn.CIPolicy
	answered map[string]bool
}

// failingHead is that of the pull request where its failures are feedback; nil where nothing fails.
func (p *reading) failingHead() *failingHead {
	if !thread.FailuresAreFeedback(p.Thread) || !thread.Failing(p.Thread) {
		return nil
	}
	f := &failingHead{sha: p.Snap.Pull.HeadSHA, policy: thread.CIPolicy(p.Thread), answered: map[string]bool{}}
	for key := range p.State.Answered {
		if strings.Contains(key, ":"+string(model.KindActions)+":") {
			f.answered[key] = true
		}
	}
	return f
}

// dueFailures says of which items a failure has no answer yet, by the workflow runs of all failing heads at once.
func (s *sweeper) dueFailures(ctx context.Context, items []*item) error {
	var shas []string
	items = slices.DeleteFunc(slices.Clone(items), func(g *item) bool { return g.fails == nil })
	for _, g := range items {
		shas = append(shas, g.fails.sha)
	}
	if len(shas) == 0 {
		return nil
	}
	runs, err := s.GitHub.Actions.RunsOn(ctx, s.repo, shas)
	if github.KindOf(err) == github.Forbidden { // checks are not the token's to read: one by one, then
		runs, err = s.runsOf(ctx, shas)
	}
	if err != nil {
		return err
	}
	for _, g := range items {
		failed := turn.Failures(runs[g.fails.sha], g.fails.sha, g.number, g.fails.policy)
		if i := slices.IndexFunc(failed, func(c model.Comment) bool { return !g.fails.answered[c.Key(g.number)] }); i >= 0 {
			g.due(model.DueCI, failed[i].UpdatedAt)
		}
	}
	return nil
}

// runsOf asks about each head by itself.
func (s *sweeper) runsOf(ctx context.Context, shas []string) (map[string][]model.CIRun, error) {
	runs := map[string][]model.CIRun{}
	for _, sha := range shas {
		var err error
		if runs[sha], err = s.GitHub.Actions.RunsOf(ctx, s.repo, sha); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// dueExternal finds what is due on the pull request of a fork.
func (p *reading) dueExternal(g *item) {
	facts := thread.ForkFacts(p.Thread, thread.Everybody)
	step := external.Next(facts)
	switch {
	case p.State.Spoilt() != nil && p.State.Block == nil && p.Settings.External.Enabled:
		g.due(model.DueReplies, time.Time{})
	case external.LabelLeft(facts):
		g.due(model.DueExternal, step.At)
	case step.Act != external.Nothing && step.Act != external.GoOn && step.Act != external.Finish:
		g.hosts = append(g.hosts, strings.ToLower(step.By))
		g.since = step.At
	case step.Act != external.Nothing:
		if m := p.State.Merge(); m == nil || !m.Marker.Open() { // else the request to merge tells whether anything is due
			g.due(model.DueExternal, step.At)
		}
	}
}

// dueIssue finds what is due on an issue.
func (p *reading) dueIssue() *item {
	g, st := p.openItem(), p.State
	g.isIssue = true
	if d := st.Spoilt(); d != nil && !d.Deleted { // what was deleted stops only an attempt
		if n := len(st.Flows); n == 0 || st.Flows[n-1].Marker.Waiting != model.ReasonMarkerEdited { // nobody was told yet
			g.due(model.DueReplies, time.Time{})
			return g
		}
		g.step = flow.Next(thread.IssueFacts(p.Thread, nil, nil, thread.Everybody))
		return g
	}
	candidates := turn.MaySteer(turn.Candidates(p.Snap, st, p.Policy), p.Memory.Rights, p.Policy)
	facts := thread.IssueFacts(p.Thread, nil, candidates, thread.Everybody)
	g.step, g.quiet = flow.Next(facts), flow.Next(thread.IssueFacts(p.Thread, nil, nil, thread.Everybody))
	if g.step.Act == flow.LookUp {
		candidates = thread.Untold(p.Thread, candidates) // nobody is told twice where the work goes on
		g.facts = facts
		g.facts.Issue.Body, g.facts.Issue.Posted = "", ""
		g.facts.State = model.State{Flows: st.Flows[len(st.Flows)-1:], Retried: st.Retried, EditAccepted: st.EditAccepted}
	}
	if g.step.From != nil {
		g.since = g.step.From.At
	}
	switch g.step.Act {
	case flow.Nothing, flow.Wait:
		return g
	case flow.Run:
		g.roadmap = st.Roadmap
		return g
	case flow.Finish:
		if g.quiet.Act == flow.Finish {
			g.due(model.DueFlow, g.since)
		}
	}
	_, label, _ := flow.Of(p.Snap.Issue().Labels, thread.LabelsOf(p.Settings.Labels))
	for _, login := range flow.Starters(*p.Snap.Issue(), label) {
		g.starters = append(g.starters, strings.ToLower(login))
	}
	if i := *p.Snap.Issue(); flow.ByItself(i, label) {
		i.Body, i.Posted, i.LabelChanges = "", "", nil
		g.unlooked = &i
	}
	g.candidates = stubs(candidates)
	return g
}

// lookUp decides the steps of the issues whose pull requests have to be looked up for that.
func (s *sweeper) lookUp(ctx context.Context, f *scan) error {
	var ask []int
	items := slices.DeleteFunc(slices.Clone(f.items), func(g *item) bool { return g.step.Act != flow.LookUp })
	for _, g := range items {
		if !f.open[g.step.From.Marker.Pull] {
			ask = append(ask, g.step.From.Marker.Pull)
		}
	}
	states, err := s.states(ctx, ask)
	if err != nil {
		return err
	}
	for _, g := range items {
		g.facts.Pulls = []model.PullRef{}
		if n := g.step.From.Marker.Pull; f.open[n] {
			g.facts.Pulls = append(g.facts.Pulls, model.PullRef{Number: n, State: model.PullOpen})
		} else if ref, known := states[n]; known {
			g.facts.Pulls = append(g.facts.Pulls, ref)
		}
		g.step = flow.Next(g.facts)
	}
	return nil
}
