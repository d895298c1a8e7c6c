package model

import "strings"

// Kept is a checkpoint: the branch that keeps unfinished work, and its tip. The zero value is none. It is a full ref if no
// branch may hold the work.
type Kept struct{ Branch, SHA string }

// Hidden reports whether the work is kept at a private ref.
func (k Kept) Hidden() bool { return strings.HasPrefix(k.Branch, "refs/") }

// Named describes where it is.
func (k Kept) Named() string {
	if k.Hidden() {
		return "ref " + k.Branch
	}
	return "branch " + k.Branch
}
