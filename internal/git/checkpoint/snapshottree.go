package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/worktree"
)

// snapshotTree writes the files into a tree. The last try does not use the checkout's index.
func snapshotTree(ctx context.Context, c *git.Checkout, head string) (tree string, err error) {
	for try := 1; try <= worktree.SnapshotTries; try++ {
		index := filepath.Join(c.OwnDir, fmt.Sprintf("snapshot-%d", try)) // a killed git leaves its lock
		if tree, err = trySnapshotTree(ctx, c, head, index, try == worktree.SnapshotTries); err == nil || ctx.Err() != nil {
			break
		}
		c.Opt.Log.Debug("snapshot_again", "try", try, "error", err)
	}
	return tree, err
}

// trySnapshotTree is one try. It uses its own index: a copy of the checkout's, so that only files changed since are read,
// or one made from head.
func trySnapshotTree(ctx context.Context, c *git.Checkout, head, index string, anew bool) (tree string, err error) {
	if anew = anew || worktree.CopyIndex(c, index) != nil; anew {
		if err := os.RemoveAll(index); err != nil {
			return "", fmt.Errorf("remove index: %w", err)
		}
		if _, err := c.TreeWith(ctx, index, nil, "read-tree", head); err != nil {
			return "", fmt.Errorf("read %s into an index: %w", head, err)
		}
	}
	gone, there, err := changedFiles(ctx, c, index)
	if err != nil {
		return "", err
	}
	if anew && c.Sparse() {
		gone = nil // only the checkout's index knows sparse files
	}
	files := index + "-files"
	defer os.RemoveAll(files)
	vanished, copied, err := copyFiles(ctx, c, files, there)
	if err != nil {
		return "", fmt.Errorf("copy changed files: %w", err)
	}
	if err := updateIndex(ctx, c, index, append(gone, vanished...), copied, files); err != nil {
		return "", err
	}
	out, err := c.TreeWith(ctx, index, nil, "write-tree")
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return syntax.Line(out), nil
}

// changedFiles lists the files that differ from the index: deleted ones, and changed or new ones.
func changedFiles(ctx context.Context, c *git.Checkout, index string) (gone, there []string, err error) {
	// Do not look into submodules: git status would run there, with their own untrusted configuration. Where the files have got
	// another owner since they were listed, they have not changed.
	out, err := c.TreeWith(ctx, index, nil, "-c", "core.trustctime=false", "-c", "core.checkStat=minimal",
		"diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, nil, fmt.Errorf("look for changed files: %w", err)
	}
	part := syntax.Fields(out)
	for i := 0; i+1 < len(part); i += 2 {
		switch path := part[i+1]; {
		case !worktree.Inside(path):
		case part[i] == "D":
			gone = append(gone, path)
		default:
			there = append(there, path)
		}
	}
	if out, err = c.TreeWith(ctx, index, nil, "ls-files", "-z", "--others", "--exclude-standard"); err != nil {
		return nil, nil, fmt.Errorf("look for new files: %w", err)
	}
	for _, path := range syntax.Fields(out) {
		if worktree.Inside(path) && !strings.HasSuffix(path, "/") { // else a repository of its own
			there = append(there, path)
		}
	}
	return gone, there, nil
}

// updateIndex takes files out of the index, and others in from their copies.
func updateIndex(ctx context.Context, c *git.Checkout, index string, gone, there []string, copies string) error {
	if len(gone) > 0 {
		var rows bytes.Buffer
		for _, path := range gone {
			fmt.Fprintf(&rows, "0 %s\t%s\x00", strings.Repeat("0", len(c.Started)), path)
		}
		if _, err := c.TreeWith(ctx, index, rows.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return fmt.Errorf("take files out: %w", err)
		}
	}
	if len(there) == 0 {
		return nil
	}
	_, err := c.Run(ctx, git.Spec{
		Dir: copies, Env: c.OwnEnv("GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+copies), Stdin: []byte(strings.Join(there, "\x00") + "\x00"),
		Args: git.Safely([]string{"update-index", "-z", "--add", "--replace", "--stdin"}),
	})
	if err != nil {
		return fmt.Errorf("take files in: %w", err)
	}
	return nil
}
