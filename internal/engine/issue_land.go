package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// pullToken names the opening of the pull request that an attempt leads to.
func pullToken(key string) string { return journal.Token("pull_request", key) }

// finishIssue brings a claimed attempt to its receipt, from wherever it stands. Comments that arrive while the agent is at
// work are taken up before the pull request is opened, in so many rounds; later ones are redirected to it.
func (p *pass) finishIssue(ctx context.Context) error {
	for round := 1; ; round++ {
		if p.Marker.Phase == model.PhaseStarted {
			if err := p.work(ctx); err != nil {
				return err
			}
		}
		there, err := p.landIssue(ctx)
		if err != nil {
			return err
		}
		if !there {
			if round >= maxLandings {
				return thread.End(model.ResultRetry, "branch %s moves all the time; the work for issue %d is recorded and the next run publishes it", p.issue.marker.Branch, p.Event.Number)
			}
			continue
		}
		more, err := p.arrived(ctx)
		if err != nil {
			return err
		}
		if len(more) == 0 || round >= maxLandings {
			return p.openPull(ctx)
		}
		if p.Phase == thread.ApplyPhase {
			return p.leaveToAgent(ctx, more)
		}
		if err := p.takeUp(ctx, more); err != nil {
			return err
		}
	}
}

// landIssue brings the planned commits onto the branch. It says false when they have to be looked at again first; the
// marker then says how far they are.
func (p *pass) landIssue(ctx context.Context) (there bool, err error) {
	if err := p.Read(ctx); err != nil {
		return false, p.gone(ctx, err)
	}
	if err := p.stillWanted(ctx); err != nil {
		return false, err
	}
	w, planned := p.issue, p.Marker.Planned
	w.tip = p.Snap.Branch.SHA
	if w.tip == planned {
		return true, nil
	}
	if w.tip == "" || w.tip == p.base() && w.marker.LastCheckpoint != "" {
		return p.publishIssue(ctx)
	}
	relation, err := p.Relation(ctx, w.tip, planned)
	if err != nil {
		return false, err
	}
	switch {
	case relation == model.Behind: // published by a run that died, and somebody went on from there
		return true, nil
	case relation == model.Unknown:
		return false, thread.End(model.ResultRetry, "the relation of %s to %s is not known yet", markdown.Short(planned), markdown.Short(w.tip))
	case w.marker.LastCheckpoint == "": // nothing of ours was ever there
		return false, p.rename(ctx)
	case relation == model.Ahead:
		return p.publishIssue(ctx)
	}
	return false, p.rebaseIssue(ctx)
}

// unclaimed is for a claim on an issue that somebody deleted, or that went with its issue.
func (p *pass) unclaimed(ctx context.Context) error {
	if err := p.Read(ctx); err != nil {
		return p.gone(ctx, err)
	}
	return p.disowned(ctx)
}

// disowned ends a run whose claim somebody deleted: nothing but the report can say where the work is.
func (p *pass) disowned(ctx context.Context) error {
	where := ""
	if p.Checkout != nil && p.Marker.Planned != "" {
		if k := p.keepAside(context.WithoutCancel(ctx), p.Marker.Planned); k.Branch != "" {
			where = "; its work is kept on branch " + k.Branch
		}
	}
	return thread.End(model.ResultRetry, "the claim of this run on %s was deleted meanwhile%s", p.About(), where)
}

// gone is for an issue that was transferred, deleted or converted while the agent was at work: the branch keeps the work,
// since no comment can.
func (p *pass) gone(ctx context.Context, cause error) error {
	if k := github.KindOf(cause); k != github.NotFound && k != github.Gone || p.Checkout == nil {
		return cause
	}
	ctx = context.WithoutCancel(ctx)
	p.ClaimID, p.kept = 0, p.keepOnBranch(ctx, p.Marker.Planned)
	where := "what was done for it is in the git bundle " + p.issue.rescue
	if p.kept.Branch != "" {
		where = "what was done for it is kept on branch " + p.kept.Branch + " at " + p.kept.SHA
	}
	return thread.End(model.ResultFailed, "issue %d is not there any more: %s; %s", p.Event.Number, cause, where)
}

// stillWanted holds a fresh snapshot against all that may have changed while the agent was at work.
func (p *pass) stillWanted(ctx context.Context) error {
	mine := slices.ContainsFunc(p.State.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.CommentID == p.ClaimID })
	s := flow.Next(p.known(0, everybody))
	switch {
	case !mine:
		return p.disowned(ctx)
	case p.Snap.Thread.Closed:
		return p.issueClosed(ctx)
	case s.Act == flow.Nothing:
		p.Marker.Reason = s.Why
		if err := p.park(ctx, "The work is recorded. When the label is off again, the next event goes on from here."); err != nil {
			return err
		}
		return thread.End(model.ResultNothing, "%s", s.Why)
	}
	return nil
}

// issueClosed is for an issue that was closed while the agent was at work: the work goes to its branch, and no pull request is
// opened that nobody wants.
func (p *pass) issueClosed(ctx context.Context) error {
	if err := p.Open(ctx); err != nil {
		return err
	}
	if here, err := p.fetched(ctx); err != nil || !here {
		return err
	}
	p.issue.tip = p.Snap.Branch.SHA
	p.kept = p.keepOnBranch(ctx, p.Marker.Planned)
	return p.wait(ctx, model.ReasonClosed, "")
}

// fetched makes sure of the planned commits: where a run that died recorded them, they are on the stage only.
func (p *pass) fetched(ctx context.Context) (bool, error) {
	if len(p.commits) > 0 {
		return true, nil
	}
	if err := p.restore(ctx, p.base()); err != nil {
		return false, err
	}
	return p.unstage(ctx, stagedAt(p.Event.Number, p.Marker))
}

// publishIssue moves the branch to the planned head and deletes what the work was kept under until then.
func (p *pass) publishIssue(ctx context.Context) (bool, error) {
	if err := p.Open(ctx); err != nil {
		return false, err
	}
	if here, err := p.fetched(ctx); err != nil || !here {
		return false, err
	}
	if err := p.Alive(); err != nil {
		return false, err
	}
	w := p.issue
	_, err := p.Apply(ctx, p.publication(w.marker.Branch, w.tip))
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		w.tip, p.wip = p.Marker.Planned, wip{}
		p.Say(model.Saying{Where: "push to " + w.marker.Branch, Text: p.pushed()})
		return true, nil
	case errors.As(err, &unclear):
		p.Log.Warn("answer_unclear", "kind", "push", "target", w.marker.Branch, "error", err)
		return false, nil // the next look at the branch tells
	case !errors.As(err, &rejected):
		return false, err
	case rejected.Reason == git.Stale:
		return false, nil
	}
	p.kept = p.keepOnBranch(ctx, p.Marker.Planned)
	return false, p.wait(ctx, model.ReasonPush, rejected.Error())
}

// rename gives the work another branch, since somebody has made one of that name meanwhile.
func (p *pass) rename(ctx context.Context) error {
	taken := p.issue.marker.Branch
	if err := p.choose(ctx); err != nil {
		return err
	}
	o := *p.Marker.Outbox
	o.Notes = append(slices.Clone(o.Notes), fmt.Sprintf("branch %s was made by somebody else meanwhile and was left alone", taken))
	p.Marker.Outbox = &o
	return p.edit(ctx, flow.PlannedText(*p.Snap.Thread, p.markerOf(p.Marker)))
}

// rebaseIssue replays the planned commits on what somebody pushed to the branch meanwhile.
func (p *pass) rebaseIssue(ctx context.Context) error {
	head := p.issue.tip
	relation, err := p.Relation(ctx, p.base(), head)
	if err != nil {
		return err
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	if here, err := p.fetched(ctx); err != nil || !here {
		return err
	}
	replayed := ""
	if lineage.Decide(relation) == lineage.Pass {
		if p.Phase == thread.ApplyPhase && len(p.Settings.Repo.RequiredTests) > 0 {
			return p.untried(ctx, head)
		}
		if err := p.restore(ctx, head); err != nil {
			return err
		}
		if replayed, err = p.bring(ctx, head); err != nil {
			return err
		}
	}
	if replayed == "" {
		p.kept = p.keepOnBranch(ctx, p.Marker.Planned)
		return p.wait(ctx, model.ReasonConflict, "")
	}
	if p.commits, err = p.list(ctx, head, replayed); err != nil {
		return err
	}
	m, o := p.Marker, *p.Marker.Outbox
	m.Onto, m.Planned, o.Commits = head, replayed, turn.Listed(p.commits)
	return p.record(ctx, m, o)
}

// arrived are the comments that came while the agent was at work. Whose right is not known is asked about.
func (p *pass) arrived(ctx context.Context) ([]model.Comment, error) {
	candidates := slices.DeleteFunc(turn.Candidates(p.Snap, p.State, p.Policy), func(c model.Comment) bool {
		return slices.Contains(p.Marker.Events, c.Key(p.Event.Number))
	})
	if err := p.Ask(ctx, turn.Unasked(candidates, p.Memory.Rights, p.State.Settled, p.Policy)); err != nil {
		return nil, err
	}
	_, label, _ := flow.Of(p.Snap.Thread.Labels, thread.LabelsOf(p.Settings.Labels))
	if ok, why := flow.MayStart(*p.Snap.Thread, label, p.may); !ok { // no agent is to read what stands there now
		p.Log.Warn("comments_not_taken_up", "issue_number", p.Event.Number, "reason", why)
		return nil, nil
	}
	return turn.Allowed(candidates, p.Memory.Rights, p.Policy), nil
}

// takeUp sends the attempt back to the agent with the comments that arrived meanwhile, from the branch as it is now.
func (p *pass) takeUp(ctx context.Context, more []model.Comment) error {
	now, later := turn.Batch(more, p.Policy)
	m := &p.Marker
	m.Phase, m.Start, m.Onto, m.Planned, m.Outbox = model.PhaseStarted, p.issue.tip, "", "", nil
	m.Events = append(m.Events, turn.Keys(p.Event.Number, now)...)
	mark := turn.Since(p.Snap, later)
	m.Since, m.Seen = mark.At, mark.ID
	p.feedback, p.commits = now, nil
	p.issue.marker.LastCheckpoint = m.Start
	return p.edit(ctx, p.claimText())
}

// openPull finds the pull request of the branch, or opens it, and says so on both sides.
func (p *pass) openPull(ctx context.Context) error {
	pull, made, err := p.findPull(ctx)
	if err != nil {
		return err
	}
	p.Report.Opened = pull
	if err := p.introduce(ctx, pull, made); err != nil {
		return err
	}
	w := p.issue
	planned, o := p.Marker, *p.Marker.Outbox
	p.Marker.Phase, p.Marker.Head, p.Marker.Outbox = model.PhaseDone, p.Marker.Planned, nil
	p.Marker.Tokens = []string{turnToken(p.Marker.Key), pullToken(p.Marker.Key)}
	w.marker.Pull, w.marker.Waiting = pull.Number, ""
	text := flow.ReceiptText(*p.Snap.Thread, p.markerOf(p.Marker), pull, o) + turn.Earlier(p.Snap.Thread.URL, turn.WorthTelling(planned.Tries))
	p.Marker.Tries = nil // the text tells
	if err := p.edit(ctx, text); err != nil {
		p.Marker = planned
		return err
	}
	p.Report.HeadSHA = p.Marker.Head
	p.unsave(ctx)
	return p.unstaged(ctx)
}

// unstaged removes the stage of a plan that was published by a run before this one. It is a courtesy.
func (p *pass) unstaged(ctx context.Context) error {
	if !p.issue.staged {
		return nil
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	if _, err := p.Apply(ctx, effect.Forget{Ref: git.Ref{Name: stagedAt(p.Event.Number, p.Marker)}}); err != nil {
		p.Log.Warn("stage_not_removed", "issue_number", p.Event.Number, "turn_key", p.Marker.Key, "error", err)
	}
	return nil
}

// findPull is the pull request of the branch; made says that it was opened just now.
func (p *pass) findPull(ctx context.Context) (pull model.PullRef, made bool, err error) {
	w, token := p.issue, pullToken(p.Marker.Key)
	if pull, found := p.PullOfBranch(); found {
		p.Applied("pull_request", strconv.Itoa(pull.Number), token, effect.Present)
		return pull, false, nil
	}
	draft := *p.Marker.Outbox.Draft
	draft.Head, draft.Base = w.marker.Branch, w.marker.Base
	opened, err := p.Apply(ctx, effect.OpenPull{Draft: draft, Token: token})
	pull, made = opened.Pull, err == nil && !opened.Present
	switch k := github.KindOf(err); {
	case err == nil:
		p.Say(model.Saying{Where: fmt.Sprintf("pull request #%d", pull.Number), Text: draft.Title + "\n\n" + draft.Body})
		return pull, made, nil
	case k == github.PullExists:
		if rerr := p.Read(ctx); rerr != nil {
			return pull, false, rerr
		}
		if pull, found := p.PullOfBranch(); found {
			return pull, false, nil
		}
	case k == github.NoCommits:
		p.Marker.Outbox = nil
		return pull, false, p.wait(ctx, model.ReasonNoChange, "")
	case k == github.Forbidden, k == github.Invalid:
		p.kept = model.Kept{Branch: w.marker.Branch, SHA: p.Marker.Planned}
		return pull, false, p.wait(ctx, model.ReasonNoPull, told(err))
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
func (p *pass) introduce(ctx context.Context, ref model.PullRef, made bool) error {
	other := newPass(p.World, model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: ref.Number, IsPull: true}, p.Report, thread.NewMemory(p.Memory.Rights))
	other.Settings, other.Policy, other.source = p.Settings, p.Policy, p.issue
	defer other.close()
	if !made {
		if err := other.Begin(ctx); err != nil {
			return err
		}
		return other.track(ctx)
	}
	other.Snap, other.ReadAt = p.Snap, p.ReadAt
	other.Snap.IsPull, other.Snap.Pull = true, model.Pull{
		Number: ref.Number, Title: ref.Title, URL: ref.URL, State: ref.State, BaseRef: ref.BaseRef, HeadRef: p.issue.marker.Branch, HeadSHA: ref.HeadSHA, HeadExists: true,
	}
	return other.track(ctx)
}
