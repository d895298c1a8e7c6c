package landing

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/journal"
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

// Built is how a commit was built.
type Built struct {
	Strategy string
	// Way is a key of all that decides over the commit beside the head and what it stands on: the strategy, the settings that it
	// goes by, the message, and who commits. "": nobody has said.
	Way string
}

func (b Built) String() string { return strings.TrimSpace(b.Strategy + " " + b.Way) }

// Built is how the request was built; the zero value: it was not.
func (a *Aboard) Built() Built {
	if a.one == nil || a.one.Checkout == nil {
		return Built{}
	}
	w := a.one.what()
	way := journal.Token("way", w.Strategy, fmt.Sprintf("%q", w.BaseWins), fmt.Sprintf("%q", w.UnionFields), w.Title, w.Body, a.one.Checkout.Opt.Identity.String())
	return Built{Strategy: w.Strategy, Way: way[:16]}
}

// Outdated is a commit that was built in another way than the one that the pull request lands by now.
type Outdated struct {
	Number   int
	Was, Now Built
}

func (o *Outdated) Error() string {
	return fmt.Sprintf("#%d now lands by %s, but was built by %s", o.Number, o.Now, o.Was)
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

// outdated says that a car was built in another way than its request is built now, by our comment or by the record of the train; nil:
// neither says so. Whoever may push can write that record, so that this is never a reason to land anything.
func (a *Aboard) outdated(by Built) *Outdated {
	now := a.Built()
	switch was := a.g.marker.Strategy; {
	case was != now.Strategy:
		return &Outdated{Number: a.one.is.Number, Was: Built{Strategy: was}, Now: now}
	case by.Way != "" && by.Way != now.Way:
		return &Outdated{Number: a.one.is.Number, Was: by, Now: now}
	}
	return nil
}

// unlike says why a tip is not what was built now: it is outdated, or nothing that the approved head makes. Where the record names
// only a strategy, as those of earlier versions do, building it once more shows whether that is true.
func (a *Aboard) unlike(ctx context.Context, on, tip string, by Built) error {
	if old := a.outdated(by); old != nil {
		return old
	}
	now, foreign := a.one.way.Strategy, &Foreign{Number: a.one.is.Number, Tip: tip}
	if by.Way != "" || by.Strategy == "" || by.Strategy == now || model.ByGitHub(by.Strategy) != model.ByGitHub(now) {
		return foreign
	}
	other := *a.one
	other.way.Strategy = by.Strategy
	if err := other.buildOn(ctx, on); err != nil {
		if is[*Failure](err) {
			return foreign
		}
		return err
	}
	if alike, err := other.makes(ctx, on, tip); err != nil || !alike {
		return cmp.Or[error](err, foreign)
	}
	return &Outdated{Number: a.one.is.Number, Was: by, Now: a.Built()}
}
