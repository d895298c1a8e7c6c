package merging

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Limits for the description of a conflict.
const (
	maxConflictFiles = 20
	maxHunks         = 5
	maxHunkLines     = 40
	maxHunkWidth     = 400     // bytes of one line
	maxConflictBytes = 4 << 20 // of a file that is searched for hunks
)

// Stage is one version of a conflicting path: 1 is the merge base's, 2 ours, 3 theirs.
type Stage struct {
	git.Entry
	Path, number string
}

// Message is one of git's messages about some paths.
type Message struct {
	Paths []string
	kind  string // "CONFLICT (contents)", "Auto-merging": stable, as git-merge-tree(1) says
	text  string
}

// Result is git's report of a merge, above all of one with conflicts.
type Result struct {
	Tree     string
	Stages   []Stage
	Messages []Message
}

// Combine merges two commits into a tree, in our own git directory. Attributes (built-in merge drivers, binary) are read
// below files, which is not changed. A conflict is *ErrConflict of theirs.
func Combine(ctx context.Context, c *git.Checkout, files, ours, theirs string) (tree string, err error) {
	found, clean, err := Merge(ctx, c, files, ours, theirs)
	if err != nil {
		return "", fmt.Errorf("merge %s: %w", theirs, err)
	}
	if !clean {
		return "", found.Conflict(theirs)
	}
	return found.Tree, nil
}

// Merge makes a merge with git's default rename detection, whatever our own configuration says about diffs.
func Merge(ctx context.Context, c *git.Checkout, files, ours, theirs string) (found *Result, clean bool, err error) {
	_, err = MergeAll(ctx, c, files, "", [][2]string{{ours, theirs}}, func(_ int, one *Result, ok bool) { found, clean = one, ok })
	return found, clean, err
}

// mergeAsAlways are git's defaults for a merge.
var mergeAsAlways = []string{
	"-c", "merge.renames=true", "-c", "diff.renames=true", "-c", "merge.directoryRenames=conflict", "-c", "merge.conflictStyle=merge",
	"-c", "merge.renormalize=false", "merge-tree", "--stdin", "-z", "--messages", "--allow-unrelated-histories",
}

// MergeAll makes merges in one process, and calls visit with the result of each. Attributes are read below files, and objects is the
// directory that takes what is made; "": the checkout's. done is how many merges were made, of which the last comes before an error.
func MergeAll(ctx context.Context, c *git.Checkout, files, objects string, pairs [][2]string, visit func(i int, found *Result, clean bool)) (done int, err error) {
	if len(pairs) == 0 {
		return 0, nil
	}
	var ask strings.Builder
	for _, pair := range pairs {
		ask.WriteString(pair[0] + " " + pair[1] + "\n")
	}
	env := []string{"GIT_WORK_TREE=" + files, "GIT_INDEX_FILE=" + c.OwnDir + "/no-index"}
	var settings []string
	if objects != "" { // they are thrown away
		env, settings = append(env, "GIT_OBJECT_DIRECTORY="+objects), []string{"-c", "core.fsync=none", "-c", "core.looseCompression=0"}
	}
	err = c.Stream(ctx, git.Spec{Dir: files, Env: c.OwnEnv(env...), Args: git.Safely(settings, mergeAsAlways), Stdin: []byte(ask.String())}, func(in *bufio.Reader) error {
		for ; done < len(pairs); done++ {
			found, clean, err := readMerge(in)
			if err != nil {
				return err
			}
			visit(done, found, clean)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			return errors.Join(errors.New("there is more than was asked for"), err)
		}
		return nil
	})
	return done, err
}

// readMerge reads what git merge-tree --stdin -z --messages says of one merge (https://git-scm.com/docs/git-merge-tree#OUTPUT): whether
// it is clean, the tree, what is at each stage, an empty field, the messages, and another empty field.
func readMerge(in *bufio.Reader) (found *Result, clean bool, err error) {
	word := func() (text string) {
		if err == nil {
			text, err = in.ReadString(0)
			text = strings.TrimSuffix(text, "\x00")
		}
		return text
	}
	status := word()
	found = &Result{Tree: word()}
	if err == nil && (status != "0" && status != "1" || !syntax.IsSHA(found.Tree)) {
		err = fmt.Errorf("unexpected answer %q, %q", status, found.Tree)
	}
	for row := word(); err == nil && row != ""; row = word() {
		meta, path, _ := strings.Cut(row, "\t")
		entry := strings.Fields(meta)
		if len(entry) != 3 {
			return nil, false, fmt.Errorf("unexpected answer %q", row)
		}
		found.Stages = append(found.Stages, Stage{Entry: git.Entry(entry[0] + " " + entry[1]), number: entry[2], Path: path})
	}
	for err == nil {
		n, bad := strconv.Atoi(word())
		if err != nil || bad != nil || n < 0 { // submodule advice comes without the field that ends messages
			break
		}
		var paths []string
		for range n {
			paths = append(paths, word())
		}
		found.Messages = append(found.Messages, Message{Paths: paths, kind: word(), text: strings.TrimSpace(word())})
	}
	return found, status == "1", err
}

// Conflicts are the messages about conflicts.
func (f *Result) Conflicts() []Message {
	return slices.DeleteFunc(slices.Clone(f.Messages), func(s Message) bool { return !strings.HasPrefix(s.kind, "CONFLICT") })
}

// Paths are the conflicting paths, in order.
func (f *Result) Paths() []string {
	var list []string
	for _, s := range f.Stages {
		list = append(list, s.Path)
	}
	if len(list) == 0 { // a directory rename can conflict without a conflicting path
		for _, s := range f.Conflicts() {
			list = append(list, s.Paths...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Versions are what a path has at the stages.
func (f *Result) Versions(path string) (base, ours, theirs git.Entry) {
	at := map[string]git.Entry{}
	for _, s := range f.Stages {
		if s.Path == path {
			at[s.number] = s.Entry
		}
	}
	return at["1"], at["2"], at["3"]
}

// Kind names the kind of conflict in a path.
func (f *Result) Kind(path string) string {
	_, ours, theirs := f.Versions(path)
	kinds := map[string]bool{}
	for _, s := range f.Conflicts() {
		if slices.Contains(s.Paths, path) {
			kinds[KindOf(s)] = true
		}
	}
	switch {
	case ours.Mode() == git.ModeSubmodule || theirs.Mode() == git.ModeSubmodule:
		return "submodule"
	case kinds["binary"]:
		return "binary"
	case ours != "" && theirs != "" && ours.ID() == theirs.ID() && ours != theirs:
		return "mode"
	case ours.Mode() == git.ModeSymlink && theirs.Mode() == git.ModeSymlink:
		return "symlink"
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kind != "content" && kind != "add/add" { // those may accompany their cause
			return kind
		}
	}
	if kinds["add/add"] {
		return "add/add"
	}
	return "content"
}

// KindOf takes the word in a message's brackets, which says more than its type.
func KindOf(s Message) string {
	if strings.Contains(s.kind, "binary") {
		return "binary"
	}
	_, rest, _ := strings.Cut(s.text, "CONFLICT (")
	kind, _, ok := strings.Cut(rest, ")")
	if !ok {
		_, rest, _ = strings.Cut(s.kind, "(")
		kind = strings.TrimSuffix(rest, ")")
	}
	return kind
}

// Describe fills in what people need to see of a conflict.
func Describe(ctx context.Context, c *git.Checkout, e *ErrConflict, ours, theirs string) error {
	paths := e.Paths[:min(len(e.Paths), maxConflictFiles)]
	if e.Found == nil || len(paths) == 0 || len(e.Files) > 0 {
		return nil
	}
	entries, err := git.Entries(ctx, c, e.Tree, paths)
	if err != nil {
		return err
	}
	var ids []string
	for _, at := range entries {
		if at.IsBlob() {
			ids = append(ids, at.ID())
		}
	}
	if err := history.FetchMissing(ctx, c, ids); err != nil {
		return err
	}
	hunks := map[string][]string{}
	err = c.Contents(ctx, ids, func(id string, content io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(content, maxConflictBytes))
		hunks[id] = hunksOf(string(text), ours, theirs)
		return err
	})
	if err != nil {
		return fmt.Errorf("read conflicts: %w", err)
	}
	for _, path := range paths {
		file := ConflictFile{Path: path, Kind: e.Found.Kind(path)}
		if at, ok := entries[path]; ok && (file.Kind == "content" || file.Kind == "add/add" || strings.HasPrefix(file.Kind, "rename")) {
			file.Hunks = hunks[at.ID()]
		}
		e.Files = append(e.Files, file)
	}
	return nil
}

// hunksOf extracts the conflicts from a file with conflict markers, and replaces their labels.
func hunksOf(text, ours, theirs string) []string {
	if syntax.IsBinary([]byte(text[:min(len(text), syntax.Sniffed)])) {
		return nil
	}
	var hunks, hunk []string
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, "\r\n")
		switch {
		case hunk == nil && strings.HasPrefix(row, "<<<<<<< "):
			hunk = []string{"<<<<<<< " + ours}
		case hunk == nil:
		case strings.HasPrefix(row, ">>>>>>> "):
			hunks = append(hunks, strings.Join(shortened(append(hunk, ">>>>>>> "+theirs)), "\n"))
			if hunk = nil; len(hunks) == maxHunks {
				return hunks
			}
		default:
			hunk = append(hunk, strings.ToValidUTF8(row[:min(len(row), maxHunkWidth)], "\uFFFD"))
		}
	}
	return hunks
}

// shortened cuts the middle out of long text.
func shortened(lines []string) []string {
	if len(lines) <= maxHunkLines {
		return lines
	}
	half := (maxHunkLines - 1) / 2
	gap := fmt.Sprintf("... %d more lines ...", len(lines)-2*half)
	return append(append(slices.Clone(lines[:half]), gap), lines[len(lines)-half:]...)
}

// Attributes returns the ids of the .gitattributes files of a commit, by name.
func Attributes(ctx context.Context, c *git.Checkout, rev string, names []string) (map[string]string, error) {
	there, err := git.Entries(ctx, c, rev, names)
	found := map[string]string{}
	for name, at := range there {
		if at.IsFile() {
			found[name] = at.ID()
		}
	}
	return found, err
}

// WriteAttributes writes such files below a directory: git merge reads them from a working tree.
func WriteAttributes(ctx context.Context, c *git.Checkout, dir string, files map[string]string) error {
	ids := slices.Sorted(maps.Values(files))
	if err := history.FetchMissing(ctx, c, ids); err != nil {
		return err
	}
	texts, err := c.Texts(ctx, ids, 0)
	for name, id := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, texts[id], 0o600))
		}
	}
	return git.Wrap(err, "read attributes")
}

// Without drops what concerns only some paths.
func (f *Result) Without(files map[string]git.Entry) *Result {
	rest := &Result{Tree: f.Tree}
	for _, s := range f.Stages {
		if files[s.Path] == "" {
			rest.Stages = append(rest.Stages, s)
		}
	}
	for _, s := range f.Messages {
		if slices.ContainsFunc(s.Paths, func(p string) bool { return files[p] == "" }) {
			rest.Messages = append(rest.Messages, s)
		}
	}
	return rest
}
