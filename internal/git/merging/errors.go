package merging

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrEmpty says that nothing would land.
type ErrEmpty struct {
	// Proof says which commits of the base have what would land, a sentence each; none when that is not proven: then the
	// branch changes nothing, or the base has the same files for another reason.
	Proof []string
	// Cancelled says that the branch has no change of its own: its files are what they were where it began.
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

// ErrRewound says that Head brings back commits that the base gave up.
type ErrRewound struct{ Commits []string }

func (e *ErrRewound) Error() string {
	if len(e.Commits) == 1 {
		return fmt.Sprintf("a commit that the base branch gave up would come back: %s", e.Commits[0])
	}
	return fmt.Sprintf("%d commits that the base branch gave up would come back, %s among them", len(e.Commits), e.Commits[0])
}

// ErrFrontmatter says that the front matter of a file could not be read.
type ErrFrontmatter struct {
	Path string
	Side string // "base", "branch" or "merge base"
	Err  error
}

func (e *ErrFrontmatter) Error() string {
	return fmt.Sprintf("front matter of %q in the %s: %v", e.Path, e.Side, e.Err)
}

func (e *ErrFrontmatter) Unwrap() error { return e.Err }

// ErrTooMany says that a branch has more commits than are picked one by one.
type ErrTooMany struct{ Count, Most int }

func (e *ErrTooMany) Error() string {
	return fmt.Sprintf("%d commits are too many to put over one by one (at most %d): use squash or no-ff", e.Count, e.Most)
}

// ErrChanged says that what would land is not what was reviewed.
type ErrChanged struct{ Paths []string }

func (e *ErrChanged) Error() string {
	return "what would land is not what was reviewed: " + syntax.Quoted(e.Paths)
}
