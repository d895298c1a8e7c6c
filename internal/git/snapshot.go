package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Snapshot commits what is in the working tree now, tracked files and untracked ones that are not ignored, while an agent
// may be at work there: nothing of the checkout is locked, moved or mended, only objects are added. A file that cannot be
// read is in it as the index has it, and repositories in untracked directories are left out. The first parent is HEAD of the checkout where that descends from the commit of the last
// Restore or Begin, else that commit; the second is before, the snapshot before this one, where it is not "": so a branch
// of snapshots only grows. Where nothing is new since before, that is returned; "" where nothing is new at all.
//
// It may be called from another goroutine while nothing else of the Checkout is called. Who can write to the checkout can
// keep git waiting in it: give ctx a deadline. *ErrLedAstray as in Head, but what leads astray stays.
func (c *Checkout) Snapshot(ctx context.Context, before, message string) (sha string, err error) {
	if message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")); message == "" || before != "" && !isSHA(before) {
		return "", fmt.Errorf("snapshot on %q: not a commit id and a message", before)
	}
	if c.saved == nil || c.started == "" {
		return "", errors.New("snapshot: no branch was restored")
	}
	if err := c.renew(); err != nil {
		return "", err
	}
	if err := c.unmoved(); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	head, err := c.base(ctx)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	tree, err := c.treeNow(ctx, head)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	// Again: a tree that was written with objects from elsewhere would lack them later.
	if err := c.unmoved(); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	args := []string{"commit-tree", tree, "-F", "-", "-p", head}
	last, first := head, before == "" && head == c.started
	if before != "" {
		last, args = before, append(args, "-p", before)
	}
	had, parents, err := c.header(ctx, last)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	switch {
	case first && had == tree:
		return "", nil
	case before != "" && had == tree && len(parents) > 0 && parents[0] == head:
		return before, nil
	}
	out, err := c.tell(ctx, []byte(message+"\n"), args...)
	if err != nil {
		return "", fmt.Errorf("commit snapshot: %w", err)
	}
	return line(out), nil
}

// Flat is a commit of a snapshot's tree on the snapshot's first parent alone, so without the snapshots before it; it is
// that parent where the tree is the same.
func (c *Checkout) Flat(ctx context.Context, snapshot, message string) (sha string, err error) {
	if message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", "")); message == "" || !isSHA(snapshot) {
		return "", fmt.Errorf("flatten %q: not a commit id and a message", snapshot)
	}
	tree, parents, err := c.header(ctx, snapshot)
	if err != nil {
		return "", fmt.Errorf("flatten %s: %w", snapshot, err)
	}
	if len(parents) == 0 {
		return "", fmt.Errorf("flatten %s: it has no parent", snapshot)
	}
	had, _, err := c.header(ctx, parents[0])
	if err != nil {
		return "", fmt.Errorf("flatten %s: %w", snapshot, err)
	}
	if had == tree {
		return parents[0], nil
	}
	out, err := c.tell(ctx, []byte(message+"\n"), "commit-tree", tree, "-F", "-", "-p", parents[0])
	if err != nil {
		return "", fmt.Errorf("flatten %s: %w", snapshot, err)
	}
	return line(out), nil
}

// header gives the tree and the parents that a commit names, whether these are here or not.
func (c *Checkout) header(ctx context.Context, sha string) (tree string, parents []string, err error) {
	raw, err := c.ask(ctx, "cat-file", "commit", sha)
	if err != nil {
		return "", nil, fmt.Errorf("read commit %s: %w", sha, err)
	}
	for row := range strings.Lines(string(raw)) {
		name, id, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		switch {
		case name == "tree" && tree == "" && isSHA(id):
			tree = id
		case name == "parent" && isSHA(id):
			parents = append(parents, id)
		default:
			if tree == "" {
				return "", nil, fmt.Errorf("read commit %s: it names no tree", sha)
			}
			return tree, parents, nil
		}
	}
	return "", nil, fmt.Errorf("read commit %s: it breaks off", sha)
}

// unmoved is *ErrLedAstray when git, reading the objects and the index of the checkout, would leave its git directory. It
// looks and takes nothing out.
func (c *Checkout) unmoved() error {
	astray := slices.DeleteFunc(c.links(), func(path string) bool { return slices.Contains(c.linked, path) })
	for _, name := range []string{"alternates", "http-alternates"} {
		path := filepath.Join(c.objects, "info", name)
		if slices.Contains(astray, path) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if string(text) != string(c.saved[path]) {
			astray = append(astray, path)
		}
	}
	if len(astray) > 0 {
		return &ErrLedAstray{Paths: astray}
	}
	return nil
}

// base is the commit that a snapshot is of: HEAD, where it is a commit that descends from the one of Restore or Begin.
func (c *Checkout) base(ctx context.Context) (string, error) {
	head := c.peek()
	if head == c.started || head == "" {
		return c.started, ctx.Err()
	}
	if here, err := c.present(ctx, head); err != nil || !here {
		return c.started, err
	}
	_, err := c.ask(ctx, "merge-base", "--is-ancestor", c.started, head)
	if err == nil {
		return head, nil
	}
	c.opt.Log.Debug("snapshot_head_unused", "head", head, "error", err)
	return c.started, ctx.Err()
}
