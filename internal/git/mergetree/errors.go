package mergetree

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// ErrConflict says which paths a replay or a merge could not combine. Nothing was changed.
type ErrConflict struct {
	Commit string // the commit that did not apply
	Paths  []string
	Tree   string         // what did combine, with conflict markers in the rest
	Files  []ConflictFile // at most 20 of them, for people

	Found *Result
}

// ConflictFile is what did not combine in one path.
type ConflictFile struct {
	Path  string   // bytes as git has them
	Kind  string   // as git names it: content, add/add, modify/delete, rename/delete, binary, submodule, ...
	Hunks []string // with conflict markers: at most 5 of at most 40 lines, always UTF-8
}

func (e *ErrConflict) Error() string {
	return fmt.Sprintf("%s conflicts in %s", e.Commit, syntax.Quoted(e.Paths))
}
