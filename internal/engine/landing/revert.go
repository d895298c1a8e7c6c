package landing

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// maxReverts is how many branches for reverts of one pull request are tried: it may have been merged and reverted before.
const maxReverts = 20

// reversal is what a command to revert makes.
type reversal struct {
	*Request
	undo merge.Undo
	// mark is a line of the commit that names the command. By it a run that goes on for one that died finds what that one pushed,
	// wherever the base is by then.
	mark string
	from string // what the base was before the pull request landed
	onto string // what the revert stands on
	made merging.Merged
	// branch has what was made; "": it is not pushed.
	branch string
}

// Revert opens a pull request that reverts what this one landed, after its tests. A run that continues for a dead one uses what
// that run pushed and opened.
func Revert(ctx context.Context, p *Request, c command.Case) (*command.Found, error) {
	r := &reversal{Request: p, mark: "MergeXO-Revert: " + journal.Token("revert", p.Event.Repo.String(), c.Key), undo: merge.Undo{
		By: c.By, URL: c.URL, Reason: redact.Text(ctx, p.Thread, c.Command.Reason), Base: p.Snap.Pull.BaseRef,
	}}
	way, err := r.lands(ctx)
	if err != nil {
		return nil, err
	}
	if c.Command.Train.Now && !way.Train {
		return &command.Found{Verdict: model.Rejected, Text: merge.NoTrainText(p.Snap.Pull)}, nil
	}
	r.undo.Asks = way.Train || way.Strategy == model.StrategyQueue
	err = r.reverse(ctx)
	s := (*Failure)(nil)
	switch {
	case errors.As(err, &s):
		s.Detail = redact.Text(ctx, p.Thread, s.Detail)
		cleanRun(ctx, p, s.Tests)
		if s.conflict != nil {
			s.Conflicts = conflictsOf(s.conflict)
		}
		p.Refused = r.stopped(s.Code, s.Detail)
		return &command.Found{Verdict: model.Failed, Text: merge.RevertFailText(p.Snap.Pull, r.undo, s.Failure)}, nil
	case err != nil:
		return nil, err
	}
	found := &command.Found{Verdict: model.Applied}
	if r.undo.Asks = r.undo.Asks && r.undo.Pull.State == model.PullOpen; r.undo.Asks {
		found.Request = r.undo.Pull.Number
	}
	found.Text = merge.RevertText(r.undo)
	return found, nil
}

// lands is how the revert would be merged, by its branch and the rules of the base.
func (r *reversal) lands(ctx context.Context) (merge.Way, error) {
	if err := thread.ReadMergeFacts(ctx, r.Thread); err != nil {
		return merge.Way{}, err
	}
	pull := r.Snap.Pull
	pull.HeadRef, pull.CrossRepo = r.names()[0], false
	way, _ := merge.Choose(policy(r.Request), pull, *r.MergeFacts, "") // its own request says what is wrong with the strategy
	return way, nil
}

// stopped is how a run ends that could not make the revert; nil: as any other.
func (r *reversal) stopped(code model.MergeCode, detail string) *thread.Stop {
	if code == model.CodeEmpty { // it is done
		return nil
	}
	s := thread.End(merge.Settle(code), "%s", merge.RevertLine(r.Snap.Pull.Number, code, detail))
	if s.Result == model.ResultBlocked {
		s.Block = &model.BlockMarker{Repo: r.Event.Repo.String(), Number: r.Snap.Pull.Number, Reason: string(code), Observed: r.Snap.Pull.HeadSHA}
	}
	return s
}

// reverse makes, tests, pushes and opens the revert, as far as no earlier run has. What tests the merge is not done twice.
func (r *reversal) reverse(ctx context.Context) error {
	if err := r.find(ctx); err != nil {
		return err
	}
	if err := r.resume(ctx); err != nil || r.undo.Earlier {
		return err
	}
	if r.branch == "" {
		var err error
		if r.made, err = r.build(ctx, r.onto); err != nil {
			return failureOf(err, "")
		}
	}
	var err error
	if r.undo.Notes, err = steering(ctx, r.Checkout, r.Settings, r.onto, r.made.Tip); err != nil {
		return err
	}
	if err := thread.Outside(ctx, r.Thread, "the tests of the revert come next"); err != nil {
		return err
	}
	if r.undo.Asks {
		r.undo.Tests.Why = merge.TestedLater
	} else if r.undo.Tests, err = testInTime(ctx, r.Thread, r.undo.Base, r.onto, r.made.Tip); err != nil {
		return err
	}
	if r.branch == "" {
		if err := r.push(ctx); err != nil {
			return err
		}
	}
	r.undo.Pull, err = r.openPull(ctx)
	return err
}

// find finds what the pull request has landed, and that the base still has it.
func (r *reversal) find(ctx context.Context) (err error) {
	thread.ClearWorkspace(r.Thread)
	if err := r.Open(ctx); err != nil {
		return err
	}
	if r.onto, err = history.FetchRef(ctx, r.Checkout, "refs/heads/"+r.undo.Base); err != nil {
		return failureOf(err, "")
	}
	to := ""
	if r.from, to, err = landedRange(ctx, r.Request, r.onto); err != nil {
		return err
	}
	relation, err := r.Relation(ctx, to, r.onto)
	if err != nil {
		return err
	}
	if relation != model.Identical && relation != model.Ahead {
		return &Failure{Failure: merge.Failure{Code: model.CodeEmpty, Detail: fmt.Sprintf("%s no longer has %s", r.undo.Base, markdown.Short(to))}}
	}
	r.undo.Landed = to
	r.undo.Commits, err = history.List(ctx, r.Checkout, r.from, to)
	return err
}

// build makes the commit that takes back what the pull request has landed.
func (r *reversal) build(ctx context.Context, onto string) (merging.Merged, error) {
	body := fmt.Sprintf("This reverts %s, which came with #%d.\n\n%s", r.undo.Landed, r.Snap.Pull.Number, r.mark)
	return merging.Revert(ctx, r.Checkout, r.from, r.undo.Landed, onto, flow.Unlinked(merge.RevertTitle(r.Snap.Pull)), body)
}

// landedRange tells what the pull request has put on its base: as our own record says, or else as its merge commit shows.
func landedRange(ctx context.Context, p *Request, base string) (from, to string, err error) {
	if m := p.State.Merge(); m != nil && m.Marker.State == model.MergeDone && m.Marker.BaseSHA != "" {
		from, to = m.Marker.BaseSHA, m.Marker.Landed
		return from, to, history.FetchCommits(ctx, p.Checkout, from, to)
	}
	if err := thread.ReadMergeFacts(ctx, p.Thread); err != nil {
		return "", "", err
	}
	commit := p.MergeFacts.MergeCommit
	if commit == "" {
		return "", "", &Failure{Failure: merge.Failure{Code: model.CodeEmpty, Detail: "GitHub does not show which commit merged it"}}
	}
	head := p.Snap.Pull.HeadSHA
	if err := history.FetchCommits(ctx, p.Checkout, commit, head); err != nil {
		return "", "", failureOf(err, "")
	}
	if err := history.Deepen(ctx, p.Checkout, commit, head); err != nil && !git.IsNoRef(err) {
		return "", "", err
	}
	from, to, err = merging.LandedRange(ctx, p.Checkout, commit, base, head, p.MergeFacts.Commits)
	if err != nil {
		return "", "", &Failure{Failure: merge.Failure{Code: model.CodeEmpty, Detail: err.Error()}}
	}
	return from, to, nil
}

// names are the branches that the revert may have.
func (r *reversal) names() []string {
	names := []string{fmt.Sprintf("mergexo/revert-%d", r.Snap.Pull.Number)}
	for nth := 2; nth <= maxReverts; nth++ {
		names = append(names, fmt.Sprintf("%s-%d", names[0], nth))
	}
	return names
}

// pullOfRevert and pushOfRevert name what is done on the branch of a revert.
func pullOfRevert(repo model.Repo, branch string) string {
	return journal.Token("revert", repo.String(), branch)
}

func pushOfRevert(branch string, made merging.Merged) string {
	return journal.Token("push", branch, made.Tree)
}

// push pushes the commit to a branch that nobody has.
func (r *reversal) push(ctx context.Context) error {
	for _, branch := range r.names() {
		ours, err := pushRevert(ctx, r, branch)
		if err != nil {
			return err
		}
		if ours {
			r.branch = branch
			return nil
		}
	}
	return &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: fmt.Sprintf("this pull request already has %d branches for reverts; delete those that are done", maxReverts)}}
}

// openPull opens the pull request of the branch.
func (r *reversal) openPull(ctx context.Context) (model.PullRef, error) {
	token := pullOfRevert(r.Event.Repo, r.branch)
	draft := model.PullDraft{Title: flow.Inert(merge.RevertTitle(r.Snap.Pull)), Body: flow.InertMarkdown(merge.RevertBody(r.Snap.Pull, r.undo)), Head: r.branch, Base: r.undo.Base}
	made, err := r.Apply(ctx, effect.OpenRevert(draft, token))
	if k := github.KindOf(err); k == github.PullExists || k == github.Unclear {
		open, lookErr := openFrom(ctx, r, r.branch)
		if lookErr == nil && open != nil {
			thread.Applied(r.Thread, "pull", r.branch, token, effect.Present)
			return *open, nil
		}
		return made.Pull, errors.Join(err, lookErr)
	}
	return made.Pull, err
}
