package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// maxDepth is more than git can make, since it knows a file by a path of at most 4096 bytes.
const maxDepth = 4096

// chown does Chown for somebody who may not, and prints what it found.
func (l Spec) chown() error {
	shared, err := Chown(l.Owners, l.Dirs)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(shared)
}

// Chown gives what belongs to one user in these directories, and they themselves, to another one. It follows no
// symbolic link and does not leave a directory: each step down is taken from the opened directory above. What belongs to
// somebody else, or lies on another file system, stays as it is. It can be done again, and goes on after an error.
//
// A file that has other names may be known elsewhere by them (a package manager's store, a clone that shares its objects),
// and must not become the agent's by this one: it is left as it is, and told. On the way back such a file is the agent's
// own, or was there before; or else the agent gave somebody's file another name here, so that we take it for its work.
// Linux forbids that (fs.protected_hardlinks), where it was not told otherwise; that name is removed.
func Chown(e Owners, dirs []string) ([]File, error) {
	w := walk{Owners: e, known: map[File]bool{}}
	for _, file := range e.Shared {
		w.known[file] = true
	}
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			w.fail(dir, err)
			continue
		}
		if info, err := root.Stat("."); err == nil {
			w.give(root, ".", dir, info)
			w.dir(root, dir, device(info), 0)
		} else {
			w.fail(dir, err)
		}
		_ = root.Close()
	}
	return w.shared, w.err
}

type walk struct {
	Owners
	known  map[File]bool
	shared []File
	err    error // the first one
}

func (w *walk) fail(path string, err error) {
	if w.err == nil && !errors.Is(err, fs.ErrNotExist) {
		w.err = fmt.Errorf("change the owner of %s: %w", path, unwrap(err))
	}
}

// unwrap leaves out the path of a path error, which is only the last part of ours.
func unwrap(err error) error {
	if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
		return perr.Err
	}
	return err
}

func status(info fs.FileInfo) *syscall.Stat_t {
	return info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // as os makes it on this system
}

func device(info fs.FileInfo) uint64 { return uint64(status(info).Dev) } //nolint:unconvert // another type on other machines

// dir settles everything in an opened directory.
func (w *walk) dir(root *os.Root, path string, on uint64, depth int) {
	if depth > maxDepth {
		w.fail(path, errors.New("it lies too deep"))
		return
	}
	here, err := root.Open(".")
	if err != nil {
		w.fail(path, err)
		return
	}
	entries, err := here.ReadDir(-1)
	_ = here.Close()
	if err != nil {
		w.fail(path, err)
	}
	for _, entry := range entries {
		w.entry(root, entry.Name(), path+"/"+entry.Name(), on, depth)
	}
}

func (w *walk) entry(root *os.Root, name, path string, on uint64, depth int) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		w.fail(path, err)
	case device(info) != on:
	case info.IsDir():
		w.give(root, name, path, info) // first, or it could not be opened
		sub, err := root.OpenRoot(name)
		if err != nil {
			w.fail(path, err)
			return
		}
		w.dir(sub, path, on, depth+1)
		_ = sub.Close()
	case status(info).Nlink > 1 && !w.hardLink(root, name, path, info):
	default:
		w.give(root, name, path, info)
	}
}

// hardLink decides about a file that has other names; false: it stays as it is.
func (w *walk) hardLink(root *os.Root, name, path string, info fs.FileInfo) bool {
	stat := status(info)
	file := File{device(info), stat.Ino}
	if !w.Back {
		w.shared = append(w.shared, file)
		return false
	}
	if int(stat.Uid) != w.From && !w.known[file] && !w.Unknown {
		if err := root.Remove(name); err != nil {
			w.fail(path, err)
		}
		return false
	}
	return true
}

// give changes the owner, and on the way back the mode: its owner can read and remove it, nobody else can write to it, and
// it does not run as whoever owns it now.
func (w *walk) give(root *os.Root, name, path string, info fs.FileInfo) {
	stat := status(info)
	if int(stat.Uid) != w.From {
		return
	}
	group := -1
	if int(stat.Gid) == w.FromGroup {
		group = w.ToGroup
	}
	if err := root.Lchown(name, w.To, group); err != nil {
		w.fail(path, err)
		return
	}
	if !w.Back || !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	mode := info.Mode().Perm()&^0o022 | 0o600
	if info.IsDir() {
		mode |= 0o100
	}
	if mode == info.Mode()&^fs.ModeDir {
		return
	}
	if err := root.Chmod(name, mode); err != nil {
		w.fail(path, err)
	}
}
