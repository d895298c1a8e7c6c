package history

import (
	"context"

	"github.com/mergexo/mergexo/internal/git"
)

// CheckMerged is what Verified makes sure of, which takes a race to see otherwise.
func CheckMerged(ctx context.Context, own *git.Checkout, tops, merged, links []string) error {
	return need{tops: tops, merged: merged, links: links}.check(ctx, own)
}

// Unverified is what an error of the copied objects means.
func Unverified(ctx context.Context, err error) error { return unverified(ctx, err) }
