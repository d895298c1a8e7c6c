package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/guard"
)

// Limits for the copies of one snapshot, in bytes. GitHub refuses a larger file.
const (
	maxCopy   = 100 << 20
	maxCopies = 2 << 30
)

// copyFiles copies files of the working tree to a new directory, where nobody changes them while git reads them. git itself
// could be led astray there: between its look at a path and its reading of it, whoever works in the tree can replace a
// directory with a link to one that only we can read. A copy is never of anything outside the tree.
//
// It returns the files that are no longer there, and those that were copied. What is too large, cannot be read, or is
// neither a file nor a link is in neither list.
func copyFiles(c *git.Checkout, to string, paths []string) (vanished, copied []string, err error) {
	root, err := os.OpenRoot(c.Top)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, nil, err
	}
	left := int64(maxCopies)
	for _, path := range paths {
		size, err := copyFile(root, path, filepath.Join(to, path), left)
		switch own := (*copyError)(nil); {
		case err == nil:
			copied = append(copied, path)
		case errors.As(err, &own):
			return nil, nil, own.error
		case errors.Is(err, fs.ErrNotExist):
			vanished = append(vanished, path)
		default:
			c.Opt.Log.Debug("file_unread", "path", path, "error", err)
		}
		if left -= size; left < 0 {
			return nil, nil, fmt.Errorf("they have over %d bytes", maxCopies)
		}
	}
	return vanished, copied, nil
}

// copyError is about the copy and not about the file.
type copyError struct{ error }

// copyFile copies one file or link, and returns the number of bytes.
func copyFile(root *os.Root, path, to string, left int64) (size int64, err error) {
	info, err := root.Lstat(path)
	if err != nil {
		return 0, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := root.Readlink(path)
		if err != nil {
			return 0, err
		}
		return int64(len(target)), write(to, func() error { return os.Symlink(target, to) })
	}
	from, err := guard.OpenIn(root, path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if info, err = from.Stat(); err != nil {
		return 0, err
	}
	if info.Size() > maxCopy {
		return 0, fmt.Errorf("it has %d bytes, over %d", info.Size(), maxCopy)
	}
	return size, write(to, func() error {
		file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
		if err != nil {
			return err
		}
		size, err = io.Copy(file, io.LimitReader(from, min(maxCopy, left)+1))
		return errors.Join(err, file.Close())
	})
}

// write makes a file below a directory that may not be there yet.
func write(to string, do func() error) error {
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = do()
	}
	if err != nil {
		return &copyError{err}
	}
	return nil
}
