package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Verify fails with *ErrChanged, which names paths, unless what would land is what was reviewed: the tree has to be what
// a merge of Base and Head comes to, made once more. Only where that merge is a conflict it is enough that the new commits
// are what picking the branch's own ones comes to, made once more, that those which the base has already are named, and that
// no merge commit of the branch has changes of its own. All of the history that tells where the branch began has to be
// here.
//
// Paths whose conflicts the base won have to be as Base has them, and named in BaseWon.
func (c *Checkout) Verify(ctx context.Context, m Merge, made Merged) (err error) {
	if err := c.standsOn(ctx, m.Base, made); err != nil {
		return err
	}
	if _, err := c.parting(ctx, m.Base, m.Head); err != nil {
		return err
	}
	g, err := c.survey(ctx, m)
	if err != nil {
		return fmt.Errorf("verify %s: %w", made.Tip, err)
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.baseHas(ctx, made); err != nil {
		return err
	}
	tree, won, failed := g.expected(ctx)
	conflict := (*ErrConflict)(nil)
	if failed != nil && !errors.As(failed, &conflict) {
		return fmt.Errorf("verify %s: %w", made.Tip, failed)
	}
	if failed == nil {
		return g.asExpected(ctx, made, tree, won)
	}
	if same, err := g.oneByOne(ctx, made); err != nil || same {
		return err
	}
	return &ErrChanged{Paths: conflict.Paths}
}

// asExpected compares what would land with what the merge comes to.
func (g *ground) asExpected(ctx context.Context, made Merged, tree string, won []string) error {
	if tree != made.Tree {
		return g.changedFrom(ctx, tree, made.Tree)
	}
	untold := slices.DeleteFunc(slices.Clone(won), func(p string) bool { return slices.Contains(made.BaseWon, p) })
	if len(untold) > 0 {
		return &ErrChanged{Paths: untold}
	}
	return nil
}

// standsOn checks that a tip has the tree that is told of it, and grows from the base.
func (c *Checkout) standsOn(ctx context.Context, base string, made Merged) error {
	if !isSHA(base) || !isSHA(made.Tip) || !isSHA(made.Tree) {
		return fmt.Errorf("verify %q on %q: not commit ids", made.Tip, base)
	}
	out, err := c.ask(ctx, "rev-parse", "--verify", made.Tip+"^{tree}")
	if err != nil {
		return fmt.Errorf("verify %s: %w", made.Tip, err)
	}
	if line(out) != made.Tree {
		return fmt.Errorf("verify %s: its tree is %s, not %s", made.Tip, line(out), made.Tree)
	}
	relation, err := c.Relation(ctx, base, made.Tip)
	if err != nil {
		return fmt.Errorf("verify %s: %w", made.Tip, err)
	}
	if relation != model.Ahead {
		return fmt.Errorf("verify %s: it does not grow from %s (%s)", made.Tip, base, relation)
	}
	return nil
}

// expected is the tree that the strategy should come to.
func (g *ground) expected(ctx context.Context) (string, []string, error) {
	if g.Strategy == model.StrategyUnion {
		return g.unionTree(ctx)
	}
	return g.target(ctx)
}

// baseHas checks the paths whose conflicts the base won.
func (g *ground) baseHas(ctx context.Context, made Merged) error {
	ours, err := g.c.entries(ctx, g.Base, made.BaseWon)
	if err != nil {
		return err
	}
	theirs, err := g.c.entries(ctx, made.Tip, made.BaseWon)
	if err != nil {
		return err
	}
	changed := &ErrChanged{}
	for _, p := range made.BaseWon {
		if ours[p] != theirs[p] {
			changed.Paths = append(changed.Paths, p)
		}
	}
	if len(changed.Paths) > 0 {
		return changed
	}
	return nil
}

// oneByOne tells whether the new commits are what picking the branch's own ones comes to, each of them made once more, and no
// merge commit has changes of its own that would be lost.
func (g *ground) oneByOne(ctx context.Context, made Merged) (bool, error) {
	if evil, err := g.evil(ctx); err != nil || len(evil) > 0 {
		return false, err
	}
	var without map[string]bool
	if g.Strategy == model.StrategyRebase {
		twins, err := g.twinsOfBase(ctx)
		if err != nil {
			return false, err
		}
		without = twins
	}
	now, err := g.c.twigs(ctx, made.Tip, "^"+g.Base)
	if err != nil {
		return false, err
	}
	raws, err := g.c.raws(ctx, slices.Concat(g.singles(), now))
	if err != nil {
		return false, err
	}
	return g.replayed(ctx, made, without, now, raws)
}

// replayed picks the branch's own commits without some of them, and tells whether that comes to the commits of now.
func (g *ground) replayed(ctx context.Context, made Merged, without map[string]bool, now []twig, raws map[string][]byte) (bool, error) {
	p, err := g.c.pickerOn(ctx, g.files, g.Base, g.baseTree)
	if err != nil {
		return false, err
	}
	defer p.close()
	var dropped []string
	for _, t := range g.singles() {
		var tree string
		var won []string
		if !without[t.sha] {
			tree, won, err = g.step(ctx, p, t, raws)
		}
		if conflict := (*ErrConflict)(nil); errors.As(err, &conflict) {
			return false, nil
		}
		if err != nil || slices.ContainsFunc(won, func(path string) bool { return !slices.Contains(made.BaseWon, path) }) {
			return false, err
		}
		if tree == "" {
			dropped = append(dropped, t.sha)
			continue
		}
		if len(now) == 0 || len(now[0].parents) != 1 || treeIn(raws[now[0].sha]) != tree || !told(made, len(now), now[0], t) {
			return false, nil
		}
		p.tree, now = tree, now[1:]
	}
	said := slices.EqualFunc(made.Dropped, dropped[max(0, len(dropped)-maxListed):], func(c model.Commit, sha string) bool { return c.SHA == sha })
	return said && len(now) == 0, nil
}

// told says that a merge names a commit as made from the one that it was made from, or does not list it: only the newest are.
// left is how many come from it on.
func told(made Merged, left int, now, was twig) bool {
	at := len(made.Commits) - left
	return at < 0 || made.Commits[at].SHA == now.sha && made.Commits[at].Was == was.sha
}

// changedFrom is *ErrChanged with the paths in which two trees differ.
func (g *ground) changedFrom(ctx context.Context, want, got string) error {
	out, err := g.c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", want, got)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", got, want, err)
	}
	return &ErrChanged{Paths: fields(out)}
}
