package guard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	for range 5 { // git follows as many symbolic refs
		dir := filepath.Dir(l.Config)
		switch {
		case name == "HEAD":
			dir = l.GitDir
		case !syntax.ValidRef(name) || !strings.HasPrefix(name, "refs/heads/"):
			return ""
		}
		text, err := readSmallFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errIsDir) {
			return packedRef(dir, name)
		}
		if err != nil {
			return ""
		}
		said := strings.TrimSpace(string(text))
		next, symbolic := strings.CutPrefix(said, "ref:")
		if !symbolic {
			if !syntax.IsSHA(said) {
				return ""
			}
			return said
		}
		name = strings.TrimSpace(next)
	}
	return ""
}

// errIsDir says that a directory is where a file was expected.
var errIsDir = errors.New("it is a directory")

// readSmallFile reads the start of a small regular file inside a directory.
func readSmallFile(dir, name string) ([]byte, error) {
	file, err := OpenBelow(dir, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 4<<10))
}

// packedRef looks a ref up in packed-refs.
func packedRef(dir, name string) string {
	file, err := OpenBelow(dir, "packed-refs")
	if err != nil {
		return ""
	}
	defer file.Close()
	rows := bufio.NewScanner(io.LimitReader(file, packedLimit))
	for rows.Scan() {
		if sha, ref, ok := bytes.Cut(rows.Bytes(), []byte(" ")); ok && string(ref) == name && syntax.IsSHA(string(sha)) {
			return string(sha)
		}
	}
	return ""
}

// OpenBelow opens a regular file inside a directory. It neither blocks on a pipe nor follows links out of the directory.
func OpenBelow(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
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
