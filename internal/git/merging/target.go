package merging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/mergetree"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// target is the tree of merging the whole branch, with the paths whose conflicts the base won, or *ErrConflict. Changes of
// commits that the base dropped are left out.
func target(ctx context.Context, g *input) (tree string, won []string, err error) {
	if g.targetTree == "" && g.targetErr == nil {
		g.targetTree, g.targetWon, g.targetErr = g.mergeTarget(ctx)
		g.targetErr = g.explain(ctx, g.targetErr)
	}
	return g.targetTree, g.targetWon, g.targetErr
}

func (g *input) mergeTarget(ctx context.Context) (string, []string, error) {
	ours := g.Base
	switch {
	case g.since != "":
		var err error
		if ours, err = git.WriteCommit(g.c, g.baseTree, "stand-in\n", g.since); err != nil {
			return "", nil, fmt.Errorf("prepare merge of %s: %w", g.Head, err)
		}
	case g.fork[0] == g.Base:
		return g.headTree, nil, nil
	}
	return g.mergeForBase(ctx, ours, g.Head, g.Base, g.Head, nil)
}

// mergeForBase is the tree of a merge, with the paths whose conflicts the base won: winner is the commit or tree whose versions
// win, and blame the commit at fault in an *ErrConflict. Conflicts in the files of except do not count.
func (g *input) mergeForBase(ctx context.Context, ours, theirs, winner, blame string, except []mergetree.Stage) (tree string, won []string, err error) {
	found, clean, err := g.merge(ctx, ours, theirs)
	if err != nil {
		return "", nil, fmt.Errorf("merge %s: %w", blame, err)
	}
	if rest := found.Without(except); !clean && (len(except) == 0 || len(rest.Stages) > 0 || len(rest.Conflicts()) > 0) {
		return g.resolveForBase(ctx, rest, winner, blame)
	}
	return found.Tree, nil, nil
}

// explain adds details for people to a conflict; other errors stay as they are.
func (g *input) explain(ctx context.Context, err error) error {
	var conflict *mergetree.ErrConflict
	if errors.As(err, &conflict) {
		if failed := mergetree.Describe(ctx, g.c, conflict, "base", "branch"); failed != nil {
			return failed
		}
		conflict.Why = g.unapplied(ctx, conflict.Paths)
	}
	return err
}

// resolveForBase lets the base win a merge's conflicts if all of them are in paths where it may, and of a kind with a clear winner:
// two contents, or a deletion and a change. Otherwise it is *ErrConflict. theirs is the commit at fault, and ours a commit
// or tree whose version wins.
func (g *input) resolveForBase(ctx context.Context, found *mergetree.Result, ours, theirs string) (tree string, won []string, err error) {
	paths := found.Paths()
	conflict := &mergetree.ErrConflict{Commit: theirs, Tree: found.Tree, Paths: paths, Found: found}
	if len(g.BaseWins) == 0 || !g.mayWin(found, paths) {
		return "", nil, conflict
	}
	there, err := mergetree.Entries(ctx, g.c, ours, paths)
	if err != nil {
		return "", nil, err
	}
	change := make([]mergetree.Stage, 0, len(paths))
	for _, p := range paths {
		_, mine, _ := found.Versions(p)
		if at := there[p]; at.Mode != mine.Mode || at.Id != mine.Id { // renamed to here by this merge
			return "", nil, conflict
		}
		mine.Path = p
		change = append(change, mine)
	}
	if tree, err = replaceEntries(ctx, g.c, found.Tree, change); err != nil {
		return "", nil, err
	}
	return tree, paths, nil
}

func (g *input) mayWin(found *mergetree.Result, paths []string) bool {
	plain := []string{"content", "add/add", "modify/delete", "binary", "mode", "symlink"}
	for _, s := range found.Conflicts() {
		kind := mergetree.KindOf(s)
		if !slices.Contains(plain, kind) || slices.ContainsFunc(s.Paths, func(p string) bool { return !slices.Contains(paths, p) }) {
			return false
		}
	}
	return len(found.Stages) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return !slices.Contains(plain, found.Kind(p)) || !slices.ContainsFunc(g.BaseWins, func(glob string) bool {
			ok, _ := doublestar.Match(glob, p) // the settings were validated
			return ok
		})
	})
}

// replaceEntries is a tree with some entries replaced; an entry without a mode is removed.
func replaceEntries(ctx context.Context, c *git.Checkout, tree string, change []mergetree.Stage) (string, error) {
	index := filepath.Join(c.OwnDir, "graft-index")
	defer func() { _ = os.Remove(index) }() // our directory is removed later anyway
	env := c.OwnEnv("GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+c.OwnDir)
	whole := []string{"-c", "core.sparseCheckout=false", "-c", "index.sparse=false"}
	run := func(stdin string, args ...string) ([]byte, error) {
		return c.Run(ctx, git.Spec{Dir: c.OwnDir, Env: env, Args: git.Safely(whole, args), Stdin: []byte(stdin)})
	}
	if _, err := run("", "read-tree", tree); err != nil {
		return "", fmt.Errorf("read tree %s: %w", tree, err)
	}
	var rows strings.Builder
	for _, at := range change {
		if at.Mode == "" {
			at.Mode, at.Id = "0", strings.Repeat("0", len(tree))
		}
		fmt.Fprintf(&rows, "%s %s\t%s\x00", at.Mode, at.Id, at.Path)
	}
	if _, err := run(rows.String(), "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("change tree %s: %w", tree, err)
	}
	out, err := run("", "write-tree", "--missing-ok")
	return syntax.Line(out), git.Wrap(err, "write tree")
}
