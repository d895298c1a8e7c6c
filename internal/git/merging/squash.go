package merging

import (
	"context"
)

// squash makes one commit of all changes of the branch, by its author, or its first author of several.
func squash(ctx context.Context, g *input) (Merged, error) {
	tree, won, err := target(ctx, g)
	if err != nil {
		return Merged{}, err
	}
	m, err := g.single(ctx, tree)
	m.BaseWon = won
	return m, err
}
