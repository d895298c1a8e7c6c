package merging

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrEmpty says that nothing would land.
type ErrEmpty struct {
	// Proof names the base's commits with the same changes, a sentence each; none if unproven: then the branch changes
	// nothing, or the base has the same files for another reason.
	Proof []string
	// Cancelled says that the branch has no net change: its files are as at its fork point.
	Cancelled bool
}

func (e *ErrEmpty) Error() string {
	if e.Cancelled {
		return "nothing would land: the branch has no net change"
	}
	if len(e.Proof) == 0 {
		return "nothing would land"
	}
	return "nothing would land: " + e.Proof[0]
}

// ErrRewound says that Head would bring back commits that the base dropped.
type ErrRewound struct{ Commits []string }

func (e *ErrRewound) Error() string {
	if len(e.Commits) == 1 {
		return fmt.Sprintf("a commit that the base branch dropped would come back: %s", e.Commits[0])
	}
	return fmt.Sprintf("%d commits that the base branch dropped would come back, %s among them", len(e.Commits), e.Commits[0])
}

// ErrFrontmatter says that a file's front matter is invalid.
type ErrFrontmatter struct {
	Path string
	Side string // "base", "branch" or "merge base"
	Err  error
}

func (e *ErrFrontmatter) Error() string {
	return fmt.Sprintf("front matter of %q in the %s: %v", e.Path, e.Side, e.Err)
}

func (e *ErrFrontmatter) Unwrap() error { return e.Err }

// ErrTooMany says that a branch has too many commits to pick one by one.
type ErrTooMany struct{ Count, Most int }

func (e *ErrTooMany) Error() string {
	return fmt.Sprintf("%d commits are too many to rebase or cherry-pick (at most %d): use squash or no-ff", e.Count, e.Most)
}

// ErrChanged says that what would land is not what was reviewed.
type ErrChanged struct{ Paths []string }

func (e *ErrChanged) Error() string {
	return "what would land differs from what was reviewed: " + syntax.Quoted(e.Paths)
}
