package checkout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Snapshot commits the working tree, tracked and untracked files that are not ignored, while an agent may be running in it:
// it locks, moves and repairs nothing in the checkout, and only adds objects; none, in a quarantine (git.Quarantine). A file that
// cannot be read, or has over 100 MiB, is taken from the index; repositories of their own in the tree are left out. The first parent is the checkout's HEAD if it descends from the
// commit of the last Restore or Begin, else that commit. The second is before, the previous snapshot, unless it is "": so a
// branch of snapshots only grows. Without changes since before, Snapshot returns before; without any changes, "".
//
// It may run concurrently with nothing else on the Checkout. Whoever can write to the checkout can stall git in it: give
// ctx a deadline. *ErrUnsafeGitDir as in Head, but the links stay.
func Snapshot(ctx context.Context, c *git.Checkout, before, message string) (sha string, err error) {
	if message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")); message == "" || before != "" && !syntax.IsSHA(before) {
		return "", fmt.Errorf("snapshot on %q: not a commit id and a message", before)
	}
	if c.Noted == nil || c.Started == "" {
		return "", errors.New("snapshot: no branch was restored")
	}
	if err := git.NewOwnDir(c); err != nil {
		return "", err
	}
	if err := c.CheckUnchanged(); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	head, err := snapshotBase(ctx, c)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	tree, err := snapshotTree(ctx, c, head)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	// Check again: a tree written with objects from outside the git directory would lack them later.
	if err := c.CheckUnchanged(); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	onto, last, first := []string{head}, head, before == "" && head == c.Started
	if before != "" {
		last, onto = before, append(onto, before)
	}
	had, parents, err := commitHeader(ctx, c, last)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	switch {
	case first && had == tree:
		return "", nil
	case before != "" && had == tree && len(parents) > 0 && parents[0] == head:
		return before, nil
	}
	return git.WriteCommit(c, tree, message+"\n", onto...)
}

// Flatten commits a snapshot's tree on the snapshot's first parent alone, without earlier snapshots; it returns that parent
// if the tree is the same.
func Flatten(ctx context.Context, c *git.Checkout, snapshot, message string) (sha string, err error) {
	if message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")); message == "" || !syntax.IsSHA(snapshot) {
		return "", fmt.Errorf("flatten %q: not a commit id and a message", snapshot)
	}
	tree, parents, err := commitHeader(ctx, c, snapshot)
	if err != nil {
		return "", fmt.Errorf("flatten %s: %w", snapshot, err)
	}
	if len(parents) == 0 {
		return "", fmt.Errorf("flatten %s: it has no parent", snapshot)
	}
	if sha, err = onParent(ctx, c, tree, parents[0], message); err != nil {
		err = fmt.Errorf("flatten %s: %w", snapshot, err)
	}
	return sha, err
}

// OnStart is a commit that has something in common with the one of the last Restore or Begin: head itself, or, if it is on an orphan
// branch, what is in it, as changes to that one.
func OnStart(ctx context.Context, c *git.Checkout, head, message string) (sha string, err error) {
	if _, err := c.Ask(ctx, "merge-base", c.Started, head); git.ExitCode(err) != 1 {
		return head, err
	}
	tree, _, err := commitHeader(ctx, c, head)
	if err == nil {
		sha, err = onParent(ctx, c, tree, c.Started, message)
	}
	return sha, err
}

// onParent commits a tree on a commit; it is that commit if the tree is the same.
func onParent(ctx context.Context, c *git.Checkout, tree, parent, message string) (sha string, err error) {
	had, _, err := commitHeader(ctx, c, parent)
	if err != nil || had == tree {
		return parent, err
	}
	return git.WriteCommit(c, tree, message+"\n", parent)
}

// commitHeader returns a commit's tree and parents, which need not exist here.
func commitHeader(ctx context.Context, c *git.Checkout, sha string) (tree string, parents []string, err error) {
	out, err := c.Ask(ctx, "log", "--no-walk", "--no-show-signature", "--format=%T %P", sha)
	ids := strings.Fields(string(out))
	if err == nil && len(ids) == 0 {
		err = errors.New("it is not a commit")
	}
	if err != nil {
		return "", nil, fmt.Errorf("read commit %s: %w", sha, err)
	}
	return ids[0], ids[1:], nil
}

// snapshotBase is the parent of a snapshot: HEAD, if it descends from the commit of Restore or Begin.
func snapshotBase(ctx context.Context, c *git.Checkout) (string, error) {
	head := c.ReadHead()
	if head == c.Started || head == "" {
		return c.Started, ctx.Err()
	}
	if here, err := c.Present(ctx, head); err != nil || !here {
		return c.Started, err
	}
	_, err := c.Ask(ctx, "merge-base", "--is-ancestor", c.Started, head)
	if err == nil {
		return head, nil
	}
	c.Opt.Log.Debug("snapshot_head_unused", "head", head, "error", err)
	return c.Started, ctx.Err()
}
