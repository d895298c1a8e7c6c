package checkout

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Restore makes a clean checkout of branch at sha: a half-done merge or rebase is aborted, untracked files are removed and
// ignored ones stay, submodules are not touched, and credentials that actions/checkout left are removed. If the server's
// branch is not at sha, it checks again and then returns ErrHeadMoved; a deleted branch is ErrNoRef. It also fetches the
// tip of base if there is one. One network operation as a rule.
func Restore(ctx context.Context, c *git.Checkout, branch, base, sha string) error {
	if !syntax.ValidRef("refs/heads/"+branch) || base != "" && !syntax.ValidRef("refs/heads/"+base) || !syntax.IsSHA(sha) {
		return fmt.Errorf("restore branch %q at %q: not a branch and a commit id", branch, sha)
	}
	return git.OrInClone(ctx, c, func() error { return restore(ctx, c, branch, base, sha) })
}

func restore(ctx context.Context, c *git.Checkout, branch, base, sha string) error {
	again := c.Noted != nil
	if err := errors.Join(c.PutBack(), git.NewOwnDir(c)); err != nil {
		return err
	}
	seen, err := history.FetchBranches(ctx, c, branch, base)
	if err == nil && seen != sha {
		seen, err = history.FetchBranches(ctx, c, branch, base)
	}
	if err != nil {
		return err
	}
	if seen != sha {
		return &git.ErrHeadMoved{Branch: branch, Want: sha, Seen: seen}
	}
	return start(ctx, c, branch, sha, trackingRefs(c, branch, base, sha), again)
}

// start makes the checkout a clean one of a commit that was fetched.
func start(ctx context.Context, c *git.Checkout, branch, sha, tracking string, again bool) error {
	if err := prepareForAgent(ctx, c); err != nil {
		return err
	}
	if err := history.FetchTree(ctx, c, sha); err != nil {
		return err
	}
	if err := checkOut(ctx, c, "refs/heads/"+branch, sha, tracking, again); err != nil {
		return fmt.Errorf("check out %s at %s: %w", branch, sha, err)
	}
	return noteStarted(ctx, c, sha)
}

// prepareForAgent removes credentials and half-done states from the checkout, and records what the agent must not change.
func prepareForAgent(ctx context.Context, c *git.Checkout) error {
	if err := stripCredentials(ctx, c); err != nil {
		return err
	}
	if err := forgetStates(c); err != nil {
		return err
	}
	if err := c.Note("exclude", "attributes", "sparse-checkout"); err != nil {
		return err
	}
	return git.NewOwnDir(c)
}

// trackingRefs name the fetched tips as an agent expects them: origin/BRANCH, origin/BASE.
func trackingRefs(c *git.Checkout, branch, base, sha string) string {
	known := "update refs/remotes/origin/" + branch + " " + sha + "\n"
	if tip := c.Refs[git.FetchedBase]; tip != "" && base != "" {
		known += "update refs/remotes/origin/" + base + " " + tip + "\n"
	}
	return known
}
