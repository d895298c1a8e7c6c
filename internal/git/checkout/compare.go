package checkout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// worktreeState is what a workspace has beyond its index.
type worktreeState struct {
	gone, changed, untracked, ignored []string
}

// compareFiles compares the files with an index of our own.
func compareFiles(ctx context.Context, c *git.Checkout, index string) (f worktreeState, err error) {
	if err := distrust(index); err != nil {
		return f, err
	}
	const anyway = "core.sparseCheckout=true" // files count that the index says to skip
	// Exit code 1: some files differ.
	if _, err := c.TreeWith(ctx, index, nil, "-c", anyway, "update-index", "-q", "--really-refresh"); err != nil && git.ExitCode(err) != 1 {
		return f, fmt.Errorf("compare files with the index: %w", err)
	}
	out, err := c.TreeWith(ctx, index, nil, "-c", anyway, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return f, fmt.Errorf("look for changed files: %w", err)
	}
	part := syntax.Fields(out)
	for i := 0; i+1 < len(part); i += 2 {
		if part[i] == "D" {
			f.gone = append(f.gone, part[i+1])
		} else {
			f.changed = append(f.changed, part[i+1])
		}
	}
	if f.untracked, err = otherFiles(ctx, c, index); err == nil {
		f.ignored, err = otherFiles(ctx, c, index, "--ignored")
	}
	for _, path := range slices.Concat(f.gone, f.changed, f.untracked, f.ignored) {
		if !isInside(strings.TrimSuffix(path, "/")) { // files are moved by these paths
			return f, &ErrNoWorkspace{fmt.Sprintf("its index names %q, which is no path of the tree", path)}
		}
	}
	return f, err
}

// otherFiles are the files that an index does not know: the ignored ones, or the rest. A repository among them is listed as
// its directory, with a final slash.
func otherFiles(ctx context.Context, c *git.Checkout, index string, more ...string) ([]string, error) {
	out, err := c.TreeWith(ctx, index, nil, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, more...)...)
	return syntax.Fields(out), git.Wrap(err, "look for new files")
}
