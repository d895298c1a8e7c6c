// Package checkpoint makes a checkout clean for an agent, at a branch or at a new one, and saves what the agent has made so
// far while it is at work.
package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/worktree"
)

// Restore makes the checkout a clean one of branch at sha: what a merge or a rebase left half-done is dropped, untracked
// files are removed and ignored ones stay, submodules are not touched, and the credentials that actions/checkout left
// behind are taken out. Where the server's branch is not at sha it looks once more and then says ErrHeadMoved; a branch
// that is gone is ErrNoRef. The tip of base is fetched along with it where there is one. One network operation as a rule.
func Restore(ctx context.Context, c *git.Checkout, branch, base, sha string) error {
	if !syntax.ValidRef("refs/heads/"+branch) || base != "" && !syntax.ValidRef("refs/heads/"+base) || !syntax.IsSHA(sha) {
		return fmt.Errorf("restore branch %q at %q: not a branch and a commit id", branch, sha)
	}
	return git.OrInClone(ctx, c, func() error { return restore(ctx, c, branch, base, sha) })
}

func restore(ctx context.Context, c *git.Checkout, branch, base, sha string) error {
	again := c.Noted != nil
	if err := errors.Join(c.PutBack(), c.NewOwnDir()); err != nil {
		return err
	}
	seen, err := fetch.Branches(ctx, c, branch, base)
	if err == nil && seen != sha {
		seen, err = fetch.Branches(ctx, c, branch, base)
	}
	if err != nil {
		return err
	}
	if seen != sha {
		return &git.ErrHeadMoved{Branch: branch, Want: sha, Seen: seen}
	}
	if err := prepareForAgent(ctx, c); err != nil {
		return err
	}
	if err := fetch.Tree(ctx, c, sha); err != nil {
		return err
	}
	nameTips(ctx, c, branch, base, sha)
	if err := worktree.CheckOut(ctx, c, "refs/heads/"+branch, sha, again); err != nil {
		return fmt.Errorf("restore %s at %s: %w", branch, sha, err)
	}
	return noteStarted(ctx, c, sha)
}

// prepareForAgent takes the credentials and half-done states out of the checkout, and notes what must survive the agent.
func prepareForAgent(ctx context.Context, c *git.Checkout) error {
	if err := worktree.StripCredentials(ctx, c); err != nil {
		return err
	}
	if err := worktree.ForgetStates(c); err != nil {
		return err
	}
	if err := c.Note("exclude", "attributes", "sparse-checkout"); err != nil {
		return err
	}
	if err := c.ReadSettings(ctx); err != nil {
		return err
	}
	return c.NewOwnDir()
}

// nameTips names the fetched tips as the agent expects them: origin/BRANCH, origin/BASE.
func nameTips(ctx context.Context, c *git.Checkout, branch, base, sha string) {
	known := "update refs/remotes/origin/" + branch + " " + sha + "\n"
	if tip := c.Refs[git.FetchedBase]; tip != "" && base != "" {
		known += "update refs/remotes/origin/" + base + " " + tip + "\n"
	}
	if _, err := c.InsideTold(ctx, []byte(known), "update-ref", "--no-deref", "--stdin"); err != nil {
		c.Opt.Log.Debug("tracking_refs_kept", "error", err) // a convenience for the agent, nothing depends on it
	}
}
