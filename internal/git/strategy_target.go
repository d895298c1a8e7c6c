package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// target is the tree that the merge of the whole branch comes to, with the paths whose conflicts the base won, or
// *ErrConflict. Where the branch holds commits that the base gave up, what they changed is left out.
func (g *ground) target(ctx context.Context) (tree string, won []string, err error) {
	if g.aim == "" && g.failed == nil {
		g.aim, g.won, g.failed = g.aimAt(ctx)
	}
	return g.aim, g.won, g.failed
}

func (g *ground) aimAt(ctx context.Context) (string, []string, error) {
	ours := g.Base
	switch {
	case g.since != "":
		raw := g.c.plain(g.baseTree, []string{g.since}, "stand-in\n")
		out, err := g.c.tell(ctx, raw, "hash-object", "-t", "commit", "-w", "--stdin")
		if err != nil {
			return "", nil, fmt.Errorf("prepare merge of %s: %w", g.Head, err)
		}
		ours = line(out)
	case g.fork[0] == g.Base:
		return g.headTree, nil, nil
	}
	found, clean, err := g.merge(ctx, ours, g.Head)
	if err != nil {
		return "", nil, fmt.Errorf("merge %s: %w", g.Head, err)
	}
	if clean {
		return found.tree, nil, nil
	}
	tree, won, err := g.settle(ctx, found, g.Base, g.Head)
	if err != nil {
		return "", nil, g.explain(ctx, err)
	}
	return tree, won, nil
}

// explain fills in what people need to see of a conflict; other errors stay as they are.
func (g *ground) explain(ctx context.Context, err error) error {
	var conflict *ErrConflict
	if errors.As(err, &conflict) {
		if failed := g.c.describe(ctx, conflict, "base", "branch"); failed != nil {
			return failed
		}
	}
	return err
}

// settle lets the base win the conflicts of a merge when all of them lie in paths where it may, and are of a kind whose
// winner is plain: two contents, or a deletion and a change. Else it is *ErrConflict. theirs is the commit at fault, and
// ours a commit or tree whose version wins.
func (g *ground) settle(ctx context.Context, found *clash, ours, theirs string) (tree string, won []string, err error) {
	paths := found.paths()
	conflict := &ErrConflict{Commit: theirs, Tree: found.tree, Paths: paths, found: found}
	if len(g.BaseWins) == 0 || !g.mayWin(found, paths) {
		return "", nil, conflict
	}
	there, err := g.c.entries(ctx, ours, paths)
	if err != nil {
		return "", nil, err
	}
	change := make([]stage, 0, len(paths))
	for _, p := range paths {
		_, mine, _ := found.versions(p)
		if at := there[p]; at.mode != mine.mode || at.id != mine.id { // renamed to here by this merge
			return "", nil, conflict
		}
		mine.path = p
		change = append(change, mine)
	}
	if tree, err = g.c.graft(ctx, found.tree, change); err != nil {
		return "", nil, err
	}
	return tree, paths, nil
}

func (g *ground) mayWin(found *clash, paths []string) bool {
	plain := []string{"content", "add/add", "modify/delete", "binary", "mode", "symlink"}
	for _, s := range found.conflicts() {
		kind := kindOf(s)
		if !slices.Contains(plain, kind) || slices.ContainsFunc(s.paths, func(p string) bool { return !slices.Contains(paths, p) }) {
			return false
		}
	}
	return len(found.stages) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return !slices.Contains(plain, found.kind(p)) || !slices.ContainsFunc(g.BaseWins, func(glob string) bool {
			ok, _ := doublestar.Match(glob, p) // the settings were checked: the pattern is well-formed
			return ok
		})
	})
}

// graft is a tree with other entries at some paths; an entry without a mode is removed.
func (c *Checkout) graft(ctx context.Context, tree string, change []stage) (string, error) {
	index := filepath.Join(c.own, "graft-index")
	defer func() { _ = os.Remove(index) }() // it goes with our directory at the latest
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects, "GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+c.own)
	whole := []string{"-c", "core.sparseCheckout=false", "-c", "index.sparse=false"}
	run := func(stdin string, args ...string) ([]byte, error) {
		return c.run(ctx, spec{dir: c.own, env: env, args: concat(shield, offline, whole, args), stdin: []byte(stdin)})
	}
	if _, err := run("", "read-tree", tree); err != nil {
		return "", fmt.Errorf("read tree %s: %w", tree, err)
	}
	var rows strings.Builder
	for _, at := range change {
		if at.mode == "" {
			at.mode, at.id = "0", strings.Repeat("0", len(tree))
		}
		fmt.Fprintf(&rows, "%s %s\t%s\x00", at.mode, at.id, at.path)
	}
	if _, err := run(rows.String(), "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("change tree %s: %w", tree, err)
	}
	out, err := run("", "write-tree", "--missing-ok")
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	return line(out), nil
}
