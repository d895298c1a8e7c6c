package merging

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/git"
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
		if ours, err = StandIn(g.c, g.baseTree, g.since); err != nil {
			return "", nil, err
		}
	case g.fork[0] == g.Base:
		return g.headTree, nil, nil
	}
	return g.mergeForBase(ctx, ours, g.Head, g.Base, g.Head, nil)
}

// mergeForBase is the tree of a merge, with the paths whose conflicts the base won: winner is the commit or tree whose versions
// win, and blame the commit at fault in an *ErrConflict. Conflicts in the files of except do not count.
func (g *input) mergeForBase(ctx context.Context, ours, theirs, winner, blame string, except map[string]git.Entry) (tree string, won []string, err error) {
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
	if conflict := AsConflict(err); conflict != nil {
		if failed := Describe(ctx, g.c, conflict, "base", "branch"); failed != nil {
			return failed
		}
		conflict.Why = g.unapplied(ctx, conflict.Paths)
	}
	return err
}

// resolveForBase lets the base win a merge's conflicts if all of them are in paths where it may, and of a kind with a clear winner:
// two contents, or a deletion and a change. Otherwise it is *ErrConflict. theirs is the commit at fault, and ours a commit
// or tree whose version wins.
func (g *input) resolveForBase(ctx context.Context, found *Result, ours, theirs string) (tree string, won []string, err error) {
	paths := found.Paths()
	conflict := found.Conflict(theirs)
	if len(g.BaseWins) == 0 || !g.mayWin(found, paths) {
		return "", nil, conflict
	}
	there, err := git.Entries(ctx, g.c, ours, paths)
	if err != nil {
		return "", nil, err
	}
	change := map[string]git.Entry{}
	for _, p := range paths {
		if _, change[p], _ = found.Versions(p); there[p] != change[p] { // renamed to here by this merge
			return "", nil, conflict
		}
	}
	if tree, err = git.Retree(ctx, g.c, found.Tree, change); err != nil {
		return "", nil, err
	}
	return tree, paths, nil
}

func (g *input) mayWin(found *Result, paths []string) bool {
	plain := []string{"content", "add/add", "modify/delete", "binary", "mode", "symlink"}
	for _, s := range found.Conflicts() {
		kind := KindOf(s)
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
