package merging

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// SameMerge reports whether merging one into base gives the same tree as merging other into base, by git's own merge as in
// Build. It is false on a conflict or an unrelated history. The commits have to be here; missing history between them and a
// partial clone's missing files are fetched.
func SameMerge(ctx context.Context, c *git.Checkout, base, one, other string) (bool, error) {
	var trees [2]string
	for i, head := range []string{one, other} {
		tree, err := mergedTree(ctx, c, base, head)
		if err != nil || tree == "" {
			return false, err
		}
		trees[i] = tree
	}
	return trees[0] == trees[1], nil
}

// mergedTree is the tree of a merge, "" on a conflict.
func mergedTree(ctx context.Context, c *git.Checkout, base, head string) (tree string, err error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return "", fmt.Errorf("merge %q into %q: not commit ids", head, base)
	}
	met, err := history.FindMergeBase(ctx, c, base, head)
	if err == nil {
		err = history.FillMerge(ctx, c, met)
	}
	if err != nil {
		return "", fmt.Errorf("merge %s into %s: %w", head, base, err)
	}
	g, err := readInput(ctx, c, Request{Base: base, Head: head})
	unrelated, there := (*history.ErrUnrelated)(nil), (*ErrEmpty)(nil)
	switch {
	case errors.As(err, &unrelated):
		return "", nil
	case errors.As(err, &there):
		return history.TreeOf(ctx, c, base)
	case err != nil:
		return "", err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	tree, _, err = g.mergeTarget(ctx)
	if AsConflict(err) != nil {
		return "", nil
	}
	return tree, err
}
