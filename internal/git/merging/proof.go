package merging

import (
	"cmp"
	"context"
	"fmt"
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
	pairs := [][2]string{{g.Head, g.start()}}
	for _, t := range g.own {
		if len(t.Parents) == 1 && len(pairs) <= maxCandidates {
			pairs = append(pairs, [2]string{t.SHA, t.Parents[0]})
		}
	}
	both, err := compareWithBase(ctx, g.c, g.Base, g.Head, paths, pairs)
	if err != nil || len(both.theirs) == 0 {
		return cmp.Or[error](err, &ErrEmpty{})
	}
	if at := both.twin(0); at != "" {
		return &ErrEmpty{Proof: []string{fmt.Sprintf("all that %s changes is what %s on the base changed", g.Head, at)}}
	}
	proof := &ErrEmpty{}
	for i, pair := range pairs[1:] {
		at := both.twin(i + 1)
		if at == "" && both.mine[i+1] != "" {
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

// compared are changes of the branch, and those of commits that only the base has.
type compared struct {
	mine   []change
	theirs []string // newest first
	sums   []change // of theirs
}

// twin is the first commit of the base with the same change as one of the branch's, "" if there is none or nothing to compare.
func (d compared) twin(i int) string {
	if n := slices.Index(d.sums, d.mine[i]); n >= 0 && d.mine[i] != "" {
		return d.theirs[n]
	}
	return ""
}

// compareWithBase compares pairs of commits, newer first, with the newest commits that only the base has and that changed one of these
// paths. There is nothing where those have none.
func compareWithBase(ctx context.Context, c *git.Checkout, base, head string, paths []string, pairs [][2]string) (compared, error) {
	if len(paths) == 0 {
		return compared{}, nil
	}
	// Without --full-history git would omit a side branch of the base whose change was undone later.
	args := []string{"rev-list", "--no-merges", "--full-history", "--topo-order", fmt.Sprintf("--max-count=%d", maxCandidates), base, "^" + head, "--"}
	if len(paths) <= 200 {
		args = append(args, paths...)
	}
	out, err := c.Ask(ctx, args...)
	theirs := strings.Fields(string(out))
	if err != nil || len(theirs) == 0 {
		return compared{}, git.Wrap(err, "list commits of the base")
	}
	all := slices.Clone(pairs)
	for _, sha := range theirs {
		all = append(all, [2]string{sha, ""})
	}
	sums, err := changes(ctx, c, all)
	if err != nil {
		return compared{}, err
	}
	return compared{sums[:len(pairs)], theirs, sums[len(pairs):]}, nil
}

// compareOwn is compareWithBase for commits of the branch that are no merges, each with its parent.
func compareOwn(ctx context.Context, c *git.Checkout, base, head string, own []history.Node) (compared, error) {
	pairs := make([][2]string, len(own))
	for i, t := range own {
		pairs[i] = [2]string{t.SHA, strings.Join(t.Parents, "")} // none: the first of a history
	}
	var paths []string
	err := history.Differences(ctx, c, pairs, func(_ int, all []history.Altered) {
		for _, one := range all {
			paths = append(paths, one.Path)
		}
	})
	if err != nil {
		return compared{}, err
	}
	return compareWithBase(ctx, c, base, head, slices.Compact(slices.Sorted(slices.Values(paths))), pairs)
}

// appliedOnBase are the branch's own commits with exactly the change of a commit of the base: git rebase omits them. For
// very long branches they are not searched for.
func appliedOnBase(ctx context.Context, g *input) (map[string]bool, error) {
	if g.applied != nil {
		return g.applied, nil
	}
	twins, own := map[string]bool{}, singles(g.own)
	if len(own) > 0 && len(own) <= maxPicks {
		both, err := compareOwn(ctx, g.c, g.Base, g.Head, own)
		if err != nil {
			return nil, err
		}
		for i := range both.mine {
			if both.twin(i) != "" {
				twins[own[i].SHA] = true
			}
		}
	}
	g.applied = twins
	return twins, nil
}
