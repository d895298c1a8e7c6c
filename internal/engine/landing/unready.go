package landing

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/merge"
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
