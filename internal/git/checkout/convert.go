package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
)

// Files convert files between the working tree and what git stores, where .gitattributes ask for more than other line ends.
// https://git-scm.com/docs/gitattributes
type Files struct{ C *git.Checkout }

// Stored is what git stores of a file of the working tree; false where git cannot convert it.
func (f Files) Stored(ctx context.Context, path string, text []byte) ([]byte, bool, error) {
	if is, err := f.converted(ctx, path); err != nil || !is {
		return text, true, err
	}
	return f.through(ctx, text, []string{"hash-object", "-w", "--stdin", "--path=" + path}, "cat-file", "blob")
}

// CheckedOut is the file of the working tree for what git is to store; false where git would store something else then, because
// the file's encoding does not have all characters.
func (f Files) CheckedOut(ctx context.Context, path string, stored []byte) ([]byte, bool, error) {
	if is, err := f.converted(ctx, path); err != nil || !is {
		return stored, true, err
	}
	text, ok, err := f.through(ctx, stored, []string{"hash-object", "-w", "--stdin"}, "cat-file", "--filters", "--path="+path)
	if err != nil || !ok {
		return nil, false, err
	}
	back, ok, err := f.Stored(ctx, path, text)
	return text, ok && bytes.Equal(back, stored), err
}

// converted reports whether git converts a file.
func (f Files) converted(ctx context.Context, path string) (bool, error) {
	out, err := f.C.Tree(ctx, "check-attr", "-z", "working-tree-encoding", "ident", "--", path)
	if err != nil {
		return false, fmt.Errorf("read attributes of %s: %w", path, err)
	}
	return bytes.Count(out, []byte("\x00unspecified\x00")) < 2, nil
}

// through writes an object by one command, and reads it by another; false where git refuses.
func (f Files) through(ctx context.Context, text []byte, write []string, read ...string) (out []byte, ok bool, err error) {
	id, err := f.C.TreeWith(ctx, f.C.Index, text, write...)
	if err == nil {
		out, err = f.C.Tree(ctx, append(read, string(bytes.TrimSpace(id)))...)
	}
	if refused := (*git.Error)(nil); errors.As(err, &refused) && refused.Exit > 0 {
		return nil, false, nil
	}
	return out, err == nil, err
}
