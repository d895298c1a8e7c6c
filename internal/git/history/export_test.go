package history

import (
	"context"

	"github.com/mergexo/mergexo/internal/git"
)

// CheckMerged is what Verified makes sure of, which takes a race to see otherwise.
func CheckMerged(ctx context.Context, own *git.Checkout, tops, merged, links []string) error {
	return need{tops: tops, merged: merged, links: links}.check(ctx, own)
}
