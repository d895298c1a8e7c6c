package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// maxReverts is how many branches for reverts of one pull request are tried: it may have been merged and reverted before.
const maxReverts = 20

// findRevert opens a pull request that takes back what this one has landed, once that is tested. Its branch is named after
// the pull request, so that a run which goes on for one that died finds it.
func (p *pass) findRevert(ctx context.Context, c command.Case) (*command.Found, error) {
	if p.DryRun {
		return &command.Found{Verdict: model.Applied, Text: "A dry run opens no pull request."}, nil
	}
	u := merge.Undo{By: c.By, URL: c.URL, Reason: p.clean(ctx, c.Command.Reason), Base: p.snap.Pull.BaseRef}
	made, err := p.undo(ctx, &u)
	if err == nil {
		u.Pull, err = p.openRevert(ctx, u, made)
	}
	s := (*setback)(nil)
	switch {
	case errors.As(err, &s):
		s.Detail = p.clean(ctx, s.Detail)
		p.cleanRun(ctx, s.Tests)
		if s.conflict != nil {
			s.Conflicts = conflictsOf(s.conflict)
		}
		return &command.Found{Verdict: model.Failed, Text: merge.RevertFailText(p.snap.Pull, u, s.Failure)}, nil
	case err != nil:
		return nil, err
	}
	return &command.Found{Verdict: model.Applied, Text: merge.RevertText(u)}, nil
}

// undo makes and tests the commit that takes back what the pull request has landed.
func (p *pass) undo(ctx context.Context, u *merge.Undo) (git.Merged, error) {
	p.clearWorkspace()
	if err := p.open(ctx); err != nil {
		return git.Merged{}, err
	}
	onto, err := p.checkout.FetchRef(ctx, "refs/heads/"+u.Base)
	if err != nil {
		return git.Merged{}, setbackOf(err, "")
	}
	from, to, err := p.landedRange(ctx, onto)
	if err != nil {
		return git.Merged{}, err
	}
	relation, err := p.relation(ctx, to, onto)
	if err != nil {
		return git.Merged{}, err
	}
	if relation != model.Identical && relation != model.Ahead {
		return git.Merged{}, &setback{Failure: merge.Failure{Code: model.CodeEmpty, Detail: fmt.Sprintf("%s does not have %s any more", u.Base, markdown.Short(to))}}
	}
	u.Landed = to
	if u.Commits, err = p.list(ctx, from, to); err != nil {
		return git.Merged{}, err
	}
	made, err := p.checkout.Revert(ctx, from, to, onto, flow.Unlinked(merge.RevertTitle(p.snap.Pull)), fmt.Sprintf("This takes back %s, which came with #%d.", to, p.snap.Pull.Number))
	if err != nil {
		return made, setbackOf(err, "")
	}
	if u.Notes, err = steering(ctx, p.checkout, onto, made.Tip); err != nil {
		return made, err
	}
	u.Tests, err = p.testTip(ctx, p.checkout, p.settings, u.Base, onto, made.Tip)
	return made, err
}

// landedRange tells what the pull request has put on its base: as our own record says, or else as its merge commit shows.
func (p *pass) landedRange(ctx context.Context, base string) (from, to string, err error) {
	if m := p.state.Merge(); m != nil && m.Marker.State == model.MergeDone && m.Marker.BaseSHA != "" {
		from, to = m.Marker.BaseSHA, m.Marker.Landed
		return from, to, p.checkout.Have(ctx, from, to)
	}
	if err := p.readMergeFacts(ctx); err != nil {
		return "", "", err
	}
	commit := p.mergeFacts.MergeCommit
	if commit == "" {
		return "", "", &setback{Failure: merge.Failure{Code: model.CodeEmpty, Detail: "GitHub does not tell which commit merged it"}}
	}
	head := p.snap.Pull.HeadSHA
	if err := p.checkout.Have(ctx, commit, head); err != nil {
		return "", "", setbackOf(err, "")
	}
	if err := p.checkout.Deepen(ctx, commit, head); err != nil && !isNoRef(err) {
		return "", "", err
	}
	from, to, err = p.checkout.LandedRange(ctx, commit, base, head, p.mergeFacts.Commits)
	if err != nil {
		return "", "", &setback{Failure: merge.Failure{Code: model.CodeEmpty, Detail: err.Error()}}
	}
	return from, to, nil
}

// openRevert pushes the branch of a revert and opens its pull request.
func (p *pass) openRevert(ctx context.Context, u merge.Undo, made git.Merged) (model.PullRef, error) {
	for nth := 1; nth <= maxReverts; nth++ {
		branch := fmt.Sprintf("mergexo/revert-%d", p.snap.Pull.Number)
		if nth > 1 {
			branch += fmt.Sprintf("-%d", nth)
		}
		ours, err := p.pushRevert(ctx, branch, made)
		if err != nil {
			return model.PullRef{}, err
		}
		if !ours {
			continue
		}
		token := journal.Token("revert", p.event.Repo.String(), branch)
		pull, err := p.GitHub.CreatePull(ctx, p.event.Repo, model.PullDraft{Title: flow.Inert(merge.RevertTitle(p.snap.Pull)), Body: flow.InertMarkdown(merge.RevertBody(p.snap.Pull, u)), Head: branch, Base: u.Base})
		if k := github.KindOf(err); k == github.PullExists || k == github.Unclear {
			open, lookErr := p.GitHub.PullsFrom(ctx, p.event.Repo, branch)
			if lookErr == nil && len(open) > 0 {
				p.applied("pull", branch, token, "present")
				return open[0], nil
			}
			return pull, errors.Join(err, lookErr)
		}
		if err == nil {
			p.applied("pull", branch, token, "applied")
		}
		return pull, err
	}
	return model.PullRef{}, &setback{Failure: merge.Failure{Code: model.CodeRejected, Detail: fmt.Sprintf("there are %d branches for reverts of this pull request already; delete those that are done", maxReverts)}}
}

// pushRevert pushes the commit to a new branch; false where there is one of that name with something else in it.
func (p *pass) pushRevert(ctx context.Context, branch string, made git.Merged) (bool, error) {
	err := p.checkout.Publish(ctx, git.Publish{Branch: branch, SHA: made.Tip})
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		p.applied("push", branch, journal.Token("push", branch, made.Tree), "applied")
		return true, nil
	case !errors.As(err, &unclear) && (!errors.As(err, &rejected) || rejected.Reason != git.Stale):
		return false, setbackOf(err, "")
	}
	sha, err := p.checkout.FetchRef(ctx, "refs/heads/"+branch)
	if err != nil {
		return false, setbackOf(err, "")
	}
	tree, err := p.checkout.TreeOf(ctx, sha)
	return tree == made.Tree, err
}
