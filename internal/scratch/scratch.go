// Package scratch makes temporary directories that outlive their process only until the next one: a process that is killed
// cannot remove what it made. Each holds a lock on a file beside its directories, whose names say which file that is. The
// system gives the lock back when the process is gone, however that went, so that a free lock proves it, also between
// containers that share a directory, where process ids prove nothing.
package scratch

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

const (
	prefix   = "mergexo-"
	lockName = prefix + "lock-"
)

// Space makes the temporary directories of one process. Its zero value and nil are ready for use; nil makes directories that
// nobody removes but their maker. It is safe for concurrent use.
type Space struct {
	mu    sync.Mutex
	locks map[string]*os.File // by the directory that they are in; nil where that cannot be locked
}

// Make makes a directory for a purpose, which is one word, in temp. With the first one in temp it removes what dead processes
// of the same user have left there; log, which may be nil, is told.
func (s *Space) Make(temp, purpose string, log *slog.Logger) (string, error) {
	id := ""
	if s != nil {
		id = s.id(temp, log)
	}
	return os.MkdirTemp(temp, prefix+purpose+"-"+id)
}

// id is what the names of this process's directories in temp have in common, with a dash at its end; "" where nothing can be
// locked there.
func (s *Space) id(temp string, log *slog.Logger) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock, known := s.locks[temp]
	if !known {
		lock = hold(temp)
		if s.locks == nil {
			s.locks = map[string]*os.File{}
		}
		s.locks[temp] = lock
		for _, dir := range sweep(temp) {
			if log != nil {
				log.Info("left_over_removed", "directory", dir)
			}
		}
	}
	if lock == nil {
		return ""
	}
	return strings.TrimPrefix(filepath.Base(lock.Name()), lockName) + "-"
}

// Close gives the locks back. What was made stays: whoever made it removes it.
func (s *Space) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, lock := range s.locks {
		if lock != nil {
			errs = append(errs, os.Remove(lock.Name()), lock.Close())
		}
	}
	s.locks = nil
	return errors.Join(errs...)
}

// hold makes a file in temp and locks it; nil where that does not work.
func hold(temp string) *os.File {
	for range 10 { // somebody who sweeps may take it for a dead one's in the moment before it is locked
		f, err := os.CreateTemp(temp, lockName)
		if err != nil {
			return nil
		}
		if locked(f) {
			return f
		}
		_, _ = os.Remove(f.Name()), f.Close()
	}
	return nil
}

// locked locks a file, and tells whether it then is ours and still has its name.
func locked(f *os.File) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	here, err := f.Stat()
	return err == nil && os.SameFile(here, there) && here.Mode().IsRegular() && ours(here)
}

// ours says that something belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// sweep removes from temp what dead processes of this user have left, and lists it.
func sweep(temp string) (removed []string) {
	locks, _ := filepath.Glob(filepath.Join(escaped(temp), lockName+"*"))
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if locked(f) {
			gone, all := clear(temp, strings.TrimPrefix(filepath.Base(name), lockName))
			removed = append(removed, gone...)
			if all {
				_ = os.Remove(name)
			}
		}
		_ = f.Close()
	}
	return removed
}

// clear removes the directories of one process; all: none of them is left.
func clear(temp, id string) (removed []string, all bool) {
	all = true
	dirs, _ := filepath.Glob(filepath.Join(escaped(temp), prefix+"*-"+id+"-*"))
	for _, dir := range dirs {
		parts := strings.Split(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		info, err := os.Lstat(dir)
		if err != nil || len(parts) != 3 || parts[1] != id || !info.IsDir() || !ours(info) {
			continue
		}
		if RemoveAll(dir) != nil {
			all = false
			continue
		}
		removed = append(removed, dir)
	}
	return removed, all
}

// escaped is a path as a pattern that only that path matches.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// RemoveAll deletes a directory in which others have worked, who may have left directories that cannot be written to.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}
