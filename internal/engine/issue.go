package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// issueWork is what a pass knows of the way from its issue to a pull request.
type issueWork struct {
	number  int
	retried bool // an operator asked for this attempt
	// marker is the attempt at hand, but for what it has in common with a turn's: that is the pass's own marker.
	marker model.IssueMarker
	// fresh says that the attempt begins on a branch that nobody has yet.
	fresh bool
	// staged says that the plan is an earlier run's, whose stage may be there still.
	staged bool
	// tip is what the server has on the branch, as far as we know; "" for nothing.
	tip string
	// unkept is why what was done is kept nowhere, where it must not be pushed or cannot be committed.
	unkept string
	// rescue is a file with the work that could not be pushed, and lost why it could not.
	rescue string
	lost   error
}

// onIssue takes an issue as far as one attempt goes. It says whether another look is due.
func (p *pass) onIssue(ctx context.Context) (again bool, err error) {
	dead, err := p.deadClaims(ctx)
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(p.state.Distrusted, func(d model.Distrust) bool { return d.Spoilt }); i >= 0 {
		return false, p.spoilt(ctx, p.state.Distrusted[i])
	}
	step, err := p.step(ctx)
	if err != nil {
		return false, err
	}
	switch step.Act {
	case flow.Nothing:
		return false, stop(model.ResultNothing, "%s", step.Why)
	case flow.Wait:
		return false, p.waits(step)
	case flow.Redirect:
		if p.Phase == AgentPhase {
			return false, p.needless()
		}
		return false, p.redirect(ctx, step)
	}
	return p.attempt(ctx, step, dead)
}

// spoilt stops everything on an issue where somebody edited a comment of ours: what it said is neither obeyed nor done again.
func (p *pass) spoilt(ctx context.Context, d model.Distrust) error {
	w := &issueWork{number: p.event.Number, marker: model.IssueMarker{Base: p.snap.DefaultBranch}}
	if n := len(p.state.Flows); n > 0 && p.state.Flows[n-1].Marker.Status != model.PhaseDone {
		w.marker = p.state.Flows[n-1].Marker // the branch holds what it held
	}
	p.issue = w
	p.marker = model.TurnMarker{
		Repo: p.event.Repo.String(), Number: p.event.Number, Key: journal.Token("spoilt", strconv.FormatInt(d.CommentID, 10), d.At.String()),
		Since: p.state.Settled.At, Seen: p.state.Settled.ID,
	}
	return p.wait(ctx, model.ReasonMarkerEdited, d.URL+": "+d.Reason)
}

// waits ends a run on an issue that has said already what it waits for.
func (p *pass) waits(step flow.Step) error {
	return &Stop{Result: model.ResultBlocked, Reason: step.Why, Block: &model.BlockMarker{
		Repo: p.event.Repo.String(), Number: p.event.Number, Reason: step.From.Marker.Waiting, Observed: step.From.Marker.LastCheckpoint,
	}}
}

// everybody is who has a right as long as nobody was asked about it.
func everybody(string) bool { return true }

// known is what the last reading tells of the issue, as far as the next step hangs on it.
func (p *pass) known(queued int, may func(string) bool) flow.Facts {
	return flow.Facts{Issue: *p.snap.Thread, State: p.state, Labels: labelsOf(p.settings.Labels), Queued: queued, May: may, Pulls: p.pulls}
}

// step decides what is to be done about the issue next, asking GitHub for as little as that takes: nobody's rights, where
// nothing would come of it even if everybody had them.
func (p *pass) step(ctx context.Context) (flow.Step, error) {
	candidates := turn.Hopeful(turn.Candidates(p.snap, p.state, p.policy), p.policy)
	s := flow.Next(p.known(len(candidates), everybody))
	if s.Act == flow.LookUp {
		if err := p.readBranch(ctx, s.From.Marker.Branch); err != nil {
			return flow.Step{}, err
		}
		p.pulls = append([]model.PullRef{}, p.snap.Branch.Pulls...)
		candidates = turn.Hopeful(turn.Candidates(p.snap, p.state, p.policy), p.policy)
		s = flow.Next(p.known(len(candidates), everybody))
	}
	if s.Act == flow.Nothing || s.Act == flow.Wait || s.Act == flow.Finish && s.From.Marker.Status == model.PhasePlanned {
		return s, nil
	}
	if err := p.askStarters(ctx, candidates); err != nil {
		return flow.Step{}, err
	}
	p.queue = turn.Allowed(candidates, p.rights, p.policy)
	return flow.Next(p.known(len(p.queue), p.may)), nil
}

// askStarters asks for the rights of those who speak on the issue, and of those who set the agent to work on it.
func (p *pass) askStarters(ctx context.Context, candidates []model.Comment) error {
	settled := p.state.Settled
	if len(p.state.Flows) == 0 { // a command's reply settles nothing that an agent has to hear
		settled = model.Mark{}
	}
	unasked := turn.Unasked(candidates, p.rights, settled, p.policy)
	if len(p.policy.AllowedUsers) == 0 {
		_, label, _ := flow.Of(p.snap.Thread.Labels, labelsOf(p.settings.Labels))
		for _, login := range flow.Starters(*p.snap.Thread, label) {
			if _, known := p.rights[login]; !known && !slices.Contains(unasked, login) {
				unasked = append(unasked, login)
			}
		}
	}
	return p.ask(ctx, unasked)
}

// outdated says why the step that an attempt was claimed for is not the next one any more, by what was read since: other
// runs have gone on, or the issue or its labels are not what they were. The attempt's own claim is left out.
func (p *pass) outdated(step flow.Step) (now flow.Step, is bool) {
	others := slices.DeleteFunc(slices.Clone(p.snap.Comments), func(c model.Comment) bool { return c.Kind == model.KindIssue && c.ID == p.claimID })
	f := p.known(len(p.queue), p.may)
	f.State = p.Codec.Fold(others, p.scope())
	now = flow.Next(f)
	id := func(s flow.Step) int64 {
		if s.From == nil {
			return 0
		}
		return s.From.CommentID
	}
	return now, now.Act != step.Act || now.Flow != step.Flow || id(now) != id(step)
}

// may says that somebody has the right to set an agent to work.
func (p *pass) may(login string) bool {
	if allowed := p.policy.AllowedUsers; len(allowed) > 0 {
		return slices.ContainsFunc(allowed, func(l string) bool { return strings.EqualFold(l, login) })
	}
	return p.rights[strings.ToLower(login)] >= model.PermissionWrite
}

// attempt claims the next attempt and brings it to its end.
func (p *pass) attempt(ctx context.Context, step flow.Step, dead []model.Said[model.TurnMarker]) (again bool, err error) {
	p.undertake(step)
	p.report.TurnKey = p.marker.Key
	if err := p.needAgent(); err != nil && p.marker.Phase == model.PhaseStarted {
		return false, err
	}
	if p.DryRun {
		return false, p.foretellIssue(step)
	}
	spent := p.marker.Attempt > turn.MaxAttempts // the last one died without a word
	if _, why, opens := p.budget().Spend(p.state.Spent, p.serverNow()); why != "" && p.marker.Phase == model.PhaseStarted {
		return false, p.overBudget(ctx, why, opens)
	}
	if err := p.overtime(); err != nil && p.marker.Phase == model.PhaseStarted {
		return false, err
	}
	if p.issue.fresh {
		if err := p.choose(ctx); err != nil {
			return false, err
		}
	}
	p.branch = p.issue.marker.Branch
	switch {
	case p.Phase == AgentPhase && spent:
		return false, p.needless()
	case p.Phase == AgentPhase:
		return false, p.handOverIssue(ctx)
	case p.Phase == ApplyPhase && !spent && p.marker.Phase == model.PhaseStarted:
		if err := p.fittingIssue(ctx); err != nil {
			return false, err
		}
	}
	if err := p.carryIssue(ctx, step, dead); err != nil {
		p.release(ctx, err)
		return p.lookAgain(ctx, err)
	}
	p.report.Result, p.report.Reason = model.ResultDone, ""
	return true, nil
}

// undertake makes the marker of the next attempt.
func (p *pass) undertake(step flow.Step) {
	w := &issueWork{number: p.event.Number, retried: p.state.Retried}
	p.issue = w
	var last model.IssueMarker
	if step.From != nil {
		last = step.From.Marker
	}
	if step.Act == flow.Finish {
		w.marker, w.staged = last, last.Status == model.PhaseWaiting
		p.feedback, _ = turn.Find(p.snap, last.Events)
		p.marker = p.mine(last.TurnMarker)
		p.marker.Phase = model.PhasePlanned
		return
	}
	start, session := w.origin(step, last, p.snap)
	now, later := p.batch()
	p.feedback = now
	events := turn.Keys(w.number, now)
	key := journal.Token(append([]string{"flow", strconv.Itoa(w.number), string(step.Flow), strconv.FormatInt(round(p.state), 10)}, events...)...)
	spent, _, _ := p.budget().Spend(p.state.Spent, p.serverNow())
	mark := turn.Since(p.snap, later)
	p.marker = p.mine(model.TurnMarker{
		Repo: p.event.Repo.String(), Number: w.number, Key: key, Phase: model.PhaseStarted, Events: events, Start: start, Session: session,
		Attempt: turn.Attempts(p.state, key) + 1, Spent: &spent, Since: mark.At, Seen: mark.ID,
	})
	p.marker.Tries = turn.Past(nil, p.replacedFlows())
}

// replacedFlows are the claims whose place the attempt at hand takes.
func (p *pass) replacedFlows() []model.Said[model.TurnMarker] {
	var replaced []model.Said[model.TurnMarker]
	for _, f := range p.state.Flows {
		m := f.Marker.TurnMarker
		if f.CommentID != p.claimID && (openPhase(m.Phase) || m.Key == p.marker.Key && m.Phase == model.PhaseFailed) {
			replaced = append(replaced, model.Said[model.TurnMarker]{Marker: m, CommentID: f.CommentID})
		}
	}
	return replaced
}

// origin decides where an attempt begins: on a fresh branch from the base, or where the last attempt got to.
func (w *issueWork) origin(step flow.Step, last model.IssueMarker, s model.Snapshot) (start, session string) {
	w.marker = model.IssueMarker{Flow: step.Flow, Base: s.DefaultBranch, Branch: flow.Branch(step.Flow, w.number, s.Thread.Title, 1)}
	// Files are no part of a design, and a design is no part of what is done without one.
	another := (last.Flow == model.FlowDesign) != (step.Flow == model.FlowDesign)
	if step.Act == flow.Begin || another {
		w.fresh = true
		if step.Flow == model.FlowImplementation {
			w.marker.Doc, w.marker.Design = last.Doc, last.Pull
		}
		return s.DefaultSHA, ""
	}
	w.fresh = last.Branch == "" // it was stopped before one was chosen
	w.marker.Branch, w.marker.LastCheckpoint, w.marker.Doc, w.marker.Design = last.Branch, last.LastCheckpoint, last.Doc, last.Design
	return cmp.Or(last.LastCheckpoint, s.DefaultSHA), last.Session
}

// round names what the attempts that follow each other have in common: they come after the same stop or receipt.
func round(st model.State) int64 {
	id := int64(0)
	for _, f := range st.Flows {
		if m := f.Marker; m.Status == model.PhaseWaiting && m.Waiting != model.ReasonBudget || m.Status == model.PhaseDone {
			id = f.CommentID
		}
	}
	return id
}

// foretellIssue puts into the report what would be done, for a dry run.
func (p *pass) foretellIssue(step flow.Step) error {
	number, key, branch := strconv.Itoa(p.event.Number), p.marker.Key, p.issue.marker.Branch
	p.planned("comment", number, turnToken(key))
	p.planned("stage", stageRef(p.event.Number, key), journal.Token("stage", key))
	p.planned("push", branch, journal.Token("push", key))
	p.planned("pull_request", branch, pullToken(key))
	p.planned("edit", number, turnToken(key))
	return stop(model.ResultNothing, "dry run: %s for issue %d would begin: %s", step.Flow, p.event.Number, step.Why)
}

// carryIssue claims the attempt at hand and brings it to its receipt.
func (p *pass) carryIssue(ctx context.Context, step flow.Step, dead []model.Said[model.TurnMarker]) error {
	if err := p.claim(ctx); err != nil {
		return err
	}
	if now, is := p.outdated(step); is && now.Act == flow.Nothing {
		return p.withdraw(ctx, model.ResultNothing, "%s", now.Why)
	} else if is {
		return p.withdraw(ctx, model.ResultRetry, "issue %d changed while it was being claimed: %s", p.event.Number, now.Why)
	}
	if p.marker.Phase == model.PhaseStarted {
		if err := p.place(ctx, dead); err != nil {
			return err
		}
	}
	p.inherit(dead)
	if err := p.clear(ctx, p.replacedFlows()); err != nil {
		return err
	}
	if p.marker.Attempt > turn.MaxAttempts {
		p.marker.Attempt = turn.MaxAttempts
		cause := "its run ended without a word; the run's log may tell why"
		if n := len(p.marker.Tries); n > 0 {
			cause = cmp.Or(p.marker.Tries[n-1].Reason, cause)
		}
		return p.wait(ctx, model.ReasonAttempts, fmt.Sprintf("%d attempts came to no result; the last one: %s", turn.MaxAttempts, cause))
	}
	return p.finishIssue(ctx)
}

// lookAgain ends an attempt that waits for a person, unless somebody has said something while its agent was at work: the
// run of that comment left it to this one.
func (p *pass) lookAgain(ctx context.Context, ended error) (again bool, err error) {
	s := (*Stop)(nil)
	if !errors.As(ended, &s) || s.Result != model.ResultBlocked || ctx.Err() != nil || p.Phase != WholeRun {
		return false, ended
	}
	if err := p.read(ctx); err != nil {
		p.Log.Warn("not_looked_again", "issue_number", p.event.Number, "error", err)
		return false, ended
	}
	more, err := p.arrived(ctx)
	if err != nil || len(more) == 0 {
		return false, ended
	}
	return true, nil
}
