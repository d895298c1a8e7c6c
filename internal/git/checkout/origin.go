package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// FetchOrigin fetches the tips of the server's branches and names them origin/BRANCH in the checkout, where an agent
// expects them. ErrNoRef names a branch that the server does not have. One network operation.
func FetchOrigin(ctx context.Context, c *git.Checkout, branches ...string) (tips map[string]string, err error) {
	var wants [][2]string
	for _, branch := range branches {
		if !syntax.ValidRef("refs/heads/" + branch) {
			return nil, fmt.Errorf("fetch origin: %q is not a branch", branch)
		}
		wants = append(wants, [2]string{"refs/heads/" + branch, fmt.Sprintf("refs/fetched/origin-%d", len(wants))})
	}
	if err := history.Fetch(ctx, c, history.Bounded(ctx, c, 0), wants...); err != nil {
		return nil, fmt.Errorf("fetch origin: %w", err)
	}
	tips = map[string]string{}
	var known bytes.Buffer
	for i, branch := range branches {
		tips[branch] = c.Refs[wants[i][1]]
		fmt.Fprintf(&known, "update refs/remotes/origin/%s %s\n", branch, tips[branch])
	}
	if _, err := c.InsideTold(ctx, known.Bytes(), "update-ref", "--no-deref", "--stdin"); err != nil {
		c.Opt.Log.Debug("tracking_refs_kept", "error", err) // only a convenience for the agent
	}
	return tips, nil
}

// MergeOrigin merges a fetched commit into the checkout's HEAD. On a conflict the checkout stays in the middle of the
// merge, with conflict markers in the files, and the next Commit creates the merge commit. *ErrConflict names the paths;
// only MarkedPaths checks whether the markers were removed. Missing history is fetched.
func MergeOrigin(ctx context.Context, c *git.Checkout, other, message string) (head string, err error) {
	if head, err = c.Head(ctx); err != nil {
		return "", err
	}
	if _, err := history.Relate(ctx, c, head, other); err != nil {
		return "", err
	}
	if err := unshallowMerge(ctx, c, head, other); err != nil {
		return "", err
	}
	merged, err := MergeInto(ctx, c, other, message)
	var conflict *merging.ErrConflict
	if !errors.As(err, &conflict) {
		return merged, err
	}
	if err := putTree(ctx, c, conflict.Tree, head); err != nil {
		return "", err
	}
	return head, errors.Join(git.ReplaceFile(filepath.Join(c.GitDir, "MERGE_HEAD"), []byte(other+"\n")), conflict)
}

// unshallowMerge fetches all history if what is here does not show how two commits diverged.
func unshallowMerge(ctx context.Context, c *git.Checkout, head, other string) error {
	if _, err := c.Ask(ctx, "merge-base", head, other); git.ExitCode(err) != 1 || len(c.Boundary) == 0 {
		return err
	}
	shas := []string{other}
	if known := c.Refs[git.FetchedHead]; known != "" {
		shas = append(shas, known)
	}
	return history.Fetch(ctx, c, []string{"--unshallow"}, history.ByID(shas...)...)
}

// MarkedPaths returns those paths whose files in the checkout have lines that start a conflict and lines that end one, as in
// git-merge(1). A missing or special file has none.
func MarkedPaths(ctx context.Context, c *git.Checkout, paths []string) ([]string, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !filepath.IsLocal(path) })
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := c.Tree(ctx, append([]string{"grep", "-l", "-z", "-a", "--untracked", "--all-match", "-e", "^<<<<<<< ", "-e", "^>>>>>>> ", "--"}, paths...)...)
	if err != nil && git.ExitCode(err) != 1 { // 1: there are none
		return nil, fmt.Errorf("look for conflict markers: %w", err)
	}
	return syntax.Fields(out), nil
}
