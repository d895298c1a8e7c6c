package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Layout is where the parts of a checkout are, and the recorded state of its git directory from before anybody else worked
// there. Paths are absolute.
type Layout struct {
	Top     string // working tree
	GitDir  string // the checkout's git directory
	Config  string // the checkout's configuration file
	Objects string // directory of the objects
	Index   string
	Shallow string // file with the shallow boundary
	Info    string // the git directory's info directory

	Noted map[string][]byte // files as they were, nil for a missing one; nil before Note
	links []string          // symbolic links as they were
}

// ErrUnsafeGitDir says that the checkout's git directory holds a symbolic link, a pipe or another special file that was not
// there before the agent ran, or that .git itself was replaced. Following it would read and change files elsewhere, or
// block forever.
type ErrUnsafeGitDir struct{ Paths []string }

func (e *ErrUnsafeGitDir) Error() string {
	return "the git directory of the checkout points elsewhere now: " + syntax.Quoted(e.Paths)
}

// unread are directories of a git directory that none of our commands reads: hooks are off, and the rest is for other
// programs. People have links there.
var unread = []string{"hooks", "modules", "lfs", "annex"}

// findLinks lists what could lead git out of the git directory, or block it: .git itself if it is no directory, and
// everything below it, except in unread, that is neither a directory nor a regular file.
func (l *Layout) findLinks() []string {
	var found []string
	dot := filepath.Join(l.Top, ".git")
	if info, err := os.Lstat(dot); err == nil && !info.IsDir() {
		found = append(found, dot)
		if info.Mode()&fs.ModeSymlink != 0 {
			return found // what it points to is outside our scope
		}
	}
	for _, root := range []string{l.GitDir, filepath.Dir(l.Config), l.Objects, l.Info} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil: // a missing file leads nowhere
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

// newLinks are the links added since Note.
func (l *Layout) newLinks() []string {
	return slices.DeleteFunc(l.findLinks(), func(path string) bool { return slices.Contains(l.links, path) })
}

// removeLocks removes stale locks: nobody else is still at work in the checkout.
func (l *Layout) removeLocks() error {
	var errs []error
	for _, dir := range []string{l.GitDir, filepath.Dir(l.Config), filepath.Dir(l.Index)} {
		locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
		for _, lock := range locks {
			errs = append(errs, os.RemoveAll(lock))
		}
	}
	_ = filepath.WalkDir(filepath.Join(filepath.Dir(l.Config), "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, ".lock") {
			errs = append(errs, os.Remove(path))
		}
		return nil
	})
	return errors.Join(errs...)
}

// removeLinks refuses a git directory with new links, and removes them, so that nobody follows them later either.
func (l *Layout) removeLinks() error {
	if l.Noted == nil {
		return nil
	}
	if err := l.removeLocks(); err != nil {
		return fmt.Errorf("remove locks of the git directory: %w", err)
	}
	found := l.newLinks()
	if len(found) == 0 {
		return nil
	}
	var errs []error
	for _, path := range found {
		errs = append(errs, os.RemoveAll(path)) // does not follow links
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take links out of the git directory: %w", err)
	}
	return &ErrUnsafeGitDir{Paths: found}
}

// CheckUnchanged is *ErrUnsafeGitDir if git would leave the checkout's git directory when reading its objects and index. It
// is read-only.
func (l *Layout) CheckUnchanged() error {
	found := l.newLinks()
	for _, name := range []string{"alternates", "http-alternates"} {
		path := filepath.Join(l.Objects, "info", name)
		if slices.Contains(found, path) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if string(text) != string(l.Noted[path]) {
			found = append(found, path)
		}
	}
	if len(found) > 0 {
		return &ErrUnsafeGitDir{Paths: found}
	}
	return nil
}

// Note records the files that decide what git runs and where it finds objects and refs, with some of the info directory.
func (l *Layout) Note(info ...string) error {
	paths := []string{
		l.Config, filepath.Join(l.GitDir, "config.worktree"), filepath.Join(l.GitDir, "commondir"),
		filepath.Join(l.Objects, "info", "alternates"), filepath.Join(l.Objects, "info", "http-alternates"),
	}
	for _, name := range info {
		paths = append(paths, filepath.Join(l.Info, name))
	}
	noted := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
		noted[path] = text
	}
	l.Noted, l.links = noted, l.findLinks()
	return nil
}

// Forget discards what Note recorded.
func (l *Layout) Forget() { l.Noted, l.links = nil, nil }

// PutBack restores the recorded files of the checkout's git directory. *ErrUnsafeGitDir names links added meanwhile; then
// they are removed, and nothing else is done.
func (l *Layout) PutBack() error {
	if err := l.removeLinks(); err != nil {
		return err
	}
	if _, err := os.Stat(l.GitDir); err != nil {
		return nil // no directory to restore to; whoever needs the checkout will report it
	}
	for _, path := range slices.Sorted(maps.Keys(l.Noted)) {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() {
			if now, err := os.ReadFile(path); err == nil && l.Noted[path] != nil && bytes.Equal(now, l.Noted[path]) {
				continue
			}
		}
		if l.Noted[path] == nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := ReplaceFile(path, l.Noted[path]); err != nil {
			return fmt.Errorf("restore configuration of the checkout: %w", err)
		}
	}
	return nil
}

// ReplaceFile writes a file by renaming over it, so that a link in its place is not followed. Empty text removes it.
func ReplaceFile(path string, text []byte) error {
	if len(text) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", filepath.Base(path), err)
		}
		return nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = WriteWhole(path, ".mergexo-", 0o644, func(to io.Writer) error {
			_, err := to.Write(text)
			return err
		})
	}
	return Wrap(err, "write %s", filepath.Base(path))
}

// WriteWhole writes a file that nobody sees before it is whole. Until then it has another name, which begins like temporary.
func WriteWhole(path, temporary string, mode fs.FileMode, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), temporary)
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Chmod(mode), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
