package model

import "strings"

// Kept is a checkpoint: the branch that keeps unfinished work, and its tip. The zero value is none. It is a full ref if the server
// takes no branch with the work.
type Kept struct {
	Branch string `json:"checkpoint,omitempty"`
	SHA    string `json:"checkpoint_sha,omitempty"`
	Base   string `json:"checkpoint_base,omitempty"` // that its commits are on
	// Bundle is the file on the runner that holds the work, if no push got through.
	Bundle string `json:"bundle,omitempty"`
}

// Hidden reports whether the work is kept at a private ref.
func (k Kept) Hidden() bool { return strings.HasPrefix(k.Branch, "refs/") }

// Left reports whether there is work somewhere that nothing else holds, as far as is known.
func (k Kept) Left() bool { return k.Branch != "" || k.Bundle != "" }

// Saved reports whether it is what an agent had done when its work was last saved.
func (k Kept) Saved() bool { return strings.Contains(k.Branch, "/wip-") }

// Ref is the full name of where it is.
func (k Kept) Ref() string {
	if k.Hidden() {
		return k.Branch
	}
	return "refs/heads/" + k.Branch
}

// Bundled reports whether it is a bundle, which a hidden ref or the runner has: no branch may hold these commits, or none was reached.
func (k Kept) Bundled() bool {
	return k.Bundle != "" || strings.HasPrefix(k.Branch, "refs/mergexo/kept/")
}

// Named describes where it is.
func (k Kept) Named() string {
	if k.Hidden() {
		return "ref " + k.Branch
	}
	return "branch " + k.Branch
}
