package git

import (
	"context"
	"errors"
)

// Met is how two branches of the server stand to each other.
type Met struct {
	BaseSHA, HeadSHA string
	// MergeBase is the commit up to which both have the same history; where there are several best ones, the first that
	// git names. "" when they are Unrelated.
	MergeBase string
	Unrelated bool // for certain
}

// Meet gets the tip of a base branch and of a head, which is a full ref name: refs/heads/x or, for the pull request of a
// fork, refs/pull/7/head. Enough of their history is fetched to know their merge base for certain, and no more.
// *ErrNoRef names the ref that is not there. One network operation as a rule.
func (c *Checkout) Meet(ctx context.Context, base, head string) (Met, error) {
	return Met{}, errors.ErrUnsupported
}

// Have gets commits by their ids where they are not here. *ErrNoRef names one that the server does not give out.
func (c *Checkout) Have(ctx context.Context, shas ...string) error { return errors.ErrUnsupported }
