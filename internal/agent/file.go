package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// Files convert files between the checkout and what git stores, which is what people see on GitHub. Line ends may stay. False
// is for what cannot be converted.
type Files interface {
	Stored(ctx context.Context, path string, text []byte) ([]byte, bool, error)
	CheckedOut(ctx context.Context, path string, stored []byte) ([]byte, bool, error)
}

const unconvertible = "git cannot convert it as .gitattributes asks for"

// unfit says why lines cannot be put into a text as git stores it; "" if they can.
func unfit(stored, lines string) string {
	switch {
	case strings.Contains(stored, "\x00"):
		return "git stores it as a binary file"
	case !utf8.ValidString(stored) && strings.ContainsFunc(lines, func(r rune) bool { return r > unicode.MaxASCII }):
		return "git stores it in an encoding other than UTF-8, so only ASCII can be put into it"
	}
	return ""
}

// file is a text as git stores it: as lines with their ends.
type file struct {
	mark  string // its byte order mark, or ""
	lines []string
}

// fileOf splits a text.
func fileOf(stored []byte) *file {
	rest := strings.TrimPrefix(string(stored), byteOrderMark)
	return &file{mark: string(stored[:len(stored)-len(rest)]), lines: split(rest)}
}

// text is the file in one piece.
func (f *file) text() []byte { return []byte(f.mark + strings.Join(f.lines, "")) }

// Why a path is nothing to be changed.
const (
	foreignPath = "its path is not one of the repository"
	belowFile   = "its path goes through a file"
)

// look tells what is at a path of the checkout: a regular file, or nil where there is nothing. why says that it is nothing
// to be changed.
func look(root *os.Root, path string) (info fs.FileInfo, why string, err error) {
	if !filepath.IsLocal(path) || path != filepath.Clean(path) {
		return nil, foreignPath, nil
	}
	part := strings.Split(path, "/")
	for _, name := range part {
		if strings.EqualFold(name, ".git") || len(name) > 255 || strings.ContainsRune(name, 0) { // as long as a name can be
			return nil, foreignPath, nil
		}
	}
	for i := range part {
		info, err = root.Lstat(filepath.Join(part[:i+1]...))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, "", nil
		case err != nil:
			return nil, "", fmt.Errorf("look at file: %w", err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, "its path goes through a symbolic link", nil
		case i < len(part)-1 && !info.IsDir():
			return nil, belowFile, nil
		case i == len(part)-1 && !info.Mode().IsRegular():
			return nil, "it is not a file", nil
		}
	}
	return info, "", nil
}

// split cuts a text into lines that keep their ends; git and GitHub count line feeds only.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// end is a line's end: "\n", "\r\n", or nothing on a last line without one.
func end(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return ""
}

// replace puts new lines in place of first..last, which exist. A new line ends as the old one in its place did, and
// the last one as the old last one: other lines, and whether the file ends with a line feed, stay as they are.
func (f *file) replace(first, last int, lines []string) (changed bool) {
	old := f.lines[first-1 : last]
	usual := f.usualEnd(first, last)
	fresh := make([]string, len(lines))
	for i, line := range lines {
		ending := usual
		if i < len(old)-1 {
			ending = end(old[i])
		}
		if i == len(lines)-1 {
			ending = end(old[len(old)-1])
		}
		fresh[i] = line + ending
	}
	if first == 1 && len(fresh) > 0 {
		fresh[0] = strings.TrimPrefix(fresh[0], f.mark)
	}
	changed = strings.Join(old, "") != strings.Join(fresh, "")
	f.lines = append(append(append([]string{}, f.lines[:first-1]...), fresh...), f.lines[last:]...)
	return changed
}

// usualEnd is how lines end around first..last: as one of them, else as the one above, else with a line feed.
func (f *file) usualEnd(first, last int) string {
	for i := last; i >= max(first-1, 1); i-- {
		if ending := end(f.lines[i-1]); ending != "" {
			return ending
		}
	}
	return "\n"
}
