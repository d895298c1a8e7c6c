package history

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// MaxFiles limits the names that Files and Names return.
const MaxFiles = 1000

// Files lists the paths of a commit's files below a directory: none if it does not exist, and at most a thousand.
func Files(ctx context.Context, c *git.Checkout, rev, dir string) ([]string, error) {
	names, err := list(ctx, c, rev, dir, "-r")
	return names[:min(len(names), MaxFiles)], err
}

// Everywhere lists the paths of a commit's files that have one of these names, at most a thousand.
func Everywhere(ctx context.Context, c *git.Checkout, rev string, names ...string) ([]string, error) {
	found, err := list(ctx, c, rev, "", "-r")
	found = slices.DeleteFunc(found, func(file string) bool { return !slices.Contains(names, path.Base(file)) })
	return found[:min(len(found), MaxFiles)], err
}

// Names lists the names in a directory of a commit, "" for the root: none if it does not exist, and at most a thousand.
func Names(ctx context.Context, c *git.Checkout, rev, dir string) ([]string, error) {
	names, err := list(ctx, c, rev, dir)
	names = names[:min(len(names), MaxFiles)]
	for i := range names {
		names[i] = path.Base(names[i])
	}
	return names, err
}

// list lists what git ls-tree finds in a directory of a commit.
func list(ctx context.Context, c *git.Checkout, rev, dir string, options ...string) ([]string, error) {
	if !syntax.IsSHA(rev) {
		return nil, fmt.Errorf("list files of %q: not a commit id", rev)
	}
	args := slices.Concat([]string{"ls-tree", "-z", "--name-only", "--full-tree"}, options, []string{rev})
	if dir != "" {
		args = append(args, "--", strings.TrimSuffix(dir, "/")+"/")
	}
	out, err := c.Ask(ctx, args...)
	return syntax.Fields(out), git.Wrap(err, "list files in %q of %s", dir, rev)
}

// Blob is the content of a file in a commit; fs.ErrNotExist if there is none. No network operation, but one if a partial
// clone lacks the file.
func Blob(ctx context.Context, c *git.Checkout, rev, path string) ([]byte, error) {
	if !syntax.IsSHA(rev) {
		return nil, fmt.Errorf("read %q of %q: not a commit id", path, rev)
	}
	found, err := git.Entries(ctx, c, rev, []string{path})
	at := found[path]
	if err == nil && !at.IsBlob() {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = FetchMissing(ctx, c, []string{at.ID()})
	}
	if err != nil {
		return nil, fmt.Errorf("read %q of %s: %w", path, rev, err)
	}
	blob, err := c.Ask(ctx, "cat-file", "blob", at.ID())
	return blob, git.Wrap(err, "read %q of %s", path, rev)
}

// TreeOf is the tree of a commit.
func TreeOf(ctx context.Context, c *git.Checkout, sha string) (string, error) {
	if !syntax.IsSHA(sha) {
		return "", fmt.Errorf("read tree of %q: not a commit id", sha)
	}
	if known := c.Trees[sha]; known != "" {
		return known, nil
	}
	out, err := c.Ask(ctx, "rev-parse", "--verify", sha+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read tree of %s: %w", sha, err)
	}
	c.Trees[sha] = syntax.Line(out)
	return c.Trees[sha], nil
}
