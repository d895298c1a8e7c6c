package merging

import (
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrConflict names the paths that conflict in a replay or a merge. Nothing was changed.
type ErrConflict struct {
	Commit string // the commit that did not apply
	Paths  []string
	Tree   string         // the merge's tree, with conflict markers
	Files  []ConflictFile // at most 20 of them, for people
	Why    string         // a merge driver that might have prevented it, as the end of a sentence; "": none

	Found *Result
}

// ConflictFile is the conflict in one path.
type ConflictFile struct {
	Path  string   // bytes as git has them
	Kind  string   // as git names it: content, add/add, modify/delete, rename/delete, binary, submodule, ...
	Hunks []string // with conflict markers: at most 5 of at most 40 lines, always UTF-8
}

func (e *ErrConflict) Error() string {
	return fmt.Sprintf("%s conflicts in %s%s", e.Commit, syntax.Quoted(e.Paths), e.Why)
}

// Conflict is the error of a merge that is not clean; commit is the one that did not apply.
func (f *Result) Conflict(commit string) *ErrConflict {
	return &ErrConflict{Commit: commit, Tree: f.Tree, Paths: f.Paths(), Found: f}
}

// AsConflict is the conflict that an error tells of; nil for any other.
func AsConflict(err error) *ErrConflict {
	conflict := (*ErrConflict)(nil)
	errors.As(err, &conflict)
	return conflict
}
