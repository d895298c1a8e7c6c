package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// maxFile is how large a file may be that is read to be changed.
const maxFile = 16 << 20

// tree is the checkout with changes that are not written yet.
type tree struct {
	root  *os.Root
	git   Files
	files map[string]*leaf // those that were looked at
	paths []string         // in the order in which that was done
}

// leaf is one file of a tree as git stores it, or the place where there is none.
type leaf struct {
	text, was   []byte
	file        []byte // as the checkout has the text
	mode        fs.FileMode
	there, that bool // there is a file: now, and before
	touched     bool
}

func newTree(root *os.Root, git Files) *tree {
	return &tree{root: root, git: git, files: map[string]*leaf{}}
}

// at gives what is at a path; why is as in look.
func (t *tree) at(ctx context.Context, name string) (l *leaf, why string, err error) {
	if l := t.files[name]; l != nil {
		return l, "", nil
	}
	info, why, err := look(t.root, name)
	if err != nil || why != "" {
		return nil, why, err
	}
	l = &leaf{mode: 0o644}
	if info != nil {
		if info.Size() > maxFile {
			return nil, fmt.Sprintf("it is larger than %d MB", maxFile>>20), nil
		}
		l.there, l.that, l.mode = true, true, info.Mode().Perm()
		if l.text, err = t.root.ReadFile(name); err != nil {
			return nil, "", fmt.Errorf("read file: %w", err)
		}
		stored, ok, err := t.git.Stored(ctx, name, l.text)
		if err != nil || !ok {
			return nil, unconvertible, err
		}
		l.text = stored
		l.was = l.text
	}
	t.files[name] = l
	t.paths = append(t.paths, name)
	return l, "", nil
}

// put puts a text at a path that was looked at; why is as in look.
func (t *tree) put(ctx context.Context, name string, text []byte, mode fs.FileMode) (why string, err error) {
	for other, l := range t.files {
		if l.there && (strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/")) {
			return "its path and that of " + other + " exclude each other", nil
		}
	}
	file, ok, err := t.git.CheckedOut(ctx, name, text)
	if err != nil || !ok {
		return unconvertible, err
	}
	l := t.files[name]
	l.text, l.file, l.there, l.mode, l.touched = text, file, true, mode, true
	return "", nil
}

// remove removes a file that was looked at.
func (t *tree) remove(name string) {
	l := t.files[name]
	l.text, l.there, l.touched = nil, false, true
}

// changed are the paths that are not as they were, each with the result: "", "new" or "removed".
func (t *tree) changed() (paths []string, how map[string]string) {
	how = map[string]string{}
	for _, name := range t.paths {
		l := t.files[name]
		switch {
		case !l.touched || !l.there && !l.that:
			continue
		case !l.that:
			how[name] = "new"
		case !l.there:
			how[name] = "removed"
		case bytes.Equal(l.text, l.was) && !t.moded(name):
			continue
		}
		paths = append(paths, name)
	}
	return paths, how
}

// moded says that a file that was there got another mode.
func (t *tree) moded(name string) bool {
	info, err := t.root.Lstat(name)
	return err == nil && info.Mode().Perm() != t.files[name].mode
}

// write writes what changed: first what goes, so that there is room for what comes.
func (t *tree) write() error {
	paths, how := t.changed()
	slices.SortStableFunc(paths, func(a, b string) int { return strings.Compare(how[b], how[a]) }) // removed, new, changed
	for _, name := range paths {
		if err := t.writeOne(name, how[name]); err != nil {
			return fmt.Errorf("write %s: %w", excerpt(name, 200), err)
		}
	}
	return nil
}

func (t *tree) writeOne(name, how string) error {
	l := t.files[name]
	flags := os.O_WRONLY | os.O_TRUNC // in place, so that what hangs on it stays
	switch how {
	case "removed":
		return t.root.Remove(name)
	case "new":
		flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if err := t.root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
	}
	out, err := t.root.OpenFile(name, flags, l.mode)
	if err != nil {
		return err
	}
	_, err = out.Write(l.file)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if t.moded(name) {
		return t.root.Chmod(name, l.mode)
	}
	return nil
}
