package guard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// packedLimit is how many bytes of packed-refs are read.
const packedLimit = 256 << 20

// ReadHead reads the checkout's HEAD as in gitrepository-layout(5), without git: git would read a configuration that is not
// restored, and may include an endless file. "" if HEAD names no commit.
func (l *Layout) ReadHead() string {
	name := "HEAD"
	for range 5 { // git follows as many symbolic refs
		dir := filepath.Dir(l.Config)
		if name == "HEAD" {
			dir = l.GitDir
		}
		text, err := readSmallFile(dir, name)
		if err != nil {
			return packedRef(dir, name)
		}
		said := strings.TrimSpace(string(text))
		next, symbolic := strings.CutPrefix(said, "ref:")
		if !symbolic {
			if !syntax.IsSHA(said) {
				return ""
			}
			return said
		}
		if name = strings.TrimSpace(next); !syntax.ValidRef(name) {
			return ""
		}
	}
	return ""
}

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
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, file.Close(), fmt.Errorf("%s is not a regular file", name))
	}
	return file, nil
}
