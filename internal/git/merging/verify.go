package merging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// Verify fails with *ErrChanged, which names paths, unless what would land is what was reviewed: the tree has to be that of
// a new merge of Base and Head. If that merge conflicts, the new commits have to equal another picking of the branch's own
// commits, those that the base has already have to be named, and no merge commit of the branch may have changes of its own.
// All history back to the branch's fork point has to be here.
//
// Paths whose conflicts the base won have to be as in Base, and named in BaseWon.
func Verify(ctx context.Context, c *git.Checkout, m Request, made Merged) (err error) {
	if err := standsOn(ctx, c, m.Base, made); err != nil {
		return err
	}
	g, err := readInput(ctx, c, m)
	if err != nil {
		return fmt.Errorf("verify %s: %w", made.Tip, err)
	}
	defer func() { err = errors.Join(err, g.close()) }()
	return verify(ctx, g, made)
}

// verify holds a merge against what it was made of.
func verify(ctx context.Context, g *input, made Merged) error {
	if err := baseHas(ctx, g, made); err != nil {
		return err
	}
	expected := strategies[g.Strategy].tree
	if expected == nil {
		expected = target
	}
	tree, won, failed := expected(ctx, g)
	conflict := AsConflict(failed)
	if failed != nil && conflict == nil {
		return fmt.Errorf("verify %s: %w", made.Tip, failed)
	}
	if failed == nil {
		return asExpected(ctx, g, made, tree, won)
	}
	if same, err := oneByOne(ctx, g, made); err != nil || same {
		return err
	}
	return &ErrChanged{Paths: conflict.Paths}
}

// asExpected compares what would land with the merge's result.
func asExpected(ctx context.Context, g *input, made Merged, tree string, won []string) error {
	if tree != made.Tree {
		return changedFrom(ctx, g, tree, made.Tree)
	}
	untold := slices.DeleteFunc(slices.Clone(won), func(p string) bool { return slices.Contains(made.BaseWon, p) })
	if len(untold) > 0 {
		return &ErrChanged{Paths: untold}
	}
	return nil
}

// standsOn checks that a tip has its reported tree, and descends from the base.
func standsOn(ctx context.Context, c *git.Checkout, base string, made Merged) error {
	if !syntax.IsSHA(base) || !syntax.IsSHA(made.Tip) || !syntax.IsSHA(made.Tree) {
		return fmt.Errorf("verify %q on %q: not commit ids", made.Tip, base)
	}
	out, err := c.Ask(ctx, "rev-list", "--ancestry-path", "--max-count=1", "--no-commit-header", "--format=%H %T", base+".."+made.Tip)
	if err != nil {
		return fmt.Errorf("verify %s: %w", made.Tip, err)
	}
	switch tip, tree, _ := strings.Cut(syntax.Line(out), " "); {
	case tip != made.Tip:
		return fmt.Errorf("verify %s: it does not grow from %s", made.Tip, base)
	case tree != made.Tree:
		return fmt.Errorf("verify %s: its tree is %s, not %s", made.Tip, tree, made.Tree)
	}
	return nil
}

// baseHas checks the paths whose conflicts the base won.
func baseHas(ctx context.Context, g *input, made Merged) error {
	ours, err := git.Entries(ctx, g.c, g.Base, made.BaseWon)
	if err != nil {
		return err
	}
	theirs, err := git.Entries(ctx, g.c, made.Tip, made.BaseWon)
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

// oneByOne reports whether the new commits equal another picking of the branch's own commits, and no merge commit has
// changes of its own that would be lost.
func oneByOne(ctx context.Context, g *input, made Merged) (bool, error) {
	if evil, err := g.evil(ctx); err != nil || len(evil) > 0 {
		return false, err
	}
	o, err := pickOptions{}, error(nil)
	if omits := strategies[g.Strategy].omits; omits != nil {
		o.without, err = omits(ctx, g)
	}
	if err != nil {
		return false, err
	}
	o.message = strategies[g.Strategy].message
	again, err := g.pickOwn(ctx, o)
	if AsConflict(err) != nil {
		return false, nil
	}
	if err != nil || slices.ContainsFunc(again.won, func(path string) bool { return !slices.Contains(made.BaseWon, path) }) {
		return false, err
	}
	if same, err := Alike(ctx, g.c, g.Base, made.Tip, again.tip); err != nil || same == nil {
		return false, err
	}
	want, err := g.landPicked(ctx, again)
	originals := slices.EqualFunc(made.Commits, want.Commits, func(a, b model.Moved) bool { return a.Was == b.Was })
	return err == nil && originals && slices.Equal(made.Dropped, want.Dropped), err
}

// changedFrom is *ErrChanged with the paths in which two trees differ.
func changedFrom(ctx context.Context, g *input, want, got string) error {
	paths, err := history.ChangedPaths(ctx, g.c, want, got)
	if err != nil {
		return err
	}
	return &ErrChanged{Paths: paths}
}
