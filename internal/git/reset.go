package git

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Reset puts the checkout at sha: HEAD on the branch of the last Restore or Begin, tracked files as in sha, untracked ones that
// are not ignored removed, ignored ones kept, and what was going on (a merge, a rebase) dropped. So what is there is
// what is committed, whatever an agent or a test left. Submodules are not touched. No network operation.
func (c *Checkout) Reset(ctx context.Context, sha string) error {
	if !isSHA(sha) {
		return fmt.Errorf("reset checkout to %q: not a commit id", sha)
	}
	if c.saved == nil {
		return fmt.Errorf("reset checkout to %s: no branch was restored", sha)
	}
	if err := errors.Join(c.putBack(), c.renew()); err != nil {
		return err
	}
	if here, err := c.present(ctx, sha); err != nil || !here {
		return errors.Join(err, fmt.Errorf("reset checkout to %s: it is not here", sha))
	}
	if err := c.forgetStates(); err != nil {
		return err
	}
	if err := c.settle(ctx, c.branch, sha, true); err != nil {
		return fmt.Errorf("reset checkout to %s: %w", sha, err)
	}
	return nil
}

// Tip is the commit that the local branch of the last Restore or Begin points to now, wherever HEAD is: an agent may have left
// commits there and gone elsewhere. "" says that the branch was deleted. Where Restore could not make the branch, since
// another one's name is a directory of it, it is HEAD.
func (c *Checkout) Tip(ctx context.Context) (string, error) {
	if c.saved == nil {
		return "", errors.New("read local branch: no branch was restored")
	}
	if c.branch == "" {
		return c.Head(ctx)
	}
	if err := errors.Join(c.putBack(), c.renew()); err != nil {
		return "", err
	}
	out, err := c.inside(ctx, "rev-parse", "--verify", "--quiet", c.branch)
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read local branch: %w", err)
	}
	tip := line(out)
	if here, err := c.present(ctx, tip); err != nil || !here {
		return "", errors.Join(err, fmt.Errorf("read local branch: commit %s is not here", tip))
	}
	return tip, nil
}

// settle puts HEAD, index and files at a commit, and removes what is neither in it nor ignored by it. Where something
// else has been at work, its index is not believed.
func (c *Checkout) settle(ctx context.Context, branch, sha string, distrust bool) error {
	if err := c.pointHead(ctx, branch, sha); err != nil {
		return err
	}
	c.refs[haveHead] = sha
	if distrust || c.reset(ctx, sha) != nil { // an index that git cannot read is rebuilt as well
		if err := c.rebuildIndex(ctx, sha); err != nil {
			return err
		}
		if err := c.reset(ctx, sha); err != nil {
			return err
		}
	}
	if err := c.removeUntracked(ctx); err != nil {
		return err
	}
	head, err := c.Head(ctx)
	if err == nil && head != sha {
		err = fmt.Errorf("HEAD is %s", head)
	}
	return err
}

// pointHead puts HEAD on the branch, a full name, and the branch on the commit.
func (c *Checkout) pointHead(ctx context.Context, branch, sha string) error {
	if branch != "" {
		if _, err := c.inside(ctx, "update-ref", "--no-deref", branch, sha); err != nil {
			// A local branch whose name is a directory of this one's: work without a branch, as actions/checkout does.
			c.opt.Log.Debug("head_detached", "error", err)
			branch = ""
		}
	}
	var err error
	if branch == "" {
		_, err = c.inside(ctx, "update-ref", "--no-deref", "HEAD", sha)
	} else {
		_, err = c.inside(ctx, "symbolic-ref", "HEAD", branch)
	}
	if err != nil {
		return fmt.Errorf("point HEAD to %s: %w", sha, err)
	}
	c.branch = branch
	return nil
}

// rebuildIndex writes the index anew from a commit, and compares every file with it. An index that others wrote can have
// git overlook a changed file (git-update-index(1), --assume-unchanged and --skip-worktree). Files that are the same are
// not written again, so what was built from them stays up to date.
func (c *Checkout) rebuildIndex(ctx context.Context, sha string) error {
	// What only the old index knows, a file that is both ignored and tracked, goes first, if that index is any good.
	if err := c.reset(ctx, sha); err != nil {
		c.opt.Log.Debug("index_unusable", "error", err)
	}
	if err := os.RemoveAll(c.index); err != nil {
		return fmt.Errorf("remove index: %w", err)
	}
	if _, err := c.tree(ctx, "read-tree", "--reset", sha); err != nil {
		return fmt.Errorf("read %s into the index: %w", sha, err)
	}
	// Exit code 1: some files differ.
	if _, err := c.tree(ctx, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return fmt.Errorf("compare files with %s: %w", sha, err)
	}
	return nil
}

// reset makes index and tracked files those of a commit, whatever they were.
func (c *Checkout) reset(ctx context.Context, sha string) error {
	if _, err := c.tree(ctx, "read-tree", "--reset", "-u", sha); err != nil {
		return fmt.Errorf("reset files to %s: %w", sha, err)
	}
	return nil
}

// removeUntracked removes untracked files that are not ignored, repositories among them, until there are none: an
// untracked .gitignore hides files until it is removed itself.
func (c *Checkout) removeUntracked(ctx context.Context) error {
	for {
		out, err := c.tree(ctx, "clean", "-ffd")
		if err != nil {
			return fmt.Errorf("remove untracked files: %w", err)
		}
		if len(out) == 0 {
			return nil
		}
	}
}
