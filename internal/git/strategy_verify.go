package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Verify fails with *ErrChanged, which names paths, unless what would land is what was reviewed: the tree has to be what
// a merge of Base and Head comes to, made once more. Only where that merge is a conflict it is enough that each new commit
// is what picking the one that it was made from comes to, made once more, that all of the branch's own are among those, and
// that the base has the changes of those that are left out. All of the history that tells where the branch began has to be
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

// oneByOne tells whether each new commit is a pick of the one that it was made from, all of the branch's own are among
// those, and the base has the changes of those that were dropped.
func (g *ground) oneByOne(ctx context.Context, made Merged) (bool, error) {
	if made.Count > len(made.Commits) || len(made.Dropped) >= maxListed || len(g.merges()) > 0 || len(made.BaseWon) > 0 {
		return false, nil
	}
	own := map[string]twig{}
	for _, t := range g.own {
		own[t.sha] = t
	}
	now, err := g.c.twigs(ctx, made.Tip, "^"+g.Base)
	if err != nil || len(now) != len(made.Commits) {
		return false, err
	}
	picks := make([]twig, len(now))
	for i, t := range now {
		was, ok := own[made.Commits[i].Was]
		if !ok || made.Commits[i].SHA != t.sha || len(was.parents) != 1 || len(t.parents) != 1 {
			return false, nil
		}
		picks[i] = was
		delete(own, was.sha)
	}
	if same, err := g.picked(ctx, picks, now); err != nil || !same {
		return false, err
	}
	for _, dropped := range made.Dropped {
		there, err := g.landed(ctx, own[dropped.SHA])
		if err != nil || !there {
			return false, err
		}
		delete(own, dropped.SHA)
	}
	return len(own) == 0, nil
}

// picked tells whether each of the new commits has the tree that picking the one that it was made from comes to.
func (g *ground) picked(ctx context.Context, picks, now []twig) (bool, error) {
	raws, err := g.c.raws(ctx, slices.Concat(picks, now))
	if err != nil {
		return false, err
	}
	p, err := g.c.pickerOn(ctx, g.files, g.Base, g.baseTree)
	if err != nil {
		return false, err
	}
	defer p.close()
	for i, t := range now {
		p.tree = treeIn(raws[t.parents[0]])
		tree, won, err := g.pickTree(ctx, p, picks[i], raws)
		if conflict := (*ErrConflict)(nil); errors.As(err, &conflict) {
			return false, nil
		}
		if err != nil || tree != treeIn(raws[t.sha]) || len(won) > 0 {
			return false, err
		}
	}
	return true, nil
}

// changedFrom is *ErrChanged with the paths in which two trees differ.
func (g *ground) changedFrom(ctx context.Context, want, got string) error {
	out, err := g.c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", want, got)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", got, want, err)
	}
	return &ErrChanged{Paths: fields(out)}
}
