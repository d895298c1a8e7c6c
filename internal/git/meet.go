package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
// fork, refs/pull/7/head. Enough of their history is fetched to know their merge base for certain, all commits that the
// head has and the base has not, and where merges among these came from; no more. In a partial clone that goes for files,
// too: see fillMerge. *ErrNoRef names the ref that is not there. One network operation as a rule, at most three more where
// the merge base is far away, and one for the files of a partial clone.
func (c *Checkout) Meet(ctx context.Context, base, head string) (Met, error) {
	if !validRef("refs/heads/"+base) || !validRef(head) || head == "refs/heads/"+base {
		return Met{}, fmt.Errorf("fetch %q for a merge into %q: not a ref and another branch", head, base)
	}
	met, err := c.tryMeet(ctx, base, head)
	if c.person == nil && c.broken(ctx, err) {
		c.opt.Log.Warn("workspace_damaged", "error", err) // as in Restore
		if err := c.leave(ctx); err != nil {
			return Met{}, err
		}
		met, err = c.tryMeet(ctx, base, head)
	}
	if err != nil {
		return Met{}, fmt.Errorf("fetch for a merge: %w", err)
	}
	return met, nil
}

func (c *Checkout) tryMeet(ctx context.Context, base, head string) (Met, error) {
	wants := [][2]string{{"refs/heads/" + base, fetchedBase}, {head, fetchedHead}}
	if err := c.fetch(ctx, append(c.bounded(ctx, 0), c.filtered()...), wants...); err != nil {
		return Met{}, err
	}
	met, err := c.relate(ctx, c.refs[fetchedBase], c.refs[fetchedHead])
	if err != nil {
		return Met{}, err
	}
	return met, c.fillMerge(ctx, met)
}

// filtered is the option that keeps a fetch into a partial clone from getting files. Without it the server sends them as
// differences from files that it takes to be here, and git fetches those one by one.
func (c *Checkout) filtered() []string {
	if !c.promisor {
		return nil
	}
	return []string{"--filter=blob:none"}
}

// relate finds the merge base of two tips, and fetches what of their history is missing.
func (c *Checkout) relate(ctx context.Context, base, head string) (Met, error) {
	met, known := Met{BaseSHA: base, HeadSHA: head}, false
	ask := func() (_ bool, err error) {
		met.MergeBase, known, err = c.mergeBase(ctx, base, head)
		if err == nil && known {
			known, err = c.whole(ctx, met)
		}
		return known, err
	}
	err := c.deepen(ctx, []string{base, head}, ask)
	if err == nil && !known {
		_, err = ask() // after the last fetch
	}
	if err == nil && !known {
		err = fmt.Errorf("find merge base of %s and %s: history is missing", base, head)
	}
	met.Unrelated = met.MergeBase == ""
	return met, err
}

// whole tells whether all commits that the head has and the base has not are here, with the merge bases of those among
// them that are merges.
func (c *Checkout) whole(ctx context.Context, met Met) (bool, error) {
	if len(c.boundary) == 0 || met.MergeBase == met.HeadSHA {
		return true, nil
	}
	if hidden, err := c.cutOff(ctx, met.HeadSHA, met.BaseSHA); err != nil || hidden {
		return false, err
	}
	merges, err := c.merges(ctx, met)
	if err != nil {
		return false, err
	}
	for _, parents := range merges {
		if _, known, err := c.mergeBase(ctx, parents[0], parents[1]); err != nil || !known {
			return false, err
		}
	}
	return true, nil
}

// merges are the first two parents of every merge commit that the head has and the base has not.
func (c *Checkout) merges(ctx context.Context, met Met) (parents [][2]string, err error) {
	out, err := c.ask(ctx, "rev-list", "--merges", "--parents", met.HeadSHA, "^"+met.BaseSHA)
	if err != nil {
		return nil, fmt.Errorf("list merges: %w", err)
	}
	for row := range strings.Lines(string(out)) {
		if ids := strings.Fields(row); len(ids) > 2 {
			parents = append(parents, [2]string{ids[1], ids[2]})
		}
	}
	return parents, nil
}

// Have gets commits by their ids where they are not here, with as much history as the checkout has of others. *ErrNoRef
// names one that the server does not give out. One network operation, none when all are here.
func (c *Checkout) Have(ctx context.Context, shas ...string) error {
	var wants [][2]string
	for _, sha := range shas {
		if !isSHA(sha) {
			return fmt.Errorf("fetch commit %q: not a commit id", sha)
		}
		here, err := c.present(ctx, sha)
		if err != nil {
			return err
		}
		if want := [2]string{sha, "refs/fetched/sha-" + sha}; !here {
			wants = append(wants, want)
		}
	}
	if len(wants) == 0 {
		return nil
	}
	if err := c.fetch(ctx, append(c.bounded(ctx, 0), c.filtered()...), wants...); err != nil {
		var none *ErrNoRef
		if errors.As(err, &none) {
			return none
		}
		return fmt.Errorf("fetch commits: %w", err)
	}
	return nil
}
