package merging

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// AlreadyApplied reports whether the base, since its merge base with head, has for each of the head's own commits one with
// the same change, and returns those, oldest first. Each counts once. Clean merges of two parents are ignored. Then merging
// head would change nothing, unless the base went on to change the same lines. It is false if the head has no own commits,
// if a merge of it has changes of its own, or if 500 commits on either side are not enough. Both commits have to be here;
// missing history and a partial clone's missing files are fetched.
func AlreadyApplied(ctx context.Context, c *git.Checkout, base, head string) ([]model.Commit, bool, error) {
	if !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return nil, false, fmt.Errorf("look for %q on %q: not commit ids", head, base)
	}
	found, err := alreadyApplied(ctx, c, base, head)
	if err != nil {
		return nil, false, fmt.Errorf("look for %s on %s: %w", head, base, err)
	}
	list, err := history.Named(ctx, c, found)
	return list, len(list) > 0 && err == nil, err
}

func alreadyApplied(ctx context.Context, c *git.Checkout, base, head string) ([]string, error) {
	met, err := history.FindMergeBase(ctx, c, base, head)
	if err != nil || met.Unrelated || met.MergeBase == head {
		return nil, err
	}
	own, err := nodes(ctx, c, head, "^"+base)
	if err != nil {
		return nil, err
	}
	plain, merges := singles(own), merges(own)
	if len(plain) == 0 || len(plain) > maxCandidates {
		return nil, err
	}
	both, err := compareOwn(ctx, c, base, head, plain)
	if err != nil {
		return nil, err
	}
	found := both.matched()
	if len(found) == 0 {
		return nil, nil
	}
	if lacks, err := appliedInPart(ctx, c, met, merges); err != nil || lacks {
		return nil, err
	}
	return found, nil
}

// appliedInPart reports whether the head has changes beyond its plain commits, in a merge, or the base undid something
// since. It ignores attributes: a merge that is clean only with them counts as having changes of its own.
func appliedInPart(ctx context.Context, c *git.Checkout, met history.Divergence, merges []history.Node) (bool, error) {
	if err := history.FillMerge(ctx, c, met); err != nil {
		return false, err
	}
	if len(merges) > maxCandidates || slices.ContainsFunc(merges, func(t history.Node) bool { return len(t.Parents) > 2 }) {
		return true, nil
	}
	if evil, err := evilMerges(ctx, c, c.OwnDir, merges); err != nil || len(evil) > 0 {
		return true, err
	}
	both, _, err := Merge(ctx, c, c.OwnDir, met.BaseSHA, met.HeadSHA)
	if err != nil {
		return false, fmt.Errorf("merge: %w", err)
	}
	changed, err := history.ChangedPaths(ctx, c, met.BaseSHA, both.Tree)
	open := both.Paths()
	return slices.ContainsFunc(changed, func(path string) bool { return !slices.Contains(open, path) }), err
}

// matched are the commits of the base, oldest first, that make the same changes as the branch's, each once; none if one of those has no
// match.
func (d compared) matched() (found []string) {
	used := map[int]bool{}
	for _, want := range d.mine {
		if want == "" {
			continue // an empty commit
		}
		at := len(d.sums) - 1
		for at >= 0 && (used[at] || want != d.sums[at]) {
			at--
		}
		if at < 0 {
			return nil
		}
		used[at] = true
	}
	for i, sha := range slices.Backward(d.theirs) {
		if used[i] {
			found = append(found, sha)
		}
	}
	return found
}
