package merging

import (
	"context"
	"fmt"

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
	args := []string{fmt.Sprintf("--max-count=%d", maxCulprits), "--"}
	list, err := history.Commits(ctx, c, []string{base, "^" + from}, append(args, paths[:min(len(paths), 200)]...)...)
	return list, git.Wrap(err, "commits of the base that conflict")
}
