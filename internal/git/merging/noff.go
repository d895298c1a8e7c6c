package merging

import (
	"context"

	"github.com/mergexo/mergexo/internal/git"
)

// noFF makes a merge commit of Base and Head; the branch's own commits stay unchanged.
func noFF(ctx context.Context, g *input) (Merged, error) {
	tree, won, err := target(ctx, g)
	if err != nil {
		return Merged{}, err
	}
	return g.join(ctx, tree, won)
}

// join makes a merge commit with a tree. Commits that the base dropped would come back with the branch's history.
func (g *input) join(ctx context.Context, tree string, won []string) (Merged, error) {
	if len(g.gone) > 0 {
		return Merged{}, &ErrRewound{Commits: g.gone}
	}
	if tree == g.baseTree {
		return Merged{}, g.emptyError(ctx)
	}
	tip, err := git.WriteCommit(g.c, tree, paragraphs(g.title(ctx, g.Title), g.Body), g.Base, g.Head)
	if err != nil {
		return Merged{}, err
	}
	made := make(map[string]string, len(g.own))
	for _, t := range g.own {
		made[t.SHA] = t.SHA
	}
	m, err := g.merged(ctx, tip, tree, made)
	m.BaseWon = won
	return m, err
}
