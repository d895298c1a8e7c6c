package git

import (
	"context"
	"errors"
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
	Paths  []string // bytes as git has them, sorted
}

// Radar is who conflicts with whom.
type Radar struct {
	Clashes []Clash           // by Number, and With
	Bases   map[string]string // what was at each base branch; one that the server does not have is not here
	// Gone are the numbers of heads that the server did not have at their ref and commit; nothing is said about those, nor
	// about heads whose base is not in Bases.
	Gone []int
	// Unlooked is how many pairs that share a changed path were left out.
	Unlooked int
}

// Radar tells which heads conflict with their base and which with one another.
func (c *Checkout) Radar(ctx context.Context, heads []RadarHead, maxPairs int) (Radar, error) {
	return Radar{}, errors.New("not built yet")
}
