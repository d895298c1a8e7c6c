package fetch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// OriginHead is the branch that a clone took for the origin's default branch, "" where it does not say. The origin may
// have another one by now. No network operation.
func OriginHead(ctx context.Context, c *git.Checkout) (string, error) {
	out, err := c.Inside(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
	if git.ExitCode(err) == 1 { // it is not there
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the default branch of the origin: %w", err)
	}
	branch, _ := strings.CutPrefix(syntax.Line(out), "refs/remotes/origin/")
	return branch, nil
}

// Tips are the commits that branches and other refs of the server had when they were fetched by their names.
func Tips(c *git.Checkout) []string {
	var tips []string
	for _, ref := range slices.Sorted(maps.Keys(c.Refs)) {
		if strings.HasPrefix(ref, "refs/fetched/") && !strings.HasPrefix(ref, "refs/fetched/sha-") {
			tips = append(tips, c.Refs[ref])
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips)
}

// BaseTip is the tip of the base branch of the last Restore or Begin, as it was then; "" where there is none.
func BaseTip(c *git.Checkout) string { return c.Refs[git.FetchedBase] }
