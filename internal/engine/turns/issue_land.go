package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// pullToken names the opening of the pull request that an attempt leads to.
func pullToken(key string) string { return journal.Token("pull_request", key) }

// Answer opens the pull request. If comments arrived while the agent worked, it reports again instead, until last or until the
// budget is used up. Later comments are redirected to the pull request.
func (p *Issue) Answer(ctx context.Context, last bool) (again bool, err error) {
	more, err := arrived(ctx, p)
	if err != nil {
		return false, err
	}
	spent, affordable := oneMore(p)
	switch {
	case len(more) == 0 || last || !affordable:
		return false, openPull(ctx, p)
	case !p.Phase.RunsAgent():
		return false, leaveToAgent(ctx, p, more)
	}
	p.Marker.Spent = &spent
	return true, takeUp(ctx, p, more)
}

// Stuck ends a run whose commits did not land after all looks at the branch.
func (p *Issue) Stuck(ctx context.Context) error {
	if p.Tip == "" {
		return nameless(ctx, p, "the server did not create branch "+p.Issue.Branch)
	}
	return thread.End(model.ResultRetry, "branch %s keeps moving; the work for issue %d is recorded and the next run publishes it", p.Issue.Branch, p.Event.Number)
}

// Look reads the issue again, and returns the head of its branch. The error ends the run if the work is no longer wanted there.
func (p *Issue) Look(ctx context.Context) (head string, err error) {
	if err := p.Read(ctx); err != nil {
		return "", issueGone(ctx, p, err)
	}
	p.Tip = p.Snap.Branch.SHA
	return p.Tip, stillWanted(ctx, p)
}

// Deleted handles a claim that somebody deleted, alone or with its issue.
func (p *Issue) Deleted(ctx context.Context) error {
	if err := p.Read(ctx); err != nil {
		return issueGone(ctx, p, err)
	}
	return disowned(ctx, p)
}

// disowned ends a run whose claim somebody deleted: nothing but the report can say where the work is.
func disowned(ctx context.Context, p *Issue) error {
	where := ""
	if p.Checkout != nil && p.Marker.Planned != "" {
		if k := work.KeepAside(context.WithoutCancel(ctx), p.Work, p.Marker.Planned); k.Branch != "" {
			where = "; its work is kept on " + k.Named()
		}
	}
	return thread.End(model.ResultRetry, "somebody deleted this run's claim on %s%s", p.About(), where)
}

// issueGone is for an issue that was transferred, deleted or converted while the agent was at work: the branch keeps the work,
// since no comment can.
func issueGone(ctx context.Context, p *Issue, cause error) error {
	if k := github.KindOf(cause); k != github.NotFound && k != github.Gone || p.Checkout == nil {
		return cause
	}
	ctx = context.WithoutCancel(ctx)
	p.ClaimID, p.Kept = 0, keepOnBranch(ctx, p, p.Marker.Planned)
	where := "the work is in the git bundle " + p.Kept.Bundle
	if p.Kept.Branch != "" {
		where = "the work is kept on " + p.Kept.Named() + " at " + p.Kept.SHA
	}
	return thread.End(model.ResultFailed, "issue %d is gone: %s; %s", p.Event.Number, cause, where)
}

// stillWanted ends a run whose work has no place any more.
func stillWanted(ctx context.Context, p *Issue) error {
	mine := slices.ContainsFunc(p.State.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.CommentID == p.ClaimID })
	s := flow.Next(thread.IssueFacts(p.Thread, p.pulls, nil, thread.Everybody))
	switch {
	case !mine:
		return disowned(ctx, p)
	case p.Snap.Issue().Closed:
		return issueClosed(ctx, p)
	case s.Act == flow.Nothing:
		p.Marker.Reason = s.Why
		if err := GiveUpClaim(ctx, p.Attempt, "The work is recorded. Once the label is removed, the next event continues from here."); err != nil {
			return err
		}
		return thread.End(model.ResultNothing, "%s", s.Why)
	}
	return nil
}

// issueClosed is for an issue that was closed while the agent was at work: the work goes to its branch, and no pull request is
// opened that nobody wants.
func issueClosed(ctx context.Context, p *Issue) error {
	if here, err := Unstage(ctx, p.Attempt); err != nil || !here {
		return err
	}
	p.Kept = keepOnBranch(ctx, p, p.Marker.Planned)
	return wait(ctx, p, model.ReasonClosed, "")
}

// Refused handles a push that the server refused.
func (p *Issue) Refused(ctx context.Context, why *git.ErrRejected) error {
	if why.Reason == git.Name {
		return anotherName(ctx, p, why)
	}
	p.Kept = keepOnBranch(ctx, p, p.Marker.Planned)
	return wait(ctx, p, model.ReasonPush, why.Error())
}

// anotherName tries one more name for a branch that cannot be created: one below it may be in the way. If that does not help, one above it
// is, and only people can change that.
func anotherName(ctx context.Context, p *Issue, why *git.ErrRejected) error {
	said := fmt.Sprintf("branch %s could not be created: %s", p.Issue.Branch, why.Message)
	if p.refused = append(p.refused, p.Issue.Branch); len(p.refused) == 1 {
		return another(ctx, p, said)
	}
	p.Issue.Branch = p.refused[0]
	return nameless(ctx, p, said)
}

// nameless has finished work wait for a branch that can be created.
func nameless(ctx context.Context, p *Issue, why string) error {
	p.Kept = work.KeepApart(ctx, p.Work, p.Marker.Planned)
	return wait(ctx, p, model.ReasonBranch, why)
}

// Rename chooses another branch name, since somebody else created the branch.
func (p *Issue) Rename(ctx context.Context) error {
	return another(ctx, p, fmt.Sprintf("somebody else created branch %s in the meantime; it was left alone", p.Issue.Branch))
}

// another gives the work another branch, and notes why.
func another(ctx context.Context, p *Issue, why string) error {
	if err := choose(ctx, p); err != nil {
		return err
	}
	o := *p.Marker.Outbox
	o.Notes = append(slices.Clone(o.Notes), why)
	p.Marker.Outbox = &o
	return Edit(ctx, p.Attempt, p.Words.Planned(p.Marker))
}

// Rewritten handles commits whose base is no longer on the branch.
func (p *Issue) Rewritten(ctx context.Context, _ string) error {
	if here, err := Unstage(ctx, p.Attempt); err != nil || !here {
		return err
	}
	return conflicts(ctx, p)
}

// Unfit handles commits that do not fit on the head, or whose tests cannot run here.
func (p *Issue) Unfit(ctx context.Context, head string) error {
	if !Retests(p.Attempt) {
		return untried(ctx, p, head)
	}
	return conflicts(ctx, p)
}

// conflicts has finished work wait for a person.
func conflicts(ctx context.Context, p *Issue) error {
	p.Kept = keepOnBranch(ctx, p, p.Marker.Planned)
	return wait(ctx, p, model.ReasonConflict, "")
}

// arrived are the comments that came while the agent was at work. Whose right is not known is asked about.
func arrived(ctx context.Context, p *Issue) ([]model.Comment, error) {
	candidates := slices.DeleteFunc(turn.Candidates(p.Snap, p.State, p.Policy), func(c model.Comment) bool {
		return slices.Contains(p.Marker.Events, c.Key(p.Event.Number))
	})
	if err := p.Ask(ctx, turn.UnknownRights(candidates, p.Memory.Rights, p.State.Settled, p.Policy)); err != nil {
		return nil, err
	}
	_, label, _ := flow.Of(p.Snap.Issue().Labels, thread.LabelsOf(p.Settings.Labels))
	if ok, why := flow.MayStart(*p.Snap.Issue(), label, p.may); !ok { // no agent is to read what stands there now
		p.Log.Warn("comments_not_taken_up", "issue_number", p.Event.Number, "reason", why)
		return nil, nil
	}
	return turn.Allowed(candidates, p.Memory.Rights, p.Policy), nil
}

// takeUp sends the attempt back to the agent with the comments that arrived meanwhile, from the branch as it is now.
func takeUp(ctx context.Context, p *Issue, more []model.Comment) error {
	now, later := turn.Batch(more, p.Policy)
	beginAgain(p, p.Tip)
	m := &p.Marker
	m.Events = append(m.Events, turn.Keys(p.Event.Number, now)...)
	mark := turn.Since(p.Snap, later)
	m.Since, m.Seen = mark.At, mark.ID
	p.Feedback, p.Commits = now, nil
	return Edit(ctx, p.Attempt, p.Words.Claim())
}

// openPull finds the pull request of the branch, or opens it, and says so on both sides.
func openPull(ctx context.Context, p *Issue) error {
	pull, made, err := findPull(ctx, p)
	if err != nil {
		return err
	}
	p.Report.Opened = pull
	other, err := introduce(ctx, p, pull, made)
	if err != nil {
		return err
	}
	note, err := PostReview(ctx, other, p.Marker, false, nil)
	if err != nil {
		return err
	}
	planned, o := p.Marker, *p.Marker.Outbox
	if note != "" {
		o.Notes = append(slices.Clone(o.Notes), note)
	}
	p.Marker.Phase, p.Marker.Head, p.Marker.Outbox = model.PhaseDone, p.Marker.Planned, nil
	p.Marker.Tokens = []string{TurnToken(p.Marker.Key), pullToken(p.Marker.Key)}
	p.Issue.Pull, p.Issue.Waiting = pull.Number, ""
	text := flow.ReceiptText(*p.Snap.Issue(), markerOf(p, p.Marker), pull, o) + turn.Earlier(p.Snap.Issue().URL, turn.WorthTelling(planned.Tries))
	p.Marker.Tries = nil // the text tells
	if err := Edit(ctx, p.Attempt, text); err != nil {
		p.Marker = planned
		return err
	}
	p.Report.HeadSHA = p.Marker.Head
	work.Unsave(ctx, p.Work)
	return nil
}

// findPull is the pull request of the branch; made says that it was opened just now.
func findPull(ctx context.Context, p *Issue) (pull model.PullRef, made bool, err error) {
	token := pullToken(p.Marker.Key)
	if pull, found := thread.PullOfBranch(p.Thread); found {
		thread.Applied(p.Thread, "pull_request", strconv.Itoa(pull.Number), token, effect.Present)
		return pull, false, nil
	}
	draft := *p.Marker.Outbox.Draft
	draft.Head, draft.Base = p.Issue.Branch, p.Issue.Base
	opened, err := p.Apply(ctx, effect.OpenPull(draft, token))
	pull, made = opened.Pull, err == nil && !opened.Present
	switch k := github.KindOf(err); {
	case err == nil:
		p.Say(model.Saying{Where: fmt.Sprintf("pull request #%d", pull.Number), Text: draft.Title + "\n\n" + draft.Body})
		return pull, made, nil
	case k == github.PullExists:
		if rerr := p.Read(ctx); rerr != nil {
			return pull, false, rerr
		}
		if pull, found := thread.PullOfBranch(p.Thread); found {
			return pull, false, nil
		}
	case k == github.NoCommits:
		p.Marker.Outbox = nil
		return pull, false, wait(ctx, p, model.ReasonNoChange, "")
	case k == github.Forbidden, k == github.Invalid:
		p.Kept = model.Kept{Branch: p.Issue.Branch, SHA: p.Marker.Planned}
		return pull, false, wait(ctx, p, model.ReasonNoPull, told(err))
	}
	return pull, false, err
}

// told is what GitHub said, with the way out.
func told(err error) string {
	e := (*github.Error)(nil)
	if !errors.As(err, &e) || e.Fix == "" {
		return err.Error()
	}
	return e.Error() + "\n" + e.Fix
}

// introduce posts the first comment of the pull request, whose marker makes it tracked.
func introduce(ctx context.Context, p *Issue, ref model.PullRef, made bool) (*thread.Thread, error) {
	other := thread.Another(p.Thread, model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: ref.Number}, thread.NewMemory(p.Memory.Rights))
	other.Settings, other.Policy = p.Settings, p.Policy
	if made {
		other.Snap, other.ReadAt = p.Snap, p.ReadAt
		other.Snap.Number, other.Snap.Of, other.Snap.Pull = ref.Number, model.PullNumber(ref.Number), model.Pull{
			Number: ref.Number, Title: ref.Title, URL: ref.URL, State: ref.State, BaseRef: ref.BaseRef, HeadRef: p.Issue.Branch, HeadSHA: ref.HeadSHA, HeadExists: true,
		}
	} else if err := other.Begin(ctx); err != nil {
		return nil, err
	}
	return other, Track(ctx, other, p.Event.Number, string(p.Issue.Flow))
}
