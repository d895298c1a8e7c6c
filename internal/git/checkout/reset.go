package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Reset puts the checkout at sha: HEAD on the branch of the last Restore or Begin, tracked files as in sha, untracked files
// removed, ignored ones kept, and any merge or rebase aborted. So the files are those of the commit, whatever an agent or a
// test left. Submodules are not touched. No network operation.
func Reset(ctx context.Context, c *git.Checkout, sha string) error {
	if !syntax.IsSHA(sha) {
		return fmt.Errorf("reset checkout to %q: not a commit id", sha)
	}
	if c.Noted == nil {
		return fmt.Errorf("reset checkout to %s: no branch was restored", sha)
	}
	if err := c.Recreate(); err != nil {
		return err
	}
	if here, err := c.Present(ctx, sha); err != nil || !here {
		return errors.Join(err, fmt.Errorf("reset checkout to %s: it is not here", sha))
	}
	if err := forgetStates(c); err != nil {
		return err
	}
	return git.Wrap(checkOut(ctx, c, c.Branch, sha, "", true), "reset checkout to %s", sha)
}

// Recover makes a checkout readable in which git finds no commit after an agent has worked there: HEAD is detached at the commit of the
// last Restore or Begin, and index and files stay as they are. A git directory that was moved to another name in the checkout is moved
// back, and one that is gone costs one network operation.
func Recover(ctx context.Context, c *git.Checkout) error {
	if c.Noted == nil || c.Started == "" {
		return errors.New("recover checkout: no branch was restored")
	}
	here, err := c.Present(ctx, c.Started)
	if !here && !git.Exhausts(err) {
		err = git.Renew(ctx, c)
	}
	if err == nil {
		err = history.FetchCommits(ctx, c, c.Started)
	}
	if err == nil {
		err = errors.Join(c.Recreate(), os.MkdirAll(filepath.Join(filepath.Dir(c.Config), "refs"), 0o755),
			git.ReplaceFile(filepath.Join(c.GitDir, "HEAD"), []byte(c.Started+"\n")), forgetStates(c))
	}
	return git.Wrap(err, "recover checkout")
}

// BranchTip is the current commit of the local branch of the last Restore or Begin, wherever HEAD is: an agent may have switched
// branches. "" says that the branch was deleted. If Restore could not create the branch because of a directory/file
// conflict of names, it is head, which is the checkout's HEAD.
func BranchTip(ctx context.Context, c *git.Checkout, head string) (string, error) {
	if c.Noted == nil {
		return "", errors.New("read local branch: no branch was restored")
	}
	if c.Branch == "" {
		return head, nil
	}
	if err := c.Recreate(); err != nil {
		return "", err
	}
	if tip := c.ReadRef(c.Branch); tip != "" && tip == head { // as a rule
		return tip, nil
	}
	tip, err := c.TipOf(ctx, c.Branch)
	if err != nil || tip == "" {
		return "", git.Wrap(err, "read local branch")
	}
	if here, err := c.Present(ctx, tip); err != nil || !here {
		return "", errors.Join(err, fmt.Errorf("read local branch: commit %s is not here", tip))
	}
	return tip, nil
}
