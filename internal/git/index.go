package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// UpdateIndex changes an index: entries by path, "" for none, and the files of a directory at these paths. It returns what git does not take,
// by path, and why.
func UpdateIndex(ctx context.Context, c *Checkout, index string, entries map[string]Entry, paths []string, dir string) (refused map[string]string, err error) {
	refused = map[string]string{}
	if len(entries) > 0 {
		var rows bytes.Buffer
		for path, entry := range entries {
			if entry == "" {
				entry = Entry("0 " + strings.Repeat("0", 40))
			}
			fmt.Fprintf(&rows, "%s\t%s\x00", entry, path)
		}
		if _, err := c.TreeWith(ctx, index, rows.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return refused, fmt.Errorf("change the index: %w", err)
		}
	}
	return refused, add(ctx, c, index, paths, dir, refused)
}

// add takes files in. Git takes all or none, so what it refuses is found by halves.
func add(ctx context.Context, c *Checkout, index string, paths []string, dir string, refused map[string]string) error {
	if len(paths) == 0 {
		return nil
	}
	out, err := c.Run(ctx, Spec{
		Dir: dir, Env: c.OwnEnv("GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+dir), Stdin: []byte(strings.Join(paths, "\x00") + "\x00"),
		Args: Safely([]string{"update-index", "--verbose", "-z", "--add", "--replace", "--stdin"}),
	})
	switch half := len(paths) / 2; {
	case err == nil:
		said := string(out)
		for _, path := range paths { // what it does not take for its name is only left out
			var taken bool
			if said, taken = strings.CutPrefix(said, "add '"+path+"'\n"); !taken {
				refused[path] = "git does not take such a name"
			}
			if strings.HasSuffix(path, "/") {
				refused[path] = "it is a repository of its own"
			}
		}
		return nil
	case ctx.Err() != nil || ExitCode(err) < 0 || Exhausts(err) || FilterFailed(err):
		return fmt.Errorf("stage changes: %w", err)
	case half == 0:
		refused[paths[0]] = strings.TrimPrefix(strings.TrimPrefix(syntax.Line([]byte(StderrOf(err))), "error: "), "fatal: ")
		return nil
	default:
		if err := add(ctx, c, index, paths[:half], dir, refused); err != nil {
			return err
		}
		return add(ctx, c, index, paths[half:], dir, refused)
	}
}

// Retree is a tree with other entries.
func Retree(ctx context.Context, c *Checkout, tree string, entries map[string]Entry) (string, error) {
	return Graft(ctx, c, tree, func(index string) error {
		_, err := UpdateIndex(ctx, c, index, entries, nil, c.Top)
		return err
	})
}

// Graft is a tree after a change of an index of it. Files that a partial clone lacks, and what a sparse checkout leaves out, stay in it.
func Graft(ctx context.Context, c *Checkout, tree string, change func(index string) error) (string, error) {
	index := filepath.Join(c.OwnDir, "tree-index")
	defer os.Remove(index)
	if _, err := c.TreeWith(ctx, index, nil, "-c", "core.sparseCheckout=false", "-c", "index.sparse=false", "read-tree", tree); err != nil {
		return "", fmt.Errorf("read tree %s: %w", tree, err)
	}
	if err := change(index); err != nil {
		return "", err
	}
	return WriteTree(ctx, c, index, "--missing-ok")
}

// WriteTree writes an index as a tree.
func WriteTree(ctx context.Context, c *Checkout, index string, options ...string) (string, error) {
	out, err := c.TreeWith(ctx, index, nil, append([]string{"write-tree"}, options...)...)
	return syntax.Line(out), Wrap(err, "write tree")
}
