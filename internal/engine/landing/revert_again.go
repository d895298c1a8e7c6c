package landing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
)

// resume finds what an earlier run has pushed for this command, and the pull request that it has opened for that. It may have
// been merged or closed since, somebody may have pushed more, and its branch may be gone, or be another command's by now: only a
// pull request with the commit of this command counts.
func (r *reversal) resume(ctx context.Context) error {
	names := r.names()
	refs, err := r.GitHub.Refs.List(ctx, r.Event.Repo, "refs/heads/"+names[0])
	if err != nil {
		return err
	}
	pulls, err := r.GitHub.Pulls.FromBranches(ctx, r.Event.Repo, names)
	if err != nil {
		return err
	}
	if branch, pull, err := openedBefore(ctx, r, pulls); err != nil || pull != nil {
		if pull != nil {
			r.undo.Pull, r.undo.Earlier = *pull, true
			thread.Applied(r.Thread, "pull", branch, pullOfRevert(r.Event.Repo, branch), effect.Present)
		}
		return err
	}
	for _, ref := range refs {
		branch := strings.TrimPrefix(ref.Name, "refs/heads/")
		if !slices.Contains(names, branch) {
			continue
		}
		made, onto, err := r.pushed(ctx, ref.SHA)
		if err != nil {
			return err
		}
		if made.Tip != "" && ref.SHA == made.Tip {
			r.branch, r.made, r.onto = branch, made, onto
			thread.Applied(r.Thread, "push", branch, pushOfRevert(branch, made), effect.Present)
			return nil
		}
	}
	return nil
}

// openedBefore is the pull request to the base that has the commit of this command, and its branch: an open one, or else one of ours.
func openedBefore(ctx context.Context, r *reversal, from map[string][]model.PullRef) (branch string, found *model.PullRef, err error) {
	for _, name := range r.names() {
		for _, p := range from[name] {
			open := p.State == model.PullOpen
			if p.BaseRef != r.undo.Base || found != nil && !open || !open && !thread.Opened(r.Thread, p) {
				continue
			}
			made, _, err := r.pushed(ctx, p.HeadSHA)
			if err != nil {
				return "", nil, err
			}
			if made.Tip == "" {
				continue
			}
			if branch, found = name, &p; open {
				return branch, found, nil
			}
		}
	}
	return branch, found, nil
}

// pushed is the commit of this command on a branch with this tip, and what it stands on, which the base has. The tree is made once
// more: whoever may push can write the mark over anything. Without a Tip there is none.
func (r *reversal) pushed(ctx context.Context, tip string) (made merging.Merged, onto string, err error) {
	none := merging.Merged{}
	if err := history.FetchCommits(ctx, r.Checkout, tip); err != nil {
		if git.IsNoRef(err) {
			err = nil
		}
		return none, "", err
	}
	sha, onto, err := merging.Reverted(ctx, r.Checkout, tip, r.mark)
	if err != nil || sha == "" {
		return none, "", err
	}
	relation, err := r.Relation(ctx, onto, r.onto)
	if err != nil || lineage.Decide(relation) != lineage.Pass {
		return none, "", err
	}
	if err := history.FetchCommits(ctx, r.Checkout, onto); err != nil {
		return none, "", err
	}
	made, err = r.build(ctx, onto)
	if s := (*Failure)(nil); errors.As(failureOf(err, ""), &s) { // it cannot be ours
		return none, "", nil
	}
	if err != nil {
		return none, "", err
	}
	tree, err := history.TreeOf(ctx, r.Checkout, sha)
	if err != nil || tree != made.Tree {
		return none, "", err
	}
	made.Tip = sha
	return made, onto, nil
}

// pushRevert pushes the commit to a new branch; false where there is one of that name with something else in it. What another command
// has pushed is the same only as long as its pull request is open.
func pushRevert(ctx context.Context, r *reversal, branch string) (bool, error) {
	as := model.Effect{Kind: "push", Target: branch, Token: pushOfRevert(branch, r.made)}
	_, err := r.Apply(ctx, effect.Push(effect.Move{Update: transport.Update{Branch: branch, SHA: r.made.Tip}, As: as}))
	if !git.Unsure(err) {
		return err == nil, failureOf(err, "")
	}
	sha, err := history.FetchRef(ctx, r.Checkout, "refs/heads/"+branch)
	if err != nil {
		return false, failureOf(err, "")
	}
	tree, err := history.TreeOf(ctx, r.Checkout, sha)
	if err != nil || tree != r.made.Tree {
		return false, err
	}
	ours, _, err := r.pushed(ctx, sha)
	if err != nil || ours.Tip == sha {
		return err == nil, err
	}
	open, err := openFrom(ctx, r, branch)
	return open != nil, err
}

// openFrom is the open pull request from a branch to the base; nil: there is none.
func openFrom(ctx context.Context, r *reversal, branch string) (*model.PullRef, error) {
	open, err := r.GitHub.Pulls.FromBranch(ctx, r.Event.Repo, branch)
	for _, p := range open {
		if p.BaseRef == r.undo.Base {
			return &p, err
		}
	}
	return nil, err
}
