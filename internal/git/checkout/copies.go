package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/mergexo/mergexo/internal/git"
)

// Limits for the copies of one snapshot.
const (
	maxCopies = 2 << 30 // bytes of all
	maxFiles  = 200_000
)

// errLeftOut says why a file is not copied.
var errLeftOut = errors.New("it is too large, or linked from elsewhere")

// copyFiles copies files of the working tree to a new directory, where nobody changes them while git reads them. git itself
// could be led astray there: between its look at a path and its reading of it, whoever works in the tree can replace a
// directory with a link to one that only we can read. A copy is never of anything outside the tree, nor outside the directory.
//
// It returns the files that are no longer there, and those that were copied. What is too large, cannot be read, or is
// neither a file nor a link is in neither list. An error is about the directory, the limits for all, or ctx.
func copyFiles(ctx context.Context, c *git.Checkout, dir string, paths []string) (vanished, copied []string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	work, err := openCopier(ctx, c.Top, dir)
	if err != nil {
		return nil, nil, err
	}
	defer work.close()
	paths = slices.Compact(slices.Sorted(slices.Values(paths))) // a file with conflicts is listed twice
	if len(paths) > maxFiles {
		return nil, nil, fmt.Errorf("%d files have changed, over %d", len(paths), maxFiles)
	}
	for _, path := range paths {
		there, err := work.file(path)
		switch {
		case err == nil && there:
			copied = append(copied, path)
		case err == nil:
			vanished = append(vanished, path)
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case full(err):
			return nil, nil, err
		default:
			c.Opt.Log.Debug("file_unread", "path", path, "error", err)
		}
		if work.size > maxCopies {
			return nil, nil, fmt.Errorf("changed files have over %d bytes", maxCopies)
		}
	}
	return vanished, copied, nil
}

// full says that nothing more can be copied.
func full(err error) bool {
	return slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}, func(one error) bool { return errors.Is(err, one) })
}

// copier copies from one directory to another, without a way out of either.
type copier struct {
	ctx      context.Context //nolint:containedctx // of one call of copyFiles
	from, to *os.Root
	owner    uint32 // of the tree
	size     int64  // copied so far
}

func openCopier(ctx context.Context, from, to string) (*copier, error) {
	w := &copier{ctx: ctx}
	var err error
	if w.from, err = os.OpenRoot(from); err != nil {
		return nil, err
	}
	if w.to, err = os.OpenRoot(to); err != nil {
		return nil, errors.Join(err, w.from.Close())
	}
	info, err := w.from.Stat(".")
	if err != nil {
		return nil, errors.Join(err, w.from.Close(), w.to.Close())
	}
	w.owner = info.Sys().(*syscall.Stat_t).Uid //nolint:forcetypeassert // on every system with an os.Root of its own
	return w, nil
}

func (w *copier) close() {
	_ = w.from.Close()
	_ = w.to.Close()
}

// file copies one file or link. An error leaves open whether there is one.
func (w *copier) file(path string) (there bool, err error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	info, err := w.from.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := w.to.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := w.from.Readlink(path)
		if err == nil {
			err = w.to.Symlink(target, path)
		}
		return err == nil, err
	}
	from, err := git.OpenIn(w.from, path)
	if err != nil {
		return false, err
	}
	defer from.Close()
	err = w.content(path, from)
	return err == nil, err
}

// content copies what is in a file.
func (w *copier) content(path string, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	// Whoever may make a link to a file need not be able to read it.
	if stat, is := info.Sys().(*syscall.Stat_t); info.Size() > git.LargestFile || is && stat.Nlink > 1 && stat.Uid != w.owner {
		return errLeftOut
	}
	to, err := w.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
	if err != nil {
		return err
	}
	size, err := io.Copy(to, io.LimitReader(&cancelled{w.ctx, from}, git.LargestFile+1))
	w.size += size
	if err = errors.Join(err, to.Close()); err == nil && size > git.LargestFile { // it grew
		err = errLeftOut
	}
	return err
}

// cancelled reads until ctx ends.
type cancelled struct {
	ctx  context.Context //nolint:containedctx // of one call of copyFiles
	from io.Reader
}

func (r *cancelled) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
