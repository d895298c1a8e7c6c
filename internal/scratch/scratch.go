// Package scratch makes temporary directories that the next process removes if their own process is killed.
//
// Each process holds a lock on a file beside its directories, and their names name that file. The system releases the lock when
// the process ends in any way. So a free lock proves that its process is gone. Process ids would prove nothing between containers
// that share a directory.
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

// Space makes the temporary directories of one process. The zero value is ready for use. A nil one makes directories that
// only their maker removes. It is safe for concurrent use.
type Space struct {
	mu    sync.Mutex
	locks map[string]*os.File // by the directory that they are in; nil if nothing can be locked there
}

// Make makes a directory in temp for a purpose, which is one word. The first call for a temp also removes what dead processes of
// the same user left there, and logs it; log may be nil.
func (s *Space) Make(temp, purpose string, log *slog.Logger) (string, error) {
	return os.MkdirTemp(temp, prefix+purpose+"-"+s.id(temp, log))
}

// id is the common prefix of the names of this process's directories in temp, with a dash at its end; "" if nothing can be locked
// there.
func (s *Space) id(temp string, log *slog.Logger) string {
	if s == nil {
		return ""
	}
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

// Close releases the locks. The directories stay: their makers remove them.
func (s *Space) Close() error {
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

// hold makes a file in temp and locks it; nil if that does not work.
func hold(temp string) *os.File {
	for range 10 { // another process that sweeps may remove it before it is locked
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

// locked locks a file, and reports whether it still has its name then.
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

// ours reports whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// sweep removes what dead processes of this user left in temp, and lists it.
func sweep(temp string) (removed []string) {
	locks, _ := fs.Glob(os.DirFS(temp), lockName+"*")
	for _, name := range locks {
		f, err := os.OpenFile(filepath.Join(temp, name), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if locked(f) {
			gone, all := clear(temp, strings.TrimPrefix(name, lockName))
			removed = append(removed, gone...)
			if all {
				_ = os.Remove(f.Name())
			}
		}
		_ = f.Close()
	}
	return removed
}

// clear removes the directories of one process, and reports whether all are gone.
func clear(temp, id string) (removed []string, all bool) {
	all = true
	names, _ := fs.Glob(os.DirFS(temp), prefix+"*-"+id+"-*")
	for _, name := range names {
		dir, parts := filepath.Join(temp, name), strings.Split(strings.TrimPrefix(name, prefix), "-")
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

// RemoveAll deletes a directory in which other programs have worked. They may have left directories that cannot be written to.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_, err := Unlock(dir, "")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// Unlock lets this user read and write a directory and all those in it again, and reports whether it could not before. What is called
// except in dir itself stays as it is. Links are not followed, and nothing outside of dir is touched.
func Unlock(dir, except string) (locked bool, err error) {
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return false, err
	}
	defer above.Close()
	unlock := func(in *os.Root, name string, info fs.FileInfo, err error) error {
		const all = 0o700
		if err != nil || !info.IsDir() || info.Mode()&all == all {
			return err
		}
		locked = true
		return in.Chmod(name, info.Mode().Perm()|all)
	}
	base := filepath.Base(dir)
	info, err := above.Lstat(base)
	if err = unlock(above, base, info, err); err != nil || !info.IsDir() {
		return locked, err
	}
	root, err := above.OpenRoot(base)
	if err != nil {
		return locked, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case name == except:
			return fs.SkipDir
		}
		info, err := entry.Info()
		return unlock(root, name, info, err)
	})
	return locked, err
}
