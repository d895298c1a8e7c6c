package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Verify fails with *ErrChanged, which names paths, unless what would land is what was reviewed. One of these has to hold,
// and all of the history that tells where the branch began has to be here:
//   - the tree is what a merge of Base and Head comes to, made once more;
//   - Base..Tip changes what the branch changes (as in SameChange);
//   - the commits do so one by one, and the base has those that are left out.
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
	if failed == nil && tree == made.Tree && !slices.ContainsFunc(won, func(p string) bool { return !slices.Contains(made.BaseWon, p) }) {
		return nil
	}
	both, err := c.changes(ctx, [][2]string{{made.Tip, m.Base}, {m.Head, g.start()}})
	if err != nil || maps.Equal(both[0], both[1]) {
		return err
	}
	if same, err := g.oneByOne(ctx, made); err != nil || same {
		return err
	}
	if failed == nil && tree != made.Tree {
		return g.changedFrom(ctx, tree, made.Tree)
	}
	changed := &ErrChanged{}
	for _, key := range both[0].differ(both[1]) {
		changed.Paths = append(changed.Paths, pathIn(key))
	}
	return changed
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

// oneByOne tells whether each new commit changes what the one changes that it was made from, all of the branch's own are
// among those, and the base has the changes of those that were dropped.
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
	var pairs [][2]string
	for i, t := range now {
		was, ok := own[made.Commits[i].Was]
		if !ok || made.Commits[i].SHA != t.sha || len(was.parents) != 1 || len(t.parents) != 1 {
			return false, nil
		}
		delete(own, was.sha)
		pairs = append(pairs, [2]string{t.sha, t.parents[0]}, [2]string{was.sha, was.parents[0]})
	}
	sums, err := g.c.changes(ctx, pairs)
	if err != nil {
		return false, err
	}
	for i := 0; i < len(sums); i += 2 {
		if !maps.Equal(sums[i], sums[i+1]) {
			return false, nil
		}
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

// changedFrom is *ErrChanged with the paths in which two trees differ.
func (g *ground) changedFrom(ctx context.Context, want, got string) error {
	out, err := g.c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", want, got)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", got, want, err)
	}
	return &ErrChanged{Paths: fields(out)}
}

// pathIn is the path that the header of a patch names twice.
func pathIn(header string) string {
	half := header[:(len(header)-1)/2]
	return strings.TrimPrefix(strings.TrimPrefix(strings.Trim(half, `"`), "a/"), "b/")
}
