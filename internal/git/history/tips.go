package history

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// OriginHead is the origin's default branch when it was cloned, "" if unknown. It may have changed since. No network
// operation.
func OriginHead(ctx context.Context, c *git.Checkout) (string, error) {
	out, err := c.Inside(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
	if git.ExitCode(err) == 1 { // it does not exist
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the default branch of the origin: %w", err)
	}
	branch, _ := strings.CutPrefix(syntax.Line(out), "refs/remotes/origin/")
	return branch, nil
}

// OriginHeadNow is the origin's default branch; "" if it has none. One network operation.
func OriginHeadNow(ctx context.Context, c *git.Checkout) (string, error) {
	out, err := c.Network(ctx, relay.Listing, nil, "ls-remote", "--quiet", "--symref", "origin", "HEAD")
	if err != nil {
		return "", fmt.Errorf("read the default branch of the origin: %w", err)
	}
	target, _, _ := strings.Cut(syntax.Line(out), "\t")
	if branch, known := strings.CutPrefix(target, "ref: refs/heads/"); known {
		return branch, nil
	}
	return "", nil
}

// FetchedTips are the server's refs that were fetched by name, as they were then.
func FetchedTips(c *git.Checkout) []string {
	var tips []string
	for _, ref := range slices.Sorted(maps.Keys(c.Refs)) {
		if strings.HasPrefix(ref, "refs/fetched/") && !strings.HasPrefix(ref, "refs/fetched/sha-") {
			tips = append(tips, c.Refs[ref])
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips)
}

// FetchedBase is the base branch's tip at the last Restore or Begin; "" if there is none.
func FetchedBase(c *git.Checkout) string { return c.Refs[git.FetchedBase] }
