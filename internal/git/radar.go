package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// RadarHead is an open pull request: its head and the base branch that it goes to.
type RadarHead struct {
	Number int    // positive, and no other head's
	Ref    string // where the server has SHA: refs/heads/x or refs/pull/7/head
	SHA    string
	Base   string // branch
}

// Clash is a head that conflicts with its base, or with another head of the same base.
type Clash struct {
	Number int
	With   int      // the other head's number, which is smaller; 0 is the base
	Paths  []string // bytes as git has them, sorted, at most 200
}

// Radar is who conflicts with whom.
type Radar struct {
	Clashes []Clash           // by Number, and With
	Bases   map[string]string // what was at each base branch; one that the server does not have is not here
	// Gone are the numbers of heads that the server did not have at their ref and commit. Nothing is said about those, nor
	// about heads whose base is not in Bases or has no history in common with them.
	Gone []int
	// Unlooked is how many pairs that change the same paths were left out, and how many merges git could not make at all.
	Unlooked int
}

const (
	maxClashPaths = 200    // that a Clash names
	maxHeadPaths  = 20_000 // of one head that are compared with those of others
)

// Radar tells which heads conflict with their base, and which with one another: of two heads of the same base that change
// the same path, or one a file where the other has a directory, newest numbers first and at most maxPairs. It is git's own
// merge with the attributes of the base, without the directories that the base alone has renamed something to.
//
// Two network operations as a rule, one to see what is where and one for what is missing here; one more for the files of
// a partial clone, and for histories that parted long ago as many as Deepen makes. A clone of our own in which nothing is
// yet becomes a partial one. What the history needs is here afterwards, so Culprits asks nobody.
func (c *Checkout) Radar(ctx context.Context, heads []RadarHead, maxPairs int) (Radar, error) {
	seen := map[int]bool{}
	for _, h := range heads {
		if h.Number < 1 || seen[h.Number] || !validRef(h.Ref) || !isSHA(h.SHA) || !validRef("refs/heads/"+h.Base) {
			return Radar{}, fmt.Errorf("look for conflicts of %+v: not a number of its own, a ref, a commit id and a branch", h)
		}
		seen[h.Number] = true
	}
	found, err := c.tryRadar(ctx, heads, maxPairs)
	if c.person == nil && c.broken(ctx, err) {
		c.opt.Log.Warn("workspace_damaged", "error", err) // as in Restore
		if err := c.leave(ctx); err != nil {
			return Radar{}, err
		}
		found, err = c.tryRadar(ctx, heads, maxPairs)
	}
	if err != nil {
		return Radar{}, fmt.Errorf("look for conflicts: %w", err)
	}
	return found, nil
}

// encounter is a merge to be tried: of a head into its base, or of a head with an older one.
type encounter struct {
	head         RadarHead
	with         int
	ours, theirs string
	forks        []string // the best merge bases
}

// radar is one look at everything.
type radar struct {
	Radar
	c     *Checkout
	heads []RadarHead // newest first, those of which something can be told
	paths [][]string  // that each of them changes
	bad   int         // merges that git could not make
}

func (c *Checkout) tryRadar(ctx context.Context, heads []RadarHead, maxPairs int) (Radar, error) {
	r := &radar{c: c, Radar: Radar{Bases: map[string]string{}}}
	if len(heads) == 0 {
		return r.Radar, nil
	}
	heads = slices.SortedFunc(slices.Values(heads), func(a, b RadarHead) int { return cmp.Compare(b.Number, a.Number) })
	if err := r.get(ctx, heads); err != nil {
		return Radar{}, err
	}
	list, err := r.meetBases(ctx)
	if err != nil {
		return Radar{}, err
	}
	if err := r.look(ctx, list); err != nil {
		return Radar{}, err
	}
	pairs := r.pairs(max(maxPairs, 0))
	if err := c.forkPoints(ctx, pairs); err != nil {
		return Radar{}, err
	}
	list = slices.DeleteFunc(append(list, pairs...), func(e encounter) bool {
		return len(e.forks) == 0 || e.forks[0] == e.ours || e.forks[0] == e.theirs // one contains the other
	})
	if err := r.fillAll(ctx, list); err != nil {
		return Radar{}, err
	}
	if err := r.mergeAll(ctx, list); err != nil {
		return Radar{}, err
	}
	slices.SortFunc(r.Clashes, func(a, b Clash) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.With, b.With)) })
	slices.Sort(r.Gone)
	return r.Radar, nil
}

// meetBases is what each head and its base make of one another, with enough history to know. Heads that have nothing in
// common with their base are left out from here on.
func (r *radar) meetBases(ctx context.Context) ([]encounter, error) {
	list := make([]encounter, 0, len(r.heads))
	for _, h := range r.heads {
		list = append(list, encounter{head: h, ours: r.Bases[h.Base], theirs: h.SHA})
	}
	if err := r.c.agree(ctx, list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(e encounter) bool { return len(e.forks) == 0 })
	r.heads = r.heads[:0]
	for _, e := range list {
		r.heads = append(r.heads, e.head)
	}
	return list, nil
}
