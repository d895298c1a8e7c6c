package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ForkPoint is the merge base of a fetched tip and head: the commit up to which they have the same history, "" where they
// have none in common, and where there are several best ones the first that git names. It is never one that only a shallow
// history makes look best: what is missing is fetched, as in Deepen.
func ForkPoint(ctx context.Context, c *git.Checkout, base, head string) (sha string, err error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return "", fmt.Errorf("find merge base of %q and %q: not commit ids", base, head)
	}
	known := false
	err = fetch.Deepen(ctx, c, []string{base, head}, func() (bool, error) {
		sha, known, err = MergeBase(ctx, c, base, head)
		return known, err
	})
	if err == nil && !known {
		sha, known, err = MergeBase(ctx, c, base, head) // after the last fetch
	}
	if err == nil && !known {
		err = fmt.Errorf("find merge base of %s and %s: history is missing", base, head)
	}
	if err != nil {
		return "", err
	}
	return sha, nil
}

// MergeBase asks git, and known tells whether the history that is here is enough for the answer. It is where one of the
// two is the answer. Else no commit that one side alone has may be cut off, then every best merge base is among those that
// git finds; and it has to find only one, for of several one may be an ancestor of another, behind a boundary that both
// sides have.
func MergeBase(ctx context.Context, c *git.Checkout, base, head string) (sha string, known bool, err error) {
	if here, err := c.Present(ctx, base, head); err != nil || !here {
		return "", false, err
	}
	out, err := c.Ask(ctx, "merge-base", "--all", base, head)
	if err != nil && git.ExitCode(err) != 1 {
		return "", false, fmt.Errorf("find merge base of %s and %s: %w", base, head, err)
	}
	if found := strings.Fields(string(out)); len(found) > 0 {
		sha, known = found[0], found[0] == base || found[0] == head || len(c.Boundary) == 0
		if known || len(found) > 1 {
			return sha, known, nil
		}
	}
	for _, side := range [][2]string{{base, head}, {head, base}} {
		if hidden, err := cutOff(ctx, c, side[0], side[1]); err != nil || hidden {
			return "", false, err
		}
	}
	return sha, true, nil
}
