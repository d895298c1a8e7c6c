package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ForkPoint is the merge base of a fetched tip and head: "" for unrelated ones, and the first that git names if there are
// several best ones. A shallow history does not falsify it: what is missing is fetched, as in Deepen.
func ForkPoint(ctx context.Context, c *git.Checkout, base, head string) (sha string, err error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return "", fmt.Errorf("find merge base of %q and %q: not commit ids", base, head)
	}
	met, err := meet(ctx, c, base, head, MergeBase)
	return met.MergeBase, err
}

// MergeBase is the first of MergeBases, "" if there is none.
func MergeBase(ctx context.Context, c *git.Checkout, base, head string) (sha string, known bool, err error) {
	found, known, err := MergeBases(ctx, c, base, head)
	if len(found) > 0 {
		sha = found[0]
	}
	return sha, known, err
}

// MergeBases asks git for the best merge bases; known reports whether the history here is enough for the answer. It is if one of
// the two is the answer. Otherwise no commit of one side alone may be cut off, so that git finds every best merge base; and it has
// to find only one, for of several one may be an ancestor of another, behind a boundary that both sides have.
func MergeBases(ctx context.Context, c *git.Checkout, base, head string) (found []string, known bool, err error) {
	out, err := c.Ask(ctx, "merge-base", "--all", base, head)
	if err != nil && git.ExitCode(err) != 1 {
		if here, herr := c.Present(ctx, base, head); herr == nil && !here {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("find merge base of %s and %s: %w", base, head, err)
	}
	found = strings.Fields(string(out))
	if len(found) > 0 && (found[0] == base || found[0] == head || len(c.Boundary) == 0) {
		return found, true, nil
	}
	if len(found) > 1 {
		return found, false, nil
	}
	for _, side := range [][2]string{{base, head}, {head, base}} {
		if hidden, err := cutOff(ctx, c, side[0], side[1]); err != nil || hidden {
			return nil, false, err
		}
	}
	return found, true, nil
}
