package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	pointerStart = "version https://git-lfs.github.com/spec/v1\n" // https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
	pointerLimit = 1024                                           // bytes of a pointer, at most, as the same document says
	maxPeeked    = 500                                            // small files that are looked at for being one
	maxNotes     = 10
)

// notes tells what people should know of what would land beside what the files show.
func (g *ground) notes(ctx context.Context, tip string) ([]string, error) {
	steps, err := g.c.steps(ctx, nil, []string{tip, g.Base})
	if err != nil {
		return nil, err
	}
	var notes []string
	var ids []string
	for _, s := range steps {
		switch {
		case s.NewMode == ModeSubmodule && len(notes) < maxNotes:
			notes = append(notes, fmt.Sprintf("The submodule %q is at %s now.", s.Path, s.id))
		case s.NewMode == ModeAbsent && s.OldMode == ModeSubmodule && len(notes) < maxNotes:
			notes = append(notes, fmt.Sprintf("The submodule %q is gone.", s.Path))
		case s.isBlob() && s.NewMode != ModeSymlink && len(ids) < maxPeeked:
			ids = append(ids, s.id)
		}
	}
	n, err := g.pointers(ctx, ids)
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%d changed files are pointers of Git LFS: what they point to is not part of this repository and was not looked at.", n))
	}
	return notes, err
}

// pointers counts the Git LFS pointers among files. What is not here is none.
func (g *ground) pointers(ctx context.Context, ids []string) (int, error) {
	sizes, err := g.c.sizes(ctx, ids)
	if err != nil {
		return 0, err
	}
	var small []string
	for _, id := range ids {
		if size := sizes[id]; size >= int64(len(pointerStart)) && size < pointerLimit {
			small = append(small, id)
		}
	}
	n := 0
	err = g.c.contents(ctx, small, func(_ string, content io.Reader) error {
		text, err := io.ReadAll(content)
		if bytes.HasPrefix(text, []byte(pointerStart)) {
			n++
		}
		return err
	})
	return n, err
}
