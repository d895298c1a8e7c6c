package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// packedLimit is how many bytes of packed-refs are read.
const packedLimit = 256 << 20

// ReadHead is ReadRef for HEAD.
func (l *Layout) ReadHead() string { return l.ReadRef("HEAD") }

// ReadRef reads HEAD or a branch of the checkout as in gitrepository-layout(5), without git: git would read a configuration
// that is not restored, and may include an endless file. "" if it names no commit, or if only git knows: refs of a worktree
// alone, and refs in another format than files.
func (l *Layout) ReadRef(name string) string {
	if info, err := os.Stat(filepath.Join(filepath.Dir(l.Config), "refs")); err != nil || !info.IsDir() {
		return "" // git takes it for no repository
	}
	for range 5 { // git follows as many symbolic refs
		dir := filepath.Dir(l.Config)
		switch {
		case name == "HEAD":
			dir = l.GitDir
		case !wellFormed(name):
			return ""
		}
		text, err := readSmallFile(dir, name)
		if name != "HEAD" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errIsDir)) {
			found, _ := packedRefs(dir, func(ref string) bool { return ref == name })
			return found[name]
		}
		if err != nil {
			return ""
		}
		said := strings.TrimRight(text, blanks)
		next, symbolic := strings.CutPrefix(said, "ref:")
		if !symbolic {
			if !syntax.IsSHA(said) {
				return ""
			}
			return said
		}
		name = strings.TrimLeft(next, blanks)
	}
	return ""
}

// ReadBranches reads all branches of the checkout and its newest stash as ReadRef does, by full name; all is false where only git knows
// them.
func ReadBranches(l *Layout) (tips map[string]string, all bool) {
	dir := filepath.Dir(l.Config)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	branch := func(name string) bool { return strings.HasPrefix(name, "refs/heads/") || name == stash }
	if tips, err = packedRefs(dir, branch); err != nil {
		return nil, false
	}
	read := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := readSmallFile(dir, name)
		tips[name] = strings.TrimRight(text, blanks)
		if err == nil && (len(tips) > maxBranches || name != stash && !wellFormed(name) || !syntax.IsSHA(tips[name])) {
			err = fs.ErrInvalid
		}
		return err
	}
	err = fs.WalkDir(root.FS(), "refs/heads", read)
	if _, none := root.Lstat(stash); err == nil && none == nil {
		err = fs.WalkDir(root.FS(), stash, read)
	}
	return tips, err == nil
}

const (
	stash       = "refs/stash"
	maxBranches = 10_000 // that are read without git
)

// blanks are what git trims. The name of a branch can end with blanks of Unicode.
const blanks = " \t\r\n"

// wellFormed reports whether git takes this for the name of a branch, as far as the path of its file shows
// (https://git-scm.com/docs/git-check-ref-format).
func wellFormed(name string) bool {
	return syntax.ValidRef(name) && strings.HasPrefix(name, "refs/heads/") && path.Clean(name) == name &&
		!strings.Contains(name, "/.") && !strings.Contains(name+"/", ".lock/")
}

// errIsDir says that a directory is where a file was expected.
var errIsDir = errors.New("it is a directory")

// readSmallFile reads a regular file of less than 4 KiB inside a directory.
func readSmallFile(dir, name string) (string, error) {
	file, err := OpenBelow(dir, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err == nil && len(text) == 4<<10 {
		err = fmt.Errorf("%s is too long", name)
	}
	return string(text), err
}

// packedRefs reads some refs from packed-refs. It is an error if the rows are not sorted, in which git may find others.
func packedRefs(dir string, wanted func(ref string) bool) (map[string]string, error) {
	found := map[string]string{}
	file, err := OpenBelow(dir, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := bufio.NewScanner(io.LimitReader(file, packedLimit))
	var last []byte
	for rows.Scan() {
		sha, ref, ok := bytes.Cut(rows.Bytes(), []byte(" "))
		if !ok || !syntax.IsSHA(string(sha)) { // the header, or what a tag leads to
			continue
		}
		if bytes.Compare(ref, last) <= 0 {
			return nil, fmt.Errorf("packed-refs: %q is not in order", ref)
		}
		if last = append(last[:0], ref...); wanted(string(ref)) {
			found[string(ref)] = string(sha)
		}
	}
	if rows.Err() != nil {
		return nil, fmt.Errorf("packed-refs: %w", rows.Err())
	}
	return found, nil
}

// OpenBelow opens a regular file inside a directory. It neither blocks on a pipe nor follows links out of the directory.
func OpenBelow(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return OpenIn(root, name)
}

// OpenIn is OpenBelow for a directory that is open.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case info.IsDir():
		return nil, errors.Join(fmt.Errorf("%s: %w", name, errIsDir), file.Close())
	case !info.Mode().IsRegular():
		return nil, errors.Join(fmt.Errorf("%s is not a regular file", name), file.Close())
	}
	return file, nil
}
