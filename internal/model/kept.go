package model

import "strings"

// Kept is a checkpoint: the branch that keeps work that stopped half-way, and its tip. The zero value is none. It is a full
// ref where no branch may hold the work.
type Kept struct{ Branch, SHA string }

// Hidden says that the work is kept at a ref that is no branch.
func (k Kept) Hidden() bool { return strings.HasPrefix(k.Branch, "refs/") }

// Named says in words where it is.
func (k Kept) Named() string {
	if k.Hidden() {
		return "ref " + k.Branch
	}
	return "branch " + k.Branch
}
