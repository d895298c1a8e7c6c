package git

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/model"
)

// LandedElsewhere tells whether all own commits of head are on the base under other ids: the base's commits with the same
// changes, in the base's order. No own commits are false: that is an ancestor.
func (c *Checkout) LandedElsewhere(ctx context.Context, base, head string) ([]model.Commit, bool, error) {
	return nil, false, errors.New("not built yet")
}
