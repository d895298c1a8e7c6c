package history

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// Deepen fetches the history that is missing to relate the first commit to each other one: some hundred commits, then some
// thousand, then all. Missing commits are fetched too, but never local ones. At most three network operations, none if
// nothing is missing. ErrNoRef names a commit that the server does not serve.
func Deepen(ctx context.Context, c *git.Checkout, shas ...string) error {
	for _, sha := range shas {
		if !syntax.IsSHA(sha) {
			return fmt.Errorf("deepen history: %q is not a commit id", sha)
		}
	}
	return deepen(ctx, c, shas, func() (bool, error) { return related(ctx, c, shas) })
}

// Relate is Relation with the history that the answer needs: see Deepen.
func Relate(ctx context.Context, c *git.Checkout, earlier, later string) (model.Relation, error) {
	relation, err := Relation(ctx, c, earlier, later)
	if err == nil && relation == model.Unknown {
		if err = Deepen(ctx, c, earlier, later); err == nil {
			relation, err = Relation(ctx, c, earlier, later)
		}
	}
	return relation, err
}

// related reports whether the first commit's relation to each other one is known.
func related(ctx context.Context, c *git.Checkout, shas []string) (bool, error) {
	if len(shas) == 1 {
		here, err := c.Present(ctx, shas[0])
		return here && len(c.Boundary) == 0, err
	}
	for i := 1; i < len(shas); i++ {
		relation, err := Relation(ctx, c, shas[0], shas[i])
		if err != nil || relation == model.Unknown {
			return false, err
		}
	}
	return len(shas) > 0, nil
}
