package merging

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// PullHead is an open pull request's head and base branch.
type PullHead struct {
	Number int    // positive and unique
	Ref    string // where the server has SHA: refs/heads/x or refs/pull/7/head
	SHA    string
	Base   string // branch
}

// Conflict is a head that conflicts with its base, or with another head of the same base.
type Conflict struct {
	Number int
	With   int      // the other head's number, which is smaller; 0 is the base
	Paths  []string // bytes as git has them, sorted, at most 200
}

// Matrix says which heads conflict with which.
type Matrix struct {
	Conflicts []Conflict        // by Number, and With
	Bases     map[string]string // tips of the base branches that the server has
	// Gone are the numbers of heads that the server did not have at their ref and commit. They have no results, and neither
	// have heads whose base is not in Bases or unrelated.
	Gone []int
	// Unlooked is how many pairs with common paths were left out, plus how many merges git failed to make.
	Unlooked int
}

const (
	maxConflictPaths = 200    // named in a Conflict
	maxHeadPaths     = 20_000 // of one head that are compared with other heads' paths
)

// FindConflicts determines which heads conflict with their base, and which with each other: two heads of the same base that change
// the same path, or one a file where the other has a directory; newest numbers first, at most maxPairs. It uses git's own
// merge with the base's attributes, without directory renames made by the base alone, where the changes of both sides meet.
//
// Two network operations as a rule, one to list refs and one to fetch what is missing; one more for the files of a partial
// clone, and as many as Deepen needs for long-diverged histories. An own clone that is still empty becomes a partial one.
// The history is here afterwards, so Culprits needs no network.
func FindConflicts(ctx context.Context, c *git.Checkout, heads []PullHead, maxPairs int) (Matrix, error) {
	seen := map[int]bool{}
	for _, h := range heads {
		if h.Number < 1 || seen[h.Number] || !syntax.ValidRef(h.Ref) || !syntax.IsSHA(h.SHA) || !syntax.ValidRef("refs/heads/"+h.Base) {
			return Matrix{}, fmt.Errorf("look for conflicts of %+v: not a number of its own, a ref, a commit id and a branch", h)
		}
		seen[h.Number] = true
	}
	var found Matrix
	err := git.OrInClone(ctx, c, func() (err error) {
		found, err = find(ctx, c, heads, maxPairs)
		return err
	})
	if err != nil {
		return Matrix{}, fmt.Errorf("look for conflicts: %w", err)
	}
	return found, nil
}

// pair is a merge to try: of a head into its base, or of a head with an older one.
type pair struct {
	head         PullHead
	with         int
	ours, theirs string
	forks        []string // the best merge bases
	apart        bool     // the changes cannot meet, so no merge is made
}

// finder is one run of FindConflicts.
type finder struct {
	Matrix
	c     *git.Checkout
	heads []PullHead // newest first, only those with results
	paths [][]string // that each of them changes
	bad   int        // merges that git failed to make
}

func find(ctx context.Context, c *git.Checkout, heads []PullHead, maxPairs int) (Matrix, error) {
	r := &finder{c: c, Matrix: Matrix{Bases: map[string]string{}}}
	if len(heads) == 0 {
		return r.Matrix, nil
	}
	heads = slices.SortedFunc(slices.Values(heads), func(a, b PullHead) int { return cmp.Compare(b.Number, a.Number) })
	if err := r.get(ctx, heads); err != nil {
		return Matrix{}, err
	}
	list, err := r.basePairs(ctx)
	if err != nil {
		return Matrix{}, err
	}
	if err := r.look(ctx, list); err != nil {
		return Matrix{}, err
	}
	pairs := r.pairs(max(maxPairs, 0))
	if err := forkPoints(ctx, c, pairs); err != nil {
		return Matrix{}, err
	}
	list = slices.DeleteFunc(append(list, pairs...), func(e pair) bool {
		return e.apart || len(e.forks) == 0 || e.forks[0] == e.ours || e.forks[0] == e.theirs // one contains the other
	})
	if err := r.fillAll(ctx, list); err != nil {
		return Matrix{}, err
	}
	if err := r.mergeAll(ctx, list); err != nil {
		return Matrix{}, err
	}
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.With, b.With)) })
	slices.Sort(r.Gone)
	return r.Matrix, nil
}

// basePairs pairs each head with its base, with enough history to merge. Unrelated heads are dropped from here on.
func (r *finder) basePairs(ctx context.Context) ([]pair, error) {
	list := make([]pair, 0, len(r.heads))
	for _, h := range r.heads {
		list = append(list, pair{head: h, ours: r.Bases[h.Base], theirs: h.SHA})
	}
	if err := agree(ctx, r.c, list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e pair) bool { return len(e.forks) == 0 })
	r.heads = r.heads[:0]
	for _, e := range list {
		r.heads = append(r.heads, e.head)
	}
	return list, nil
}
