// Package commits makes a turn's commits from what an agent left in the checkout: it commits, replays commits on a moved
// base, merges, and makes us their author.
package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/worktree"
)

// Dirty reports whether the checkout has anything to commit on head, which is its HEAD: changed, staged or new files that
// are not ignored, or a merge that was not concluded.
func Dirty(ctx context.Context, c *git.Checkout, head string) (bool, error) {
	if err := c.Recreate(); err != nil {
		return false, err
	}
	merged, err := mergeHeads(ctx, c)
	if err != nil || len(merged) > 0 {
		return err == nil, err
	}
	if err := c.PointHead(head); err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	out, err := c.Tree(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	return len(out) > 0, nil
}

// Commit commits everything that is not ignored, on top of head, which is the checkout's HEAD, and moves HEAD; made is false
// if there is nothing to commit, and sha is head then. A resolved merge becomes a merge commit; one with conflicts left is
// ErrUnmerged. No hook runs and nothing is signed.
func Commit(ctx context.Context, c *git.Checkout, head, message string) (sha string, made bool, err error) {
	message = strings.TrimSpace(strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n").Replace(message))
	if message == "" {
		return "", false, errors.New("commit: the message is empty")
	}
	if err := c.Recreate(); err != nil {
		return "", false, err
	}
	if err := unmerged(ctx, c); err != nil {
		return "", false, err
	}
	merged, err := mergeHeads(ctx, c)
	if err != nil {
		return "", false, err
	}
	if _, err := c.Tree(ctx, "add", "-A", "--", "."); err != nil {
		return "", false, fmt.Errorf("stage changes: %w", err)
	}
	out, err := c.Tree(ctx, "write-tree")
	if err != nil {
		return "", false, fmt.Errorf("write tree: %w", err)
	}
	tree := syntax.Line(out)
	if out, err = c.Ask(ctx, "rev-parse", "--verify", head+"^{tree}"); err != nil {
		return "", false, fmt.Errorf("read tree of HEAD: %w", err)
	}
	if tree == syntax.Line(out) && len(merged) == 0 {
		return head, false, nil
	}
	args := []string{"commit-tree", tree, "-F", "-", "-p", head}
	for _, parent := range merged {
		args = append(args, "-p", parent)
	}
	if out, err = c.Tell(ctx, []byte(message+"\n"), args...); err != nil {
		return "", false, fmt.Errorf("commit: %w", err)
	}
	sha = syntax.Line(out)
	if err := worktree.MoveHead(ctx, c, sha, head); err != nil {
		return "", false, err
	}
	return sha, true, worktree.ForgetStates(c)
}

// unmerged is ErrUnmerged when the index has conflicts.
func unmerged(ctx context.Context, c *git.Checkout) error {
	out, err := c.Tree(ctx, "ls-files", "-z", "--unmerged")
	if err != nil {
		return fmt.Errorf("look for conflicts: %w", err)
	}
	var paths []string
	for _, entry := range syntax.Fields(out) {
		_, path, _ := strings.Cut(entry, "\t")
		paths = append(paths, path)
	}
	if paths = slices.Compact(paths); len(paths) > 0 {
		return &git.ErrUnmerged{Paths: paths}
	}
	return nil
}

// mergeHeads are the commits that a merge in progress merges.
func mergeHeads(ctx context.Context, c *git.Checkout) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.GitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MERGE_HEAD: %w", err)
	}
	heads := strings.Fields(string(text))
	for _, head := range heads {
		if !syntax.IsSHA(head) {
			return nil, fmt.Errorf("read MERGE_HEAD: %q is not a commit id", head)
		}
	}
	if here, err := c.Present(ctx, heads...); err != nil || !here {
		return nil, errors.Join(err, errors.New("read MERGE_HEAD: it names a commit that is not here"))
	}
	return heads, nil
}
