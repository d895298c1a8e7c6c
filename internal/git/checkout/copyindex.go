package checkout

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

const (
	snapshotTries = 3       // tries to read files while somebody writes them
	indexLimit    = 1 << 30 // bytes of an index to copy
)

// copyIndex copies an index with its modification time: git compares the content of files that are no older
// than their index, for they may have changed unnoticed.
//
// https://git-scm.com/docs/racy-git
func copyIndex(index, to string) error {
	from, err := git.OpenBelow(filepath.Dir(index), filepath.Base(index))
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() > indexLimit {
		return fmt.Errorf("the index has %d bytes", info.Size())
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.LimitReader(from, indexLimit))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// isInside reports whether a path can be one of the working tree: an index that others have written can hold anything, and git lists
// some of it without a look.
func isInside(path string) bool {
	return filepath.IsLocal(path) && filepath.Clean(path) == path && !strings.EqualFold(strings.SplitN(path, "/", 2)[0], ".git")
}
