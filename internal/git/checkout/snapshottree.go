package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
)

// snapshotTree writes the files into a tree. The last try does not use the checkout's index.
func snapshotTree(ctx context.Context, c *git.Checkout, head string) (tree string, err error) {
	for try := 1; try <= snapshotTries; try++ {
		index := filepath.Join(c.OwnDir, fmt.Sprintf("snapshot-%d", try)) // a killed git leaves its lock
		if tree, err = trySnapshotTree(ctx, c, head, index, try == snapshotTries); err == nil || ctx.Err() != nil {
			break
		}
		c.Opt.Log.Debug("snapshot_again", "try", try, "error", err)
	}
	return tree, err
}

// trySnapshotTree is one try. It uses its own index: a copy of the checkout's, so that only files changed since are read,
// or one made from head.
func trySnapshotTree(ctx context.Context, c *git.Checkout, head, index string, anew bool) (tree string, err error) {
	if anew || copyIndex(c.Index, index) != nil {
		if err := os.RemoveAll(index); err != nil {
			return "", fmt.Errorf("remove index: %w", err)
		}
	}
	// Where the files have got another owner since they were listed, they have not changed.
	changes, err := look(ctx, c, index, head, "-c", "core.trustctime=false", "-c", "core.checkStat=minimal")
	if err != nil {
		return "", err
	}
	there := slices.DeleteFunc(slices.Concat(changes.There, changes.Unmerged), func(path string) bool { return !isInside(path) })
	files := index + "-files"
	defer os.RemoveAll(files)
	vanished, copied, err := copyFiles(ctx, c, files, there)
	if err != nil {
		return "", fmt.Errorf("copy changed files: %w", err)
	}
	for _, path := range vanished {
		changes.Set[path] = ""
	}
	refused, err := git.UpdateIndex(ctx, c, index, changes.Set, copied, files)
	if err != nil {
		return "", err
	}
	for path, why := range refused {
		c.Opt.Log.Debug("file_unread", "path", path, "error", why)
	}
	return git.WriteTree(ctx, c, index)
}
