// Package conflicts tells which open pull requests conflict with their base and with one another, for thousands of them at
// once: one listing, one fetch, and all merges in one process.
package conflicts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// PullHead is an open pull request: its head and the base branch that it goes to.
type PullHead struct {
	Number int    // positive, and no other head's
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

// Matrix is who conflicts with whom.
type Matrix struct {
	Conflicts []Conflict        // by Number, and With
	Bases     map[string]string // what was at each base branch; one that the server does not have is not here
	// Gone are the numbers of heads that the server did not have at their ref and commit. Nothing is said about those, nor
	// about heads whose base is not in Bases or has no history in common with them.
	Gone []int
	// Unlooked is how many pairs that change the same paths were left out, and how many merges git could not make at all.
	Unlooked int
}

const (
	maxConflictPaths = 200    // that a Conflict names
	maxHeadPaths     = 20_000 // of one head that are compared with those of others
)

// Find tells which heads conflict with their base, and which with one another: of two heads of the same base that change
// the same path, or one a file where the other has a directory, newest numbers first and at most maxPairs. It is git's own
// merge with the attributes of the base, without the directories that the base alone has renamed something to.
//
// Two network operations as a rule, one to see what is where and one for what is missing here; one more for the files of
// a partial clone, and for histories that parted long ago as many as Deepen makes. A clone of our own in which nothing is
// yet becomes a partial one. What the history needs is here afterwards, so Culprits asks nobody.
func Find(ctx context.Context, c *git.Checkout, heads []PullHead, maxPairs int) (Matrix, error) {
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

// pair is a merge to be tried: of a head into its base, or of a head with an older one.
type pair struct {
	head         PullHead
	with         int
	ours, theirs string
	forks        []string // the best merge bases
}

// finder is one look at everything.
type finder struct {
	Matrix
	c     *git.Checkout
	heads []PullHead // newest first, those of which something can be told
	paths [][]string // that each of them changes
	bad   int        // merges that git could not make
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
		return len(e.forks) == 0 || e.forks[0] == e.ours || e.forks[0] == e.theirs // one contains the other
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

// basePairs is what each head and its base make of one another, with enough history to know. Heads that have nothing in
// common with their base are left out from here on.
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
