package sandbox

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// contentEntry is an entry of a tree, with its path from where the reading began.
type contentEntry struct{ mode, kind, sha, path string }

// modeTree is how trees name a tree; the API and git ls-tree write a zero before it.
const modeTree = "040000"

// list reads what is directly in a tree; dir is its own path.
func (t trees) list(r *Repository, sha, dir string) ([]contentEntry, error) {
	found, data, err := t.git.objects(r).read(sha)
	if err == nil && found.kind != "tree" {
		err = errNoObject
	}
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", sha, err)
	}
	var entries []contentEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		if !ok || len(rest) < 20 {
			return nil, fmt.Errorf("read tree %s: it is cut off", sha)
		}
		e := contentEntry{mode: fmt.Sprintf("%06s", mode), kind: "blob", sha: hex.EncodeToString(rest[:20]), path: path.Join(dir, name)}
		switch e.mode {
		case modeTree:
			e.kind = "tree"
		case "160000":
			e.kind = "commit"
		}
		entries, data = append(entries, e), rest[20:]
	}
	return entries, nil
}

// at finds what a commit or tree has at a path; nil when that is nothing.
func (t trees) at(r *Repository, rev, at string) (*contentEntry, error) {
	root, err := t.git.objects(r).find(rev + "^{tree}")
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", at, err)
	}
	e := &contentEntry{modeTree, "tree", root.sha, ""}
	for _, name := range strings.FieldsFunc(at, func(c rune) bool { return c == '/' }) {
		if e.kind != "tree" {
			return nil, nil
		}
		entries, err := t.list(r, e.sha, e.path)
		if err != nil {
			return nil, err
		}
		n := slices.IndexFunc(entries, func(o contentEntry) bool { return path.Base(o.path) == name })
		if n < 0 {
			return nil, nil
		}
		e = &entries[n]
	}
	return e, nil
}

// eachFile compares two trees, of which one may be "" for nothing, and sees each file that is not the same: nil is for none.
func (t trees) eachFile(r *Repository, was, now, dir string, see func(path string, was, now *contentEntry)) error {
	pairs := map[string]*[2]*contentEntry{}
	for side, sha := range []string{was, now} {
		if sha == "" {
			continue
		}
		entries, err := t.list(r, sha, dir)
		if err != nil {
			return err
		}
		for n, e := range entries {
			if pairs[e.path] == nil {
				pairs[e.path] = &[2]*contentEntry{}
			}
			pairs[e.path][side] = &entries[n]
		}
	}
	for at, pair := range pairs {
		if pair[0] != nil && pair[1] != nil && *pair[0] == *pair[1] {
			continue
		}
		var trees [2]string
		for side, e := range pair {
			if e != nil && e.kind == "tree" {
				trees[side], pair[side] = e.sha, nil
			}
		}
		if pair[0] != nil || pair[1] != nil {
			see(at, pair[0], pair[1])
		}
		if trees != [2]string{} {
			if err := t.eachFile(r, trees[0], trees[1], at, see); err != nil {
				return err
			}
		}
	}
	return nil
}

// size is the length of a blob.
func (t trees) size(r *Repository, e contentEntry) int {
	if e.kind != "blob" {
		return 0
	}
	found, _ := t.git.objects(r).find(e.sha) // 0 for what a partial copy lacks
	return found.size
}

// treeEntry is one entry of POST git/trees; a null SHA without content removes the path.
type treeEntry struct {
	Path, Mode, Type string
	SHA, Content     *string
}

// unfit tells whether git refuses an entry.
func (e *treeEntry) unfit() bool {
	modes := []string{"100644", "100755", "120000", "160000", modeTree}
	return e.SHA != nil && !slices.Contains(modes, e.Mode) || slices.ContainsFunc(strings.Split(e.Path, "/"), func(name string) bool {
		return name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git")
	})
}

// edit writes base, a commit or tree or nothing, with the entries set, and gives the new tree.
func (t trees) edit(r *Repository, base string, entries []treeEntry) (string, error) {
	if slices.ContainsFunc(entries, func(e treeEntry) bool { return e.unfit() }) {
		return "", errors.New("change tree: an entry has no valid path or mode")
	}
	root := ""
	if base != "" {
		found, err := t.git.objects(r).find(base + "^{tree}")
		if err != nil {
			return "", fmt.Errorf("change tree: %w", err)
		}
		root = found.sha
	}
	sha, err := t.editBelow(r, root, entries)
	if sha == "" && err == nil {
		return t.git.writeObject(r, "tree", nil)
	}
	return sha, err
}

// editBelow is edit for one directory. It gives "" where nothing is left in it, which git does not keep.
func (t trees) editBelow(r *Repository, tree string, entries []treeEntry) (string, error) {
	now, deeper := map[string]contentEntry{}, map[string][]treeEntry{}
	if tree != "" {
		there, err := t.list(r, tree, "")
		if err != nil {
			return "", err
		}
		for _, e := range there {
			now[e.path] = e
		}
	}
	for _, e := range entries {
		name, rest, deep := strings.Cut(e.Path, "/")
		switch {
		case deep:
			e.Path = rest
			deeper[name] = append(deeper[name], e)
		case e.SHA != nil:
			now[name] = contentEntry{mode: e.Mode, sha: *e.SHA}
			delete(deeper, name)
		case now[name].mode != modeTree:
			delete(now, name)
		}
	}
	for name, below := range deeper {
		was := ""
		if now[name].mode == modeTree {
			was = now[name].sha
		}
		sha, err := t.editBelow(r, was, below)
		switch {
		case err != nil:
			return "", err
		case sha != "":
			now[name] = contentEntry{mode: modeTree, sha: sha}
		case was != "":
			delete(now, name)
		}
	}
	return t.write(r, now)
}

// write writes a tree of entries by name, in git's order: as if the names of trees ended with a slash.
func (t trees) write(r *Repository, entries map[string]contentEntry) (string, error) {
	if len(entries) == 0 {
		return "", nil
	}
	type item struct{ key, line string }
	var items []item
	for name, e := range entries {
		raw, err := hex.DecodeString(e.sha)
		if err != nil || len(raw) != 20 {
			return "", fmt.Errorf("write tree: %q is no SHA", e.sha)
		}
		key := name
		if e.mode == modeTree {
			key += "/"
		}
		items = append(items, item{key, strings.TrimPrefix(e.mode, "0") + " " + name + "\x00" + string(raw)})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	var b bytes.Buffer
	for _, i := range items {
		b.WriteString(i.line)
	}
	return t.git.writeObject(r, "tree", b.Bytes())
}
