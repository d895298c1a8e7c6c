package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/thread"
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

// undertakes makes an attempt the one at hand, whose branch the pull request to come is from.
func (p *pass) undertakes(w *issueWork) {
	p.issue = w
	p.Prospect = func(pull *model.Pull) { pull.HeadRef, pull.HeadSHA = w.marker.Branch, p.Marker.Start }
}

// onIssue takes an issue as far as one attempt goes. It says whether another look is due.
func (p *pass) onIssue(ctx context.Context) (again bool, err error) {
	dead, err := p.DeadClaims(ctx)
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(p.State.Distrusted, func(d model.Distrust) bool { return d.Spoilt }); i >= 0 {
		return false, p.spoilt(ctx, p.State.Distrusted[i])
	}
	step, err := p.step(ctx)
	if err != nil {
		return false, err
	}
	switch step.Act {
	case flow.Nothing:
		return false, thread.End(model.ResultNothing, "%s", step.Why)
	case flow.Wait:
		return false, p.waits(step)
	case flow.Redirect:
		if p.Phase == thread.AgentPhase {
			return false, p.needless()
		}
		return false, p.redirect(ctx, step)
	}
	return p.attempt(ctx, step, dead)
}

// spoilt stops everything on an issue where somebody edited a comment of ours: what it said is neither obeyed nor done again.
func (p *pass) spoilt(ctx context.Context, d model.Distrust) error {
	w := &issueWork{number: p.Event.Number, marker: model.IssueMarker{Base: p.Snap.DefaultBranch}}
	if n := len(p.State.Flows); n > 0 && p.State.Flows[n-1].Marker.Status != model.PhaseDone {
		w.marker = p.State.Flows[n-1].Marker // the branch holds what it held
	}
	p.undertakes(w)
	p.Marker = model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Key: journal.Token("spoilt", strconv.FormatInt(d.CommentID, 10), d.At.String()),
		Since: p.State.Settled.At, Seen: p.State.Settled.ID,
	}
	return p.wait(ctx, model.ReasonMarkerEdited, d.URL+": "+d.Reason)
}

// waits ends a run on an issue that has said already what it waits for.
func (p *pass) waits(step flow.Step) error {
	return &thread.Stop{Result: model.ResultBlocked, Reason: step.Why, Block: &model.BlockMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Reason: step.From.Marker.Waiting, Observed: step.From.Marker.LastCheckpoint,
	}}
}

// everybody is who has a right as long as nobody was asked about it.
func everybody(string) bool { return true }

// known is what the last reading tells of the issue, as far as the next step hangs on it.
func (p *pass) known(queued int, may func(string) bool) flow.Facts {
	return flow.Facts{Issue: *p.Snap.Thread, State: p.State, Labels: thread.LabelsOf(p.Settings.Labels), Queued: queued, May: may, Pulls: p.pulls}
}

// step decides what is to be done about the issue next, asking GitHub for as little as that takes: nobody's rights, where
// nothing would come of it even if everybody had them.
func (p *pass) step(ctx context.Context) (flow.Step, error) {
	candidates := turn.Hopeful(turn.Candidates(p.Snap, p.State, p.Policy), p.Policy)
	s := flow.Next(p.known(len(candidates), everybody))
	if s.Act == flow.LookUp {
		if err := p.readBranch(ctx, s.From.Marker.Branch); err != nil {
			return flow.Step{}, err
		}
		p.pulls = append([]model.PullRef{}, p.Snap.Branch.Pulls...)
		candidates = turn.Hopeful(turn.Candidates(p.Snap, p.State, p.Policy), p.Policy)
		s = flow.Next(p.known(len(candidates), everybody))
	}
	if s.Act == flow.Nothing || s.Act == flow.Wait || s.Act == flow.Finish && s.From.Marker.Status == model.PhasePlanned {
		return s, nil
	}
	if err := p.askStarters(ctx, candidates); err != nil {
		return flow.Step{}, err
	}
	p.queue = turn.Allowed(candidates, p.Memory.Rights, p.Policy)
	return flow.Next(p.known(len(p.queue), p.may)), nil
}

// askStarters asks for the rights of those who speak on the issue, and of those who set the agent to work on it.
func (p *pass) askStarters(ctx context.Context, candidates []model.Comment) error {
	settled := p.State.Settled
	if len(p.State.Flows) == 0 { // a command's reply settles nothing that an agent has to hear
		settled = model.Mark{}
	}
	unasked := turn.Unasked(candidates, p.Memory.Rights, settled, p.Policy)
	if len(p.Policy.AllowedUsers) == 0 {
		_, label, _ := flow.Of(p.Snap.Thread.Labels, thread.LabelsOf(p.Settings.Labels))
		for _, login := range flow.Starters(*p.Snap.Thread, label) {
			if _, known := p.Memory.Rights[login]; !known && !slices.Contains(unasked, login) {
				unasked = append(unasked, login)
			}
		}
	}
	return p.Ask(ctx, unasked)
}

// outdated says why the step that an attempt was claimed for is not the next one any more, by what was read since: other
// runs have gone on, or the issue or its labels are not what they were. The attempt's own claim is left out.
func (p *pass) outdated(step flow.Step) (now flow.Step, is bool) {
	others := slices.DeleteFunc(slices.Clone(p.Snap.Comments), func(c model.Comment) bool { return c.Kind == model.KindIssue && c.ID == p.ClaimID })
	f := p.known(len(p.queue), p.may)
	f.State = p.Codec.Fold(others, p.Scope())
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
	if allowed := p.Policy.AllowedUsers; len(allowed) > 0 {
		return slices.ContainsFunc(allowed, func(l string) bool { return strings.EqualFold(l, login) })
	}
	return p.Memory.Rights[strings.ToLower(login)] >= model.PermissionWrite
}

// attempt claims the next attempt and brings it to its end.
func (p *pass) attempt(ctx context.Context, step flow.Step, dead []model.Posted[model.TurnMarker]) (again bool, err error) {
	p.undertake(step)
	p.Report.TurnKey = p.Marker.Key
	if err := p.needAgent(); err != nil && p.Marker.Phase == model.PhaseStarted {
		return false, err
	}
	spent := p.Marker.Attempt > turn.MaxAttempts // the last one died without a word
	if _, why, opens := p.Budget().Spend(p.State.Spent, p.ServerNow()); why != "" && p.Marker.Phase == model.PhaseStarted {
		return false, p.overBudget(ctx, why, opens)
	}
	if err := p.overtime(); err != nil && p.Marker.Phase == model.PhaseStarted {
		return false, err
	}
	if p.issue.fresh {
		if err := p.choose(ctx); err != nil {
			return false, err
		}
	}
	p.Branch = p.issue.marker.Branch
	switch {
	case p.Phase == thread.AgentPhase && spent:
		return false, p.needless()
	case p.Phase == thread.AgentPhase:
		return false, p.handOverIssue(ctx)
	case p.Phase == thread.ApplyPhase && !spent && p.Marker.Phase == model.PhaseStarted:
		if err := p.fittingIssue(ctx); err != nil {
			return false, err
		}
	}
	if err := p.carryIssue(ctx, step, dead); err != nil {
		p.release(ctx, err)
		return p.lookAgain(ctx, err)
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, ""
	return true, nil
}

// undertake makes the marker of the next attempt.
func (p *pass) undertake(step flow.Step) {
	w := &issueWork{number: p.Event.Number, retried: p.State.Retried}
	p.undertakes(w)
	var last model.IssueMarker
	if step.From != nil {
		last = step.From.Marker
	}
	if step.Act == flow.Finish {
		w.marker, w.staged = last, last.Status == model.PhaseWaiting
		p.feedback, _ = turn.Find(p.Snap, last.Events)
		p.Marker = p.Mine(last.TurnMarker)
		p.Marker.Phase = model.PhasePlanned
		return
	}
	start, session := w.origin(step, last, p.Snap)
	now, later := p.batch()
	p.feedback = now
	events := turn.Keys(w.number, now)
	key := journal.Token(append([]string{"flow", strconv.Itoa(w.number), string(step.Flow), strconv.FormatInt(round(p.State), 10)}, events...)...)
	spent, _, _ := p.Budget().Spend(p.State.Spent, p.ServerNow())
	mark := turn.Since(p.Snap, later)
	p.Marker = p.Mine(model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: w.number, Key: key, Phase: model.PhaseStarted, Events: events, Start: start, Session: session,
		Attempt: turn.Attempts(p.State, key) + 1, Spent: &spent, Since: mark.At, Seen: mark.ID,
	})
	p.Marker.Tries = turn.Past(nil, p.replacedFlows())
}

// replacedFlows are the claims whose place the attempt at hand takes.
func (p *pass) replacedFlows() []model.Posted[model.TurnMarker] {
	var replaced []model.Posted[model.TurnMarker]
	for _, f := range p.State.Flows {
		m := f.Marker.TurnMarker
		if f.CommentID != p.ClaimID && (thread.OpenPhase(m.Phase) || m.Key == p.Marker.Key && m.Phase == model.PhaseFailed) {
			replaced = append(replaced, model.Posted[model.TurnMarker]{Marker: m, CommentID: f.CommentID})
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

// carryIssue claims the attempt at hand and brings it to its receipt.
func (p *pass) carryIssue(ctx context.Context, step flow.Step, dead []model.Posted[model.TurnMarker]) error {
	if err := p.claim(ctx); err != nil {
		return err
	}
	if now, is := p.outdated(step); is && now.Act == flow.Nothing {
		return p.withdraw(ctx, model.ResultNothing, "%s", now.Why)
	} else if is {
		return p.withdraw(ctx, model.ResultRetry, "issue %d changed while it was being claimed: %s", p.Event.Number, now.Why)
	}
	if p.Marker.Phase == model.PhaseStarted {
		if err := p.place(ctx, dead); err != nil {
			return err
		}
	}
	p.inherit(dead)
	if err := p.clear(ctx, p.replacedFlows()); err != nil {
		return err
	}
	if p.Marker.Attempt > turn.MaxAttempts {
		p.Marker.Attempt = turn.MaxAttempts
		cause := "its run ended without a word; the run's log may tell why"
		if n := len(p.Marker.Tries); n > 0 {
			cause = cmp.Or(p.Marker.Tries[n-1].Reason, cause)
		}
		return p.wait(ctx, model.ReasonAttempts, fmt.Sprintf("%d attempts came to no result; the last one: %s", turn.MaxAttempts, cause))
	}
	return p.finishIssue(ctx)
}

// lookAgain ends an attempt that waits for a person, unless somebody has said something while its agent was at work: the
// run of that comment left it to this one.
func (p *pass) lookAgain(ctx context.Context, ended error) (again bool, err error) {
	s := (*thread.Stop)(nil)
	if !errors.As(ended, &s) || s.Result != model.ResultBlocked || ctx.Err() != nil || p.Phase != thread.WholeRun {
		return false, ended
	}
	if err := p.Read(ctx); err != nil {
		p.Log.Warn("not_looked_again", "issue_number", p.Event.Number, "error", err)
		return false, ended
	}
	more, err := p.arrived(ctx)
	if err != nil || len(more) == 0 {
		return false, ended
	}
	return true, nil
}
