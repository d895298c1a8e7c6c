package checkout

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// localBranches are the checkout's branches and its newest stash, by full name, and their tips.
func localBranches(ctx context.Context, c *git.Checkout) (map[string]string, error) {
	if tips, all := git.ReadBranches(&c.Layout); all {
		return tips, nil
	}
	out, err := c.Inside(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/stash")
	if err != nil {
		return nil, fmt.Errorf("list local branches: %w", err)
	}
	tips := map[string]string{}
	for row := range strings.Lines(string(out)) {
		if tip, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " "); ok && syntax.IsSHA(tip) {
			tips[name] = tip
		}
	}
	return tips, nil
}
