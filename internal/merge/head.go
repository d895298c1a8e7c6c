package merge

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/model"
)

// Head is what may happen to the branch of a pull request. Whoever moves, deletes or explains anything asks here.
type Head struct {
	// Fixed is why the branch is neither moved nor deleted, as part of a sentence; "": it may be.
	Fixed string
	// Deleted says that it is deleted once its pull request is merged, and Wanted that it would be if it were not Fixed.
	Deleted, Wanted bool
	// Passing says that the branch is over once its pull request is merged: pull requests on it then get its base. Others, such as
	// develop in git-flow, had pull requests merged into them before.
	Passing bool
}

// ownBranches are those that MergeXO makes.
var ownBranches = []string{"agent/**", mirrorRoot + "*/**", "mergexo/**"}

// HeadOf decides about the branch of a pull request.
func HeadOf(p Policy, pull model.Pull, facts model.MergeFacts) Head {
	if pull.CrossRepo {
		return Head{}
	}
	h := Head{Fixed: fixed(pull, facts), Passing: !facts.DefaultHead && passes(pull.CreatedAt, facts.Fed)}
	h.Wanted = facts.DeletesHeads || branchfilter.Match(ownBranches, pull.HeadRef)
	if p.DeleteBranch != nil {
		h.Wanted = *p.DeleteBranch
	}
	h.Deleted = h.Wanted && h.Fixed == "" && !slices.Contains(facts.Missing, "users")
	return h
}

// fixed says why a head branch must not be moved; "" if it may be.
func fixed(pull model.Pull, facts model.MergeFacts) string {
	switch {
	case facts.DefaultHead:
		return "it is the default branch of its repository"
	case len(facts.HeadDemands) > 0:
		d := facts.HeadDemands[0]
		return fmt.Sprintf("%s of branch %q %s", d.Source, pull.HeadRef, barring[d.Kind].says)
	case len(facts.Users) > 0:
		return fmt.Sprintf("pull request %d uses it too", facts.Users[0])
	case facts.Past != 0:
		return fmt.Sprintf("pull request %d was based on it", facts.Past)
	}
	return ""
}

// passes says that a branch, whose pull request was opened then, is not one into which people merge their work: nothing was merged
// into it before.
func passes(opened, fed time.Time) bool { return fed.IsZero() || fed.After(opened) }

// over says why a pull request must not be merged into its base, which was merged itself and where nobody looks for it; "": it may.
func over(pull model.Pull, facts model.MergeFacts) string {
	b := facts.Below
	if b.Number == 0 || facts.RuleKnown || !passes(b.Opened, facts.BaseFed) {
		return ""
	}
	return fmt.Sprintf("branch %q was merged into %q by pull request %d, so that nothing merged into it now gets there; change the base of this pull request to %q", pull.BaseRef, b.Base, b.Number, b.Base)
}

// NeedsRules says that a way would move a head branch, so that the rules of that branch have to be known.
func NeedsRules(way Way, pull model.Pull, facts model.MergeFacts) bool {
	return movesHead(way.Strategy, pull) && pull.HeadExists && fixed(pull, facts) == ""
}
