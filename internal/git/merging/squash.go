package merging

import "context"

// squash makes one commit of all that the branch changes, by its author, or by its first author when there are several.
func squash(ctx context.Context, g *input) (Merged, error) {
	tree, won, err := target(ctx, g)
	if err != nil {
		return Merged{}, err
	}
	m, err := g.single(ctx, tree)
	m.BaseWon = won
	return m, err
}
