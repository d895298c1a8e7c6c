package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What a conflict tells of itself at most.
const (
	maxConflictFiles = 20
	maxHunks         = 5
	maxHunkLines     = 40
	maxHunkWidth     = 400     // bytes of one line
	maxConflictBytes = 4 << 20 // of a file that is searched for hunks
)

// stage is one version of a path that did not combine: 1 is the merge base's, 2 ours, 3 theirs.
type stage struct{ mode, id, path, number string }

// said is one message of a merge about some paths.
type said struct {
	paths []string
	kind  string // "CONFLICT (contents)", "Auto-merging": stable, as git-merge-tree(1) says
	text  string
}

// clash is what git tells of a merge, one with conflicts above all.
type clash struct {
	tree   string
	stages []stage
	said   []said
}

// combine merges two commits into a tree, in our own git directory. The attributes of files (a merge driver that git has
// itself, binary) are read below files, which is not changed. A conflict is *ErrConflict of the commit blame.
func (c *Checkout) combine(ctx context.Context, files, ours, theirs, blame string) (tree string, err error) {
	found, clean, err := c.mergeTrees(ctx, files, ours, theirs)
	if err != nil {
		return "", fmt.Errorf("merge %s: %w", blame, err)
	}
	if !clean {
		return "", &ErrConflict{Commit: blame, Tree: found.tree, Paths: found.paths(), found: found}
	}
	return found.tree, nil
}

// mergeTrees asks git for a merge. Renames are followed as git does for everybody, whatever our own configuration says of
// comparisons.
func (c *Checkout) mergeTrees(ctx context.Context, files, ours, theirs string) (found *clash, clean bool, err error) {
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects, "GIT_WORK_TREE="+files, "GIT_INDEX_FILE="+c.own+"/no-index")
	args := concat(shield, offline, mergeAsAlways, []string{"merge-tree", "--write-tree", "-z", "--messages", ours, theirs})
	out, err := c.run(ctx, spec{dir: files, env: env, args: args})
	if err != nil && exitCode(err) != 1 {
		return nil, false, err
	}
	part := fields(out)
	if len(part) == 0 || !isSHA(part[0]) {
		return nil, false, errors.Join(fmt.Errorf("unexpected answer %q", out), err)
	}
	found, ok := parseClash(part)
	if !ok {
		return nil, false, fmt.Errorf("unexpected answer %q", out)
	}
	return found, err == nil, nil
}

// mergeAsAlways are git's defaults for a merge.
var mergeAsAlways = []string{
	"-c", "merge.renames=true", "-c", "diff.renames=true", "-c", "merge.directoryRenames=conflict", "-c", "merge.conflictStyle=merge",
	"-c", "merge.renormalize=false",
}

// parseClash reads the answer of git merge-tree -z to a merge
// (https://git-scm.com/docs/git-merge-tree#OUTPUT): the tree, what is at each stage, an empty field, the messages.
func parseClash(part []string) (*clash, bool) {
	found := &clash{tree: part[0]}
	part = part[1:]
	for len(part) > 0 && part[0] != "" {
		meta, path, _ := strings.Cut(part[0], "\t")
		entry := strings.Fields(meta)
		if len(entry) != 3 {
			return nil, false
		}
		found.stages = append(found.stages, stage{mode: entry[0], id: entry[1], number: entry[2], path: path})
		part = part[1:]
	}
	if len(part) > 0 {
		part = part[1:]
	}
	for len(part) > 0 {
		n, err := strconv.Atoi(part[0])
		if err != nil || n < 0 || len(part) < n+3 {
			break // about submodules git adds advice that is no message
		}
		found.said = append(found.said, said{paths: part[1 : n+1], kind: part[n+1], text: strings.TrimSpace(part[n+2])})
		part = part[n+3:]
	}
	return found, true
}

// conflicts are the messages that are about conflicts.
func (f *clash) conflicts() []said {
	var list []said
	for _, s := range f.said {
		if strings.HasPrefix(s.kind, "CONFLICT") {
			list = append(list, s)
		}
	}
	return list
}

// paths are those that did not combine, in their order.
func (f *clash) paths() []string {
	var list []string
	for _, s := range f.stages {
		list = append(list, s.path)
	}
	if len(list) == 0 { // a renamed directory can conflict without leaving a path in conflict
		for _, s := range f.conflicts() {
			list = append(list, s.paths...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// versions are the stages of a path; one that is not there has no mode.
func (f *clash) versions(path string) (base, ours, theirs stage) {
	for _, s := range f.stages {
		if s.path != path {
			continue
		}
		switch s.number {
		case "1":
			base = s
		case "2":
			ours = s
		case "3":
			theirs = s
		}
	}
	return base, ours, theirs
}

// kind says in a word what is wrong with a path.
func (f *clash) kind(path string) string {
	_, ours, theirs := f.versions(path)
	kinds := map[string]bool{}
	for _, s := range f.conflicts() {
		if slices.Contains(s.paths, path) {
			kinds[kindOf(s)] = true
		}
	}
	switch {
	case ours.mode == ModeSubmodule || theirs.mode == ModeSubmodule:
		return "submodule"
	case kinds["binary"]:
		return "binary"
	case ours.mode != "" && theirs.mode != "" && ours.id == theirs.id && ours.mode != theirs.mode:
		return "mode"
	case ours.mode == ModeSymlink && theirs.mode == ModeSymlink:
		return "symlink"
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kind != "content" && kind != "add/add" { // those may stand beside what caused them
			return kind
		}
	}
	if kinds["add/add"] {
		return "add/add"
	}
	return "content"
}

// kindOf takes the word in brackets of a message, which tells more than its type does.
func kindOf(s said) string {
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

// describe fills in what a person needs to see of a conflict.
func (c *Checkout) describe(ctx context.Context, e *ErrConflict, ours, theirs string) error {
	paths := e.Paths[:min(len(e.Paths), maxConflictFiles)]
	if e.found == nil || len(paths) == 0 || len(e.Files) > 0 {
		return nil
	}
	entries, err := c.entries(ctx, e.Tree, paths)
	if err != nil {
		return err
	}
	var ids []string
	for _, at := range entries {
		if at.mode != ModeSubmodule {
			ids = append(ids, at.id)
		}
	}
	if err := c.fill(ctx, ids); err != nil {
		return err
	}
	hunks := map[string][]string{}
	err = c.contents(ctx, ids, func(id string, content io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(content, maxConflictBytes))
		hunks[id] = hunksOf(string(text), ours, theirs)
		return err
	})
	if err != nil {
		return fmt.Errorf("read conflicts: %w", err)
	}
	for _, path := range paths {
		file := ConflictFile{Path: path, Kind: e.found.kind(path)}
		if at, ok := entries[path]; ok && (file.Kind == "content" || file.Kind == "add/add" || strings.HasPrefix(file.Kind, "rename")) {
			file.Hunks = hunks[at.id]
		}
		e.Files = append(e.Files, file)
	}
	return nil
}

// hunksOf cuts the conflicts out of a file with conflict markers, whose labels it replaces.
func hunksOf(text, ours, theirs string) []string {
	if isBinary([]byte(text[:min(len(text), sniff)])) {
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

// shortened leaves lines out of the middle of what is too long.
func shortened(lines []string) []string {
	if len(lines) <= maxHunkLines {
		return lines
	}
	half := (maxHunkLines - 1) / 2
	gap := fmt.Sprintf("... %d more lines ...", len(lines)-2*half)
	return append(append(slices.Clone(lines[:half]), gap), lines[len(lines)-half:]...)
}

// entries are the modes and ids of paths in a commit or tree; those that are not there are left out.
func (c *Checkout) entries(ctx context.Context, tree string, paths []string) (map[string]stage, error) {
	found := map[string]stage{}
	for some := range slices.Chunk(paths, 200) { // as many as fit an argument list, whatever their length
		out, err := c.ask(ctx, concat([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, some)...)
		if err != nil {
			return nil, fmt.Errorf("look up paths in %s: %w", tree, err)
		}
		for _, row := range fields(out) {
			meta, path, _ := strings.Cut(row, "\t")
			if entry := strings.Fields(meta); len(entry) == 3 {
				found[path] = stage{mode: entry[0], id: entry[2], path: path}
			}
		}
	}
	return found, nil
}
