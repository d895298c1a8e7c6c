package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// progress is what a run knows of the attempt at hand, beside its marker.
type progress struct {
	retried bool     // an operator asked for this attempt
	fresh   bool     // it begins on a branch that nobody has yet
	lost    error    // why the work could not be pushed to the branch
	refused []string // names that the server takes no branch of
}

// Issue takes an issue from its label to a pull request.
type Issue struct {
	*Attempt
	progress
	queue   []model.Comment             // what waits to be taken up
	Planned func(context.Context) error // takes the roadmap further that was merged for the issue
	pulls   []model.PullRef             // from the branch of the newest receipt; nil: not asked
}

// NewIssue returns the issue of a thread.
func NewIssue(t *thread.Thread) *Issue {
	p := &Issue{Attempt: &Attempt{Work: &work.Work{Thread: t}}}
	p.Subject, p.Flow, p.Words, p.Keep = p, p, words(p), p.keep
	return p
}

// undertakes makes an attempt the one at hand, whose branch the pull request to come is from. The marker lacks what it has in common with a
// turn's: that is the thread's own marker.
func undertakes(p *Issue, m *model.IssueMarker) {
	p.progress, p.Issue = progress{}, m
	p.Prospect = func(pull *model.Pull) { pull.HeadRef, pull.HeadSHA = m.Branch, p.Marker.Start }
}

// Continue takes an issue as far as one attempt goes. again reports whether another look is due.
func (p *Issue) Continue(ctx context.Context) (again bool, err error) {
	p.Due(model.DueFlow, time.Time{})
	step, err := dueStep(ctx, p)
	if err != nil {
		return false, err
	}
	if step.From != nil {
		p.Due(model.DueFlow, step.From.At)
	}
	switch step.Act {
	case flow.Run:
		if !p.Phase.Writes() {
			return false, needless(p.Attempt)
		}
		return false, p.Planned(ctx)
	case flow.Redirect:
		return false, redirect(ctx, p, step)
	}
	return try(ctx, p, step)
}

// dueStep is the step that the issue is at. An error ends the run: there is nothing to do, or the issue waits.
func dueStep(ctx context.Context, p *Issue) (step flow.Step, err error) {
	if _, err = thread.DeadClaims(ctx, p.Thread); err != nil {
		return step, err
	}
	if d := p.State.Spoilt(); d != nil && !d.Deleted {
		return step, spoilt(ctx, p, *d)
	}
	if step, err = NextStep(ctx, p); err != nil {
		return step, err
	}
	switch step.Act {
	case flow.Nothing:
		err = thread.End(model.ResultNothing, "%s", step.Why)
	case flow.Wait:
		err = waits(p, step)
	}
	return step, err
}

// spoilt stops everything on an issue where somebody edited or deleted a comment of ours: what it said is neither obeyed nor done again.
func spoilt(ctx context.Context, p *Issue, d model.Distrust) error {
	m := model.IssueMarker{Base: p.Snap.DefaultBranch}
	key := journal.Token("spoilt", strconv.FormatInt(d.CommentID, 10), d.At.String())
	if n := len(p.State.Flows); n > 0 && p.State.Flows[n-1].Marker.Waiting == d.Code() && p.State.Flows[n-1].Marker.Key == key { // people were told
		return waits(p, flow.Step{Why: d.Evidence(), From: &p.State.Flows[n-1]})
	} else if n > 0 && p.State.Flows[n-1].Marker.Status != model.PhaseDone {
		m = p.State.Flows[n-1].Marker // the branch holds what it held
	}
	undertakes(p, &m)
	p.Marker = model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Key: key,
		Since: p.State.Settled.At, Seen: p.State.Settled.ID,
	}
	return wait(ctx, p, d.Code(), d.Evidence())
}

// waits ends a run on an issue that has said already what it waits for.
func waits(p *Issue, step flow.Step) error {
	return &thread.Stop{Result: model.ResultBlocked, Reason: step.Why, Block: &model.BlockMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Reason: step.From.Marker.Waiting, Observed: step.From.Marker.LastCheckpoint,
	}}
}

// NextStep decides what to do about the issue next. It asks GitHub for as little as possible: for no rights if nothing would
// follow even if everybody had them.
func NextStep(ctx context.Context, p *Issue) (flow.Step, error) {
	candidates := turn.MaySteer(turn.Candidates(p.Snap, p.State, p.Policy), p.Memory.Rights, p.Policy)
	s := flow.Next(thread.IssueFacts(p.Thread, p.pulls, candidates, thread.Everybody))
	if quiet := flow.Next(thread.IssueFacts(p.Thread, p.pulls, nil, thread.Everybody)); s.Act == flow.LookUp && quiet.Act == flow.Nothing {
		if err := askStarters(ctx, p, candidates); err != nil { // only what was said is worth a look, and strangers may have said it
			return flow.Step{}, err
		}
		if candidates = turn.Allowed(candidates, p.Memory.Rights, p.Policy); len(candidates) == 0 {
			s = quiet
		}
	}
	if s.Act == flow.LookUp && p.Survey != nil {
		var err error
		if p.pulls, err = p.Survey.PullsSeen(s.From.Marker.Pull); err != nil {
			return flow.Step{}, err
		}
		s = flow.Next(thread.IssueFacts(p.Thread, p.pulls, candidates, thread.Everybody))
	} else if s.Act == flow.LookUp {
		retried, accepted := p.State.Retried, p.State.EditAccepted // by the command at hand, too, which has no reply yet
		if err := readBranch(ctx, p, s.From.Marker.Branch); err != nil {
			return flow.Step{}, err
		}
		if retried && (!p.State.Retried || p.State.EditAccepted && !accepted) {
			p.State.Retry()
		}
		p.pulls = append([]model.PullRef{}, p.Snap.Branch.Pulls...)
		candidates = turn.MaySteer(turn.Candidates(p.Snap, p.State, p.Policy), p.Memory.Rights, p.Policy)
		s = flow.Next(thread.IssueFacts(p.Thread, p.pulls, candidates, thread.Everybody))
	}
	if s.Act == flow.Nothing || s.Act == flow.Wait || s.Act == flow.Run || s.Act == flow.Finish && s.From.Marker.Status == model.PhasePlanned {
		return s, nil
	}
	if err := askStarters(ctx, p, candidates); err != nil {
		return flow.Step{}, err
	}
	p.queue = turn.Allowed(candidates, p.Memory.Rights, p.Policy)
	return flow.Next(thread.IssueFacts(p.Thread, p.pulls, p.queue, p.may)), nil
}

// askStarters asks for the rights of those who speak on the issue, and of those who set the agent to work on it.
func askStarters(ctx context.Context, p *Issue, candidates []model.Comment) error {
	settled := p.State.Settled
	if len(p.State.Flows) == 0 { // a command's reply settles nothing that an agent has to hear
		settled = model.Mark{}
	}
	unasked := turn.UnknownRights(candidates, p.Memory.Rights, settled, p.Policy)
	if len(p.Policy.AllowedUsers) == 0 {
		_, label, _ := flow.Of(p.Snap.Issue().Labels, thread.LabelsOf(p.Settings.Labels))
		deciding := flow.Starters(*p.Snap.Issue(), label)
		if flow.ByItself(*p.Snap.Issue(), label) {
			deciding = append(deciding, flow.Editors(*p.Snap.Issue())...)
		}
		unasked = append(unasked, deciding...)
	}
	return p.Ask(ctx, unasked)
}

// outdated says why the step that an attempt was claimed for is no longer the next one, by what was read since: other
// runs have gone on, or the issue or its labels are not what they were. The attempt's own claim is left out.
func outdated(p *Issue, step flow.Step) (now flow.Step, is bool) {
	others := slices.DeleteFunc(slices.Clone(p.Snap.Comments), func(c model.Comment) bool { return c.Kind == model.KindIssue && c.ID == p.ClaimID })
	f := thread.IssueFacts(p.Thread, p.pulls, p.queue, p.may)
	f.State = p.Codec.Fold(others, thread.Scope(p.Thread))
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
func (p *Issue) may(login string) bool { return thread.MayStart(p.Thread, login) }

// prepare makes the next attempt the one at hand, where the settings and the budget have room for it.
func prepare(ctx context.Context, p *Issue, step flow.Step) error {
	undertake(p, step)
	p.Report.TurnKey = p.Marker.Key
	if p.Marker.NeedsAgent() {
		if err := thread.AgentReady(p.Thread); err != nil {
			return thread.TellLack(ctx, p.Thread, err)
		}
		if why, opens, err := thread.Overspent(ctx, p.Thread, !ExpectsHandoff(p.Attempt)); err != nil {
			return err
		} else if why != "" {
			return overBudget(ctx, p, why, opens)
		}
		if err := work.Overtime(p.Work); err != nil {
			return err
		}
	}
	if p.fresh {
		if err := choose(ctx, p); err != nil {
			return err
		}
	}
	if d := p.State.Spoilt(); d != nil && p.Marker.NeedsAgent() { // and no pull request tells of an attempt
		return spoilt(ctx, p, *d)
	}
	p.Branch = p.Issue.Branch
	return nil
}

// spent says that all attempts were made, of which the last one died without a word.
func spent(p *Issue) bool { return p.Marker.Attempt > turn.MaxAttempts }

// try claims the next attempt and brings it to its end.
func try(ctx context.Context, p *Issue, step flow.Step) (again bool, err error) {
	if err := prepare(ctx, p, step); err != nil {
		return false, err
	}
	if !spent(p) && p.Marker.NeedsAgent() && !p.Phase.RunsAgent() {
		err := Fits(p.Attempt, p.About()+" waits", func() (handoff.Expected, error) { return expected(ctx, p) })
		if err != nil {
			return false, err
		}
	}
	if err := runAttempt(ctx, p, step); err != nil {
		Release(ctx, p.Attempt, err)
		return lookAgain(ctx, p, err)
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, ""
	return true, nil
}

// undertake makes the marker of the next attempt.
func undertake(p *Issue, step flow.Step) {
	var last model.IssueMarker
	if step.From != nil {
		last = step.From.Marker
	}
	m := last
	undertakes(p, &m)
	p.retried = p.State.Retried
	if step.Act == flow.Finish {
		m.Waiting = ""
		p.Feedback, _ = turn.Find(p.Snap, last.Events)
		p.Marker = Sign(p.Attempt, last.TurnMarker)
		p.Marker.Phase = model.PhasePlanned
		if last.Waits() { // the stop stays, and tells what the work cost
			p.Marker.CostUSD = 0
		}
		return
	}
	start, session := origin(p, step, last)
	p.Afresh = p.fresh && last.Branch != ""
	now, later := batchOf(p)
	p.Feedback = now
	events := turn.Keys(p.Event.Number, now)
	key := journal.Token(append([]string{"flow", strconv.Itoa(p.Event.Number), string(step.Flow), strconv.FormatInt(round(p.State), 10)}, events...)...)
	spent, _, _ := thread.Budget(p.Thread).Spend(p.State.Spent, p.ServerNow())
	mark := turn.Since(p.Snap, later)
	p.Marker = Sign(p.Attempt, model.TurnMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Key: key, Phase: model.PhaseStarted, Events: events, Start: start, Session: session,
		Attempt: turn.Attempts(p.State, key) + 1, Spent: &spent, Since: mark.At, Seen: mark.ID,
	})
	if last.Unsaid != nil && last.Key == key {
		p.Marker = Sign(p.Attempt, last.TurnMarker)
		return
	}
	p.Marker.Tries = turn.Past(nil, replacedFlows(p))
}

// replacedFlows are the claims whose place the attempt at hand takes.
func replacedFlows(p *Issue) []model.Posted[model.TurnMarker] {
	var replaced []model.Posted[model.TurnMarker]
	for _, f := range p.State.Flows {
		m := f.Marker.TurnMarker
		if f.CommentID != p.ClaimID && (m.Open() || m.Key == p.Marker.Key && m.Phase == model.PhaseFailed) {
			replaced = append(replaced, model.Posted[model.TurnMarker]{Marker: m, CommentID: f.CommentID})
		}
	}
	return replaced
}

// origin decides where an attempt begins: on a fresh branch from the base, or where the last attempt got to.
func origin(p *Issue, step flow.Step, last model.IssueMarker) (start, session string) {
	m, s := p.Issue, p.Snap
	*m = model.IssueMarker{Flow: step.Flow, Base: s.DefaultBranch, Branch: flow.Branch(step.Flow, p.Event.Number, s.Issue().Title, 1)}
	// Files are no part of a design, and a design is no part of what is done without one.
	another := last.Flow != step.Flow && (last.Flow.Document() || step.Flow.Document())
	if step.Act == flow.Begin || another {
		p.fresh = true
		if step.Flow == model.FlowImplementation {
			m.Doc, m.Design = last.Doc, last.Pull
		}
		return s.DefaultSHA, ""
	}
	p.fresh = last.Branch == "" // it was stopped before one was chosen
	m.Branch, m.Tip, m.Doc, m.Design = last.Branch, last.Tip, last.Doc, last.Design
	return cmp.Or(last.Tip, s.DefaultSHA), last.Session
}

// round names what the attempts that follow each other have in common: they come after the same stop or receipt.
func round(st model.State) int64 {
	id := int64(0)
	for _, f := range st.Flows {
		if m := f.Marker; m.Waits() && m.Waiting != model.ReasonBudget || m.Status == model.PhaseDone {
			id = f.CommentID
		}
	}
	return id
}

// runAttempt claims the attempt at hand and brings it to its receipt.
func runAttempt(ctx context.Context, p *Issue, step flow.Step) error {
	if err := Claim(ctx, p.Attempt); err != nil {
		return err
	}
	if now, is := outdated(p, step); is && now.Act == flow.Nothing {
		return Withdraw(ctx, p.Attempt, model.ResultNothing, "%s", now.Why)
	} else if is {
		return Withdraw(ctx, p.Attempt, model.ResultRetry, "issue %d changed while this run claimed it: %s", p.Event.Number, now.Why)
	}
	if p.Marker.Phase == model.PhaseStarted {
		if err := place(ctx, p); err != nil {
			return err
		}
	}
	if err := takeOver(ctx, p.Attempt, replacedFlows(p)); err != nil {
		return err
	}
	if spent(p) {
		p.Marker.Attempt = turn.MaxAttempts
		cause := "its run ended without a result; see the run's log"
		if n := len(p.Marker.Tries); n > 0 {
			cause = cmp.Or(p.Marker.Tries[n-1].Reason, cause)
		}
		return wait(ctx, p, model.ReasonAttempts, fmt.Sprintf("%d attempts failed; the last one: %s", turn.MaxAttempts, cause))
	}
	return Finish(ctx, p.Attempt)
}

// lookAgain ends an attempt that waits for a person, unless somebody has said something while its agent was at work: the
// run of that comment left it to this one.
func lookAgain(ctx context.Context, p *Issue, ended error) (again bool, err error) {
	s := (*thread.Stop)(nil)
	if !errors.As(ended, &s) || s.Result != model.ResultBlocked || ctx.Err() != nil || !p.Phase.IsWhole() {
		return false, ended
	}
	if err := p.Read(ctx); err != nil {
		p.Log.Warn("not_looked_again", "issue_number", p.Event.Number, "error", err)
		return false, ended
	}
	more, err := arrived(ctx, p)
	if err != nil || len(more) == 0 {
		return false, ended
	}
	return true, nil
}
