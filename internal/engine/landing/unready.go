package landing

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// Unready is a member of a car that must not land as things are.
type Unready struct {
	Number  int
	Verdict merge.Verdict
}

func (u *Unready) Error() string { return fmt.Sprintf("#%d: %s", u.Number, u.Verdict.Reason) }

// Apart is a car of several of which GitHub itself merges some, which it does one at a time.
type Apart struct{}

func (*Apart) Error() string { return "GitHub merges one pull request at a time" }

// Outdated is a commit that was built by another strategy than the one that the pull request lands by now.
type Outdated struct {
	Number   int
	Was, Now string
}

func (o *Outdated) Error() string {
	return fmt.Sprintf("#%d lands by strategy %s by now, and was built by %s", o.Number, o.Now, o.Was)
}

// Foreign is a commit that the record of the train names, and that the approved head of its pull request does not make. Whoever
// may push can write that record.
type Foreign struct {
	Number int
	Tip    string
}

func (f *Foreign) Error() string {
	return fmt.Sprintf("the record of the merge train names commit %s for #%d, which is not the change that was approved", f.Tip, f.Number)
}

// makes says that what was built on a commit is just what a tip is, whose tree is read.
func (m *member) makes(ctx context.Context, on, tip string) (bool, error) {
	if m.is.Tree != m.made.Tree {
		return false, nil
	}
	return merging.Alike(ctx, m.Checkout, on, m.made.Tip, tip)
}

// unlike says why a tip is not what was built now: by another strategy, as our comment says, or as the record of the train says and
// building it once more shows. Whoever may push can write that record.
func (a *Aboard) unlike(ctx context.Context, on, tip, by string) error {
	now := a.one.way.Strategy
	if was := a.g.marker.Strategy; was != now {
		return &Outdated{Number: a.one.is.Number, Was: was, Now: now}
	}
	foreign := &Foreign{Number: a.one.is.Number, Tip: tip}
	if by == "" || by == now || model.ByGitHub(by) != model.ByGitHub(now) {
		return foreign
	}
	other := *a.one
	other.way.Strategy = by
	if err := other.buildOn(ctx, on); err != nil {
		if is[*Failure](err) {
			return foreign
		}
		return err
	}
	if alike, err := other.makes(ctx, on, tip); err != nil || !alike {
		return cmp.Or[error](err, foreign)
	}
	return &Outdated{Number: a.one.is.Number, Was: by, Now: now}
}
