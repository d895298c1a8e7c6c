package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLedAstray says that something in the checkout's git directory is a symbolic link, a pipe or another thing that is no
// file and was not there before the agent ran, or that .git itself is something else. Following it we would read and change
// files of others, or wait for ever.
type ErrLedAstray struct{ Paths []string }

func (e *ErrLedAstray) Error() string {
	return "the git directory of the checkout leads elsewhere now: " + quoted(e.Paths)
}

// unread are directories of a git directory that none of our commands reads: hooks are off, and the rest is for programs
// beside git. People have links there.
var unread = []string{"hooks", "modules", "lfs", "annex"}

// links lists what could lead git out of the git directory, or have it wait for ever: .git itself where it is no directory,
// and everything below it, but for what is unread, that is neither a directory nor a regular file.
func (c *Checkout) links() []string {
	var found []string
	dot := filepath.Join(c.top, ".git")
	if info, err := os.Lstat(dot); err == nil && !info.IsDir() {
		found = append(found, dot)
		if info.Mode()&fs.ModeSymlink != 0 {
			return found // what is behind it is not ours to look at
		}
	}
	for _, root := range []string{c.gitDir, filepath.Dir(c.config), c.objects, c.info} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil: // what is not there leads nowhere
			case entry.IsDir() && filepath.Dir(path) == root && slices.Contains(unread, entry.Name()):
				return fs.SkipDir
			case !entry.IsDir() && !entry.Type().IsRegular():
				found = append(found, path)
			}
			return nil
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// unlock removes the locks of git processes that are gone: whoever was at work in the checkout has ended.
func (c *Checkout) unlock() error {
	var errs []error
	for _, dir := range []string{c.gitDir, filepath.Dir(c.config), filepath.Dir(c.index)} {
		locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
		for _, lock := range locks {
			errs = append(errs, os.RemoveAll(lock))
		}
	}
	_ = filepath.WalkDir(filepath.Join(filepath.Dir(c.config), "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, ".lock") {
			errs = append(errs, os.Remove(path))
		}
		return nil
	})
	return errors.Join(errs...)
}

// straight refuses a git directory with links that it did not have before the agent ran, and takes them out, so that
// nobody who comes later follows them either.
func (c *Checkout) straight() error {
	if c.saved == nil {
		return nil
	}
	if err := c.unlock(); err != nil {
		return fmt.Errorf("remove locks of the git directory: %w", err)
	}
	astray := slices.DeleteFunc(c.links(), func(path string) bool { return slices.Contains(c.linked, path) })
	if len(astray) == 0 {
		return nil
	}
	var errs []error
	for _, path := range astray {
		errs = append(errs, os.RemoveAll(path)) // which does not follow what it removes
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take links out of the git directory: %w", err)
	}
	return &ErrLedAstray{Paths: astray}
}
