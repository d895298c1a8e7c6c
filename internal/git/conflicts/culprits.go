package conflicts

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
)

// maxCulprits is how many conflicting commits of the base are named.
const maxCulprits = 20

// Culprits lists the commits of the base since its merge base with head that changed one of the paths, newest first, at
// most 20.
func Culprits(ctx context.Context, c *git.Checkout, base, head string, paths []string) ([]model.Commit, error) {
	from, err := history.KnownMergeBase(ctx, c, base, head)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	args := []string{"log", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%an%n%s", fmt.Sprintf("--max-count=%d", maxCulprits), base, "^" + from, "--"}
	out, err := c.Ask(ctx, slices.Concat(args, paths[:min(len(paths), 200)])...)
	if err != nil {
		return nil, fmt.Errorf("list commits of the base that conflict: %w", err)
	}
	return history.CommitsIn(out)
}
