package merging

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

const (
	pointerLimit = 1024 // bytes of a pointer of Git LFS
	maxPeeked    = 500  // small files checked for being one
	maxNotes     = 10
)

// notes tells people what they would not see in the files that land.
func notes(ctx context.Context, g *input, tip string) ([]string, error) {
	steps, err := history.Steps(ctx, g.c, nil, []string{tip, g.Base})
	if err != nil {
		return nil, err
	}
	var notes []string
	var ids []string
	for _, s := range steps {
		switch {
		case s.NewMode == git.ModeSubmodule && len(notes) < maxNotes:
			notes = append(notes, fmt.Sprintf("The submodule %q is at %s now.", s.Path, s.Id))
		case s.NewMode == git.ModeAbsent && s.OldMode == git.ModeSubmodule && len(notes) < maxNotes:
			notes = append(notes, fmt.Sprintf("The submodule %q is gone.", s.Path))
		case s.IsBlob() && s.NewMode != git.ModeSymlink && len(ids) < maxPeeked:
			ids = append(ids, s.Id)
		}
	}
	n := 0
	err = git.Peek(ctx, g.c, ids, pointerLimit, func(text []byte) {
		if syntax.IsPointer(text) {
			n++
		}
	})
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%d changed files are pointers of Git LFS: what they point to is not part of this repository and was not checked.", n))
	}
	return notes, git.Wrap(err, "look for pointers of Git LFS")
}
