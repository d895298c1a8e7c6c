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
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// maxReverts is how many branches for reverts of one pull request are tried: it may have been merged and reverted before.
const maxReverts = 20

// Revert opens a pull request that takes back what this one has landed, once that is tested. Its branch is named after
// the pull request, so that a run which goes on for one that died finds it.
func (p *Request) Revert(ctx context.Context, c command.Case) (*command.Found, error) {
	u := merge.Undo{By: c.By, URL: c.URL, Reason: redact.Text(ctx, p.Thread, c.Command.Reason), Base: p.Snap.Pull.BaseRef}
	made, err := undo(ctx, p, &u)
	if err == nil {
		u.Pull, err = openRevert(ctx, p, u, made)
	}
	s := (*Failure)(nil)
	switch {
	case errors.As(err, &s):
		s.Detail = redact.Text(ctx, p.Thread, s.Detail)
		cleanRun(ctx, p, s.Tests)
		if s.conflict != nil {
			s.Conflicts = conflictsOf(s.conflict)
		}
		return &command.Found{Verdict: model.Failed, Text: merge.RevertFailText(p.Snap.Pull, u, s.Failure)}, nil
	case err != nil:
		return nil, err
	}
	return &command.Found{Verdict: model.Applied, Text: merge.RevertText(u)}, nil
}

// undo makes and tests the commit that takes back what the pull request has landed.
func undo(ctx context.Context, p *Request, u *merge.Undo) (merging.Merged, error) {
	thread.ClearWorkspace(p.Thread)
	if err := p.Open(ctx); err != nil {
		return merging.Merged{}, err
	}
	onto, err := fetch.Ref(ctx, p.Checkout, "refs/heads/"+u.Base)
	if err != nil {
		return merging.Merged{}, failureOf(err, "")
	}
	from, to, err := landedRange(ctx, p, onto)
	if err != nil {
		return merging.Merged{}, err
	}
	relation, err := p.Relation(ctx, to, onto)
	if err != nil {
		return merging.Merged{}, err
	}
	if relation != model.Identical && relation != model.Ahead {
		return merging.Merged{}, &Failure{Failure: merge.Failure{Code: model.CodeEmpty, Detail: fmt.Sprintf("%s no longer has %s", u.Base, markdown.Short(to))}}
	}
	u.Landed = to
	if u.Commits, err = history.List(ctx, p.Checkout, from, to); err != nil {
		return merging.Merged{}, err
	}
	made, err := merging.Revert(ctx, p.Checkout, from, to, onto, flow.Unlinked(merge.RevertTitle(p.Snap.Pull)), fmt.Sprintf("This reverts %s, which came with #%d.", to, p.Snap.Pull.Number))
	if err != nil {
		return made, failureOf(err, "")
	}
	if u.Notes, err = steering(ctx, p.Checkout, p.Settings, onto, made.Tip); err != nil {
		return made, err
	}
	if err := p.Outside(ctx, "the tests of the revert come next"); err != nil {
		return made, err
	}
	u.Tests, err = testTip(ctx, p.World, p.Checkout, p.Settings, u.Base, onto, made.Tip)
	return made, err
}

// landedRange tells what the pull request has put on its base: as our own record says, or else as its merge commit shows.
func landedRange(ctx context.Context, p *Request, base string) (from, to string, err error) {
	if m := p.State.Merge(); m != nil && m.Marker.State == model.MergeDone && m.Marker.BaseSHA != "" {
		from, to = m.Marker.BaseSHA, m.Marker.Landed
		return from, to, fetch.Commits(ctx, p.Checkout, from, to)
	}
	if err := thread.ReadMergeFacts(ctx, p.Thread); err != nil {
		return "", "", err
	}
	commit := p.MergeFacts.MergeCommit
	if commit == "" {
		return "", "", &Failure{Failure: merge.Failure{Code: model.CodeEmpty, Detail: "GitHub does not show which commit merged it"}}
	}
	head := p.Snap.Pull.HeadSHA
	if err := fetch.Commits(ctx, p.Checkout, commit, head); err != nil {
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

// openRevert pushes the branch of a revert and opens its pull request.
func openRevert(ctx context.Context, p *Request, u merge.Undo, made merging.Merged) (model.PullRef, error) {
	for nth := 1; nth <= maxReverts; nth++ {
		branch := fmt.Sprintf("mergexo/revert-%d", p.Snap.Pull.Number)
		if nth > 1 {
			branch += fmt.Sprintf("-%d", nth)
		}
		ours, err := pushRevert(ctx, p, branch, made)
		if err != nil {
			return model.PullRef{}, err
		}
		if !ours {
			continue
		}
		token := journal.Token("revert", p.Event.Repo.String(), branch)
		draft := model.PullDraft{Title: flow.Inert(merge.RevertTitle(p.Snap.Pull)), Body: flow.InertMarkdown(merge.RevertBody(p.Snap.Pull, u)), Head: branch, Base: u.Base}
		made, err := p.Apply(ctx, effect.OpenRevert{Draft: draft, Token: token})
		if k := github.KindOf(err); k == github.PullExists || k == github.Unclear {
			open, lookErr := p.GitHub.Pulls.FromBranch(ctx, p.Event.Repo, branch)
			if lookErr == nil && len(open) > 0 {
				p.Applied("pull", branch, token, effect.Present)
				return open[0], nil
			}
			return made.Pull, errors.Join(err, lookErr)
		}
		return made.Pull, err
	}
	return model.PullRef{}, &Failure{Failure: merge.Failure{Code: model.CodeRejected, Detail: fmt.Sprintf("there are %d branches for reverts of this pull request already; delete those that are done", maxReverts)}}
}

// pushRevert pushes the commit to a new branch; false where there is one of that name with something else in it.
func pushRevert(ctx context.Context, p *Request, branch string, made merging.Merged) (bool, error) {
	as := model.Effect{Kind: "push", Target: branch, Token: journal.Token("push", branch, made.Tree)}
	_, err := p.Apply(ctx, effect.Push{Update: transport.Update{Branch: branch, SHA: made.Tip}, As: as})
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		return true, nil
	case !errors.As(err, &unclear) && (!errors.As(err, &rejected) || rejected.Reason != git.Stale):
		return false, failureOf(err, "")
	}
	sha, err := fetch.Ref(ctx, p.Checkout, "refs/heads/"+branch)
	if err != nil {
		return false, failureOf(err, "")
	}
	tree, err := history.TreeOf(ctx, p.Checkout, sha)
	return tree == made.Tree, err
}
