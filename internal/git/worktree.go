package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	snapshotTries = 3       // how often files are read while somebody writes them
	maxUnread     = 20      // files in one try that may turn out not to be readable
	indexLimit    = 1 << 30 // bytes of an index that is copied
)

// treeNow writes the files as they are into a tree. The last try does not use the checkout's index.
func (c *Checkout) treeNow(ctx context.Context, head string) (tree string, err error) {
	for try := 1; try <= snapshotTries; try++ {
		index := filepath.Join(c.own, fmt.Sprintf("snapshot-%d", try)) // a git that died leaves a lock beside it
		if tree, err = c.treeOf(ctx, head, index, try == snapshotTries); err == nil || ctx.Err() != nil {
			break
		}
		c.opt.Log.Debug("snapshot_again", "try", try, "error", err)
	}
	return tree, err
}

// treeOf is one try. The index is one of our own: a copy of the checkout's, so that only files that have changed since
// are read, or one made from head.
func (c *Checkout) treeOf(ctx context.Context, head, index string, anew bool) (tree string, err error) {
	if anew = anew || c.copyIndex(index) != nil; anew {
		if err := os.RemoveAll(index); err != nil {
			return "", fmt.Errorf("remove index: %w", err)
		}
		if _, err := c.treeWith(ctx, index, nil, "read-tree", head); err != nil {
			return "", fmt.Errorf("read %s into an index: %w", head, err)
		}
	}
	gone, there, err := c.touched(ctx, index)
	if err != nil {
		return "", err
	}
	if anew && slices.Contains(c.carried, setting{"core.sparsecheckout", "true"}) {
		gone = nil // only the checkout's index knows what was never there
	}
	if err := c.takeIn(ctx, index, gone, there); err != nil {
		return "", err
	}
	out, err := c.treeWith(ctx, index, nil, "write-tree")
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return line(out), nil
}

// touched lists the files that are not as the index has them: those that are gone, and those that changed or are new.
func (c *Checkout) touched(ctx context.Context, index string) (gone, there []string, err error) {
	// Not looking into submodules: git status would run there, with the configuration that they have now.
	out, err := c.treeWith(ctx, index, nil, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, nil, fmt.Errorf("look for changed files: %w", err)
	}
	part := fields(out)
	for i := 0; i+1 < len(part); i += 2 {
		if part[i] == "D" {
			gone = append(gone, part[i+1])
		} else {
			there = append(there, part[i+1])
		}
	}
	if out, err = c.treeWith(ctx, index, nil, "ls-files", "-z", "--others", "--exclude-standard"); err != nil {
		return nil, nil, fmt.Errorf("look for new files: %w", err)
	}
	for _, path := range fields(out) {
		if !strings.HasSuffix(path, "/") { // a repository of its own
			there = append(there, path)
		}
	}
	return gone, there, nil
}

// takeIn updates the index. It is not git add, which gives up when one new file vanishes under its hands. A file that
// cannot be read stays in the index as it is.
func (c *Checkout) takeIn(ctx context.Context, index string, gone, there []string) error {
	if len(gone) > 0 {
		var rows bytes.Buffer
		for _, path := range gone {
			fmt.Fprintf(&rows, "0 %s\t%s\x00", strings.Repeat("0", len(c.started)), path)
		}
		if _, err := c.treeWith(ctx, index, rows.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return fmt.Errorf("take files out: %w", err)
		}
	}
	for unread := 0; len(there) > 0; unread++ {
		paths := []byte(strings.Join(there, "\x00") + "\x00")
		_, err := c.treeWith(ctx, index, paths, "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
		if err == nil {
			return nil
		}
		_, named, _ := strings.Cut(stderrOf(err), "Unable to process path ")
		named = strings.TrimSpace(named)
		left := slices.DeleteFunc(slices.Clone(there), func(path string) bool { return strings.TrimSpace(clean(c.redact(path))) == named })
		if named == "" || unread == maxUnread || len(left) == len(there) {
			return fmt.Errorf("take files in: %w", err)
		}
		c.opt.Log.Debug("file_unread", "path", named, "error", err)
		there = left
	}
	return nil
}

// copyIndex copies the checkout's index. The copy is as old as the index is: git compares the content of files that are
// no older than their index, for they may have changed unseen.
//
// https://git-scm.com/docs/racy-git
func (c *Checkout) copyIndex(to string) error {
	from, err := openBelow(filepath.Dir(c.index), filepath.Base(c.index))
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() > indexLimit {
		return fmt.Errorf("the index has %d bytes", info.Size())
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.LimitReader(from, indexLimit))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
