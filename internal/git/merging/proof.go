package merging

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// maxCandidates limits how many commits of the base are compared with the branch's.
const maxCandidates = 500

// emptyError is *ErrEmpty with its proof: for each commit of the branch one of the base with the same change, or one of the
// base for all of them.
func (g *input) emptyError(ctx context.Context) error {
	began, err := history.TreeOf(ctx, g.c, g.start())
	if err != nil {
		return err
	}
	if began == g.headTree {
		return &ErrEmpty{Cancelled: true}
	}
	paths, err := history.ChangedPaths(ctx, g.c, g.start(), g.Head)
	if err != nil {
		return err
	}
	theirs, sums, err := changing(ctx, g.c, g.Base, g.Head, paths)
	if err != nil || len(theirs) == 0 {
		return cmp.Or[error](err, &ErrEmpty{})
	}
	pairs := [][2]string{{g.Head, g.start()}}
	for _, t := range g.own {
		if len(t.Parents) == 1 && len(pairs) <= maxCandidates {
			pairs = append(pairs, [2]string{t.SHA, t.Parents[0]})
		}
	}
	mine, err := changes(ctx, g.c, pairs)
	if err != nil {
		return err
	}
	if at := same(mine[0], theirs, sums); at != "" {
		return &ErrEmpty{Proof: []string{fmt.Sprintf("all that %s changes is what %s on the base changed", g.Head, at)}}
	}
	proof := &ErrEmpty{}
	for i, pair := range pairs[1:] {
		at := same(mine[i+1], theirs, sums)
		if at == "" && len(mine[i+1]) > 0 {
			return &ErrEmpty{}
		}
		if at != "" {
			proof.Proof = append(proof.Proof, fmt.Sprintf("%s is already on the base as %s", pair[0], at))
		}
	}
	if len(merges(g.own))+len(pairs)-1 != len(g.own) { // a root commit of another history, or too many
		return &ErrEmpty{}
	}
	if evil, err := g.evil(ctx); err != nil || len(evil) > 0 {
		return cmp.Or[error](err, &ErrEmpty{})
	}
	return proof
}

// same is the first commit with the same change, "" if there is none or nothing to compare.
func same(mine change, commits []string, sums []change) string {
	for i, sum := range sums {
		if len(mine) > 0 && maps.Equal(mine, sum) {
			return commits[i]
		}
	}
	return ""
}

// changing are the newest commits that only the base has and that changed one of these paths, newest first, with their changes.
func changing(ctx context.Context, c *git.Checkout, base, head string, paths []string) ([]string, []change, error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	// Without --full-history git would omit a side branch of the base whose change was undone later.
	args := []string{"rev-list", "--no-merges", "--full-history", "--topo-order", fmt.Sprintf("--max-count=%d", maxCandidates), base, "^" + head, "--"}
	if len(paths) <= 200 {
		args = append(args, paths...)
	}
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list commits of the base: %w", err)
	}
	commits := strings.Fields(string(out))
	if len(commits) == 0 {
		return nil, nil, nil
	}
	var pairs [][2]string
	for _, sha := range commits {
		pairs = append(pairs, [2]string{sha, ""})
	}
	sums, err := changes(ctx, c, pairs)
	return commits, sums, err
}

// appliedOnBase are the branch's own commits with exactly the change of a commit of the base: git rebase omits them. For
// very long branches they are not searched for.
func appliedOnBase(ctx context.Context, g *input) (map[string]bool, error) {
	if g.applied != nil {
		return g.applied, nil
	}
	twins, own := map[string]bool{}, singles(g.own)
	if len(own) > 0 && len(own) <= maxPicks {
		paths, err := pathsOf(ctx, g.c, own)
		if err != nil {
			return nil, err
		}
		commits, sums, err := changing(ctx, g.c, g.Base, g.Head, paths)
		if err != nil {
			return nil, err
		}
		var mine []change
		if len(commits) > 0 {
			if mine, err = changes(ctx, g.c, againstParents(own)); err != nil {
				return nil, err
			}
		}
		for i, change := range mine {
			if same(change, commits, sums) != "" {
				twins[own[i].SHA] = true
			}
		}
	}
	g.applied = twins
	return twins, nil
}

// pathsOf are the paths that some commits, which are no merges, change, each once.
func pathsOf(ctx context.Context, c *git.Checkout, commits []history.Node) ([]string, error) {
	var paths []string
	err := history.Differences(ctx, c, againstParents(commits), func(_ int, all []history.Altered) {
		for _, one := range all {
			paths = append(paths, one.Path)
		}
	})
	return slices.Compact(slices.Sorted(slices.Values(paths))), err
}

// againstParents pairs commits that are no merges with their parents, "" for the first of a history.
func againstParents(commits []history.Node) (pairs [][2]string) {
	for _, t := range commits {
		pairs = append(pairs, [2]string{t.SHA, strings.Join(t.Parents, "")})
	}
	return pairs
}
