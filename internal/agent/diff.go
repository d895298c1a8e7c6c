package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/mergexo/mergexo/internal/markdown"
)

// diff is one diff block with its position.
type diff struct {
	where  string
	text   string
	closed bool
}

// diffsOf finds the diff blocks of a text.
func diffsOf(where, text string) []diff {
	var found []diff
	for i, b := range markdown.Blocks(text, "diff", "patch") {
		found = append(found, diff{fmt.Sprintf("diff block %d of %s", i+1, where), strings.Join(append(b.Lines, ""), "\n"), b.Closed})
	}
	return found
}

// read parses a diff; why tells a person what is wrong with it.
func (d diff) read() (files []*gitdiff.File, why string) {
	if !d.closed {
		return nil, "it has no end"
	}
	files, _, err := gitdiff.Parse(strings.NewReader(d.text))
	if err != nil {
		return nil, "it cannot be read: " + excerpt(strings.TrimPrefix(err.Error(), "gitdiff: "), 200)
	}
	if len(files) == 0 {
		return nil, "there is no diff in it"
	}
	for _, f := range files {
		if f.IsBinary {
			return nil, "it is about a binary file, " + excerpt(pathOf(f), 200)
		}
	}
	if line := d.outsideHunks(); line > 0 {
		return nil, fmt.Sprintf("its line %d is in no hunk: the header of the hunk above it counts fewer lines", line)
	}
	if d.prefixed() {
		for _, f := range files {
			f.OldName, f.NewName = unprefixed(f.OldName), unprefixed(f.NewName)
		}
	}
	return files, ""
}

// prefixed reports whether the names of a diff that is not git's begin with a/ and b/, as git's do. The library only
// handles git's own names.
func (d diff) prefixed() bool {
	lines := strings.Split(d.text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "diff --git ") {
			return false
		}
		if i > 0 && strings.HasPrefix(line, "+++ ") && strings.HasPrefix(lines[i-1], "--- ") {
			before, after := strings.TrimPrefix(lines[i-1][4:], `"`), strings.TrimPrefix(line[4:], `"`) // as git quotes a name
			if !strings.HasPrefix(before, "a/") && !strings.HasPrefix(before, "/dev/null") || !strings.HasPrefix(after, "b/") && !strings.HasPrefix(after, "/dev/null") {
				return false
			}
		}
	}
	return true
}

func unprefixed(name string) string {
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(name, "b/")
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// outsideHunks is the first line, from 1, that adds or removes something outside any hunk; 0 for none. Like git, the
// library skips text after a hunk: a header that counts too few lines would silently lose some.
func (d diff) outsideHunks() int {
	before, after := 0, 0 // lines left in the hunk
	lines := strings.Split(d.text, "\n")
	seen := false
	for i, line := range lines {
		kind := line + " "
		switch {
		case before > 0 || after > 0:
			if kind[0] != '+' && kind[0] != '\\' {
				before--
			}
			if kind[0] != '-' && kind[0] != '\\' {
				after--
			}
		case hunkHeader.MatchString(line):
			m := hunkHeader.FindStringSubmatch(line)
			before, after, seen = count(m[1]), count(m[2]), true
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
		case strings.HasPrefix(line, "+++ ") && i > 0 && strings.HasPrefix(lines[i-1], "--- "):
		case line == "-- " && i+4 >= len(lines): // before the signature that format-patch appends
			return 0
		case seen && (kind[0] == '+' || kind[0] == '-'):
			return i + 1
		}
	}
	return 0
}

// count is the number of lines in a hunk header; it is optional.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return n
}

// apply applies one file's part of a diff to the tree; why tells a person why it cannot.
func (t *tree) apply(ctx context.Context, f *gitdiff.File) (why string, err error) {
	from, to := f.OldName, f.NewName
	switch {
	case f.IsNew:
		from = to
	case f.IsDelete:
		to = from
	}
	old, why, err := t.at(ctx, from)
	if why == "" && err == nil && to != from {
		_, why, err = t.at(ctx, to)
	}
	if err != nil || why != "" {
		return why, err
	}
	mode := old.mode
	switch kind := f.NewMode &^ 0o777; {
	case f.IsCopy:
		return "copies are not applied", nil
	case f.NewMode != 0 && kind != 0o100000, f.OldMode != 0 && f.OldMode&^0o777 != 0o100000:
		return "it is not to be a regular file", nil
	case f.NewMode != 0:
		mode = 0o644 | f.NewMode&0o111
	}
	switch {
	case f.IsNew && old.there:
		why = "it exists already"
	case !f.IsNew && !old.there:
		why = "there is no such file"
	case to != from && t.files[to].there:
		why = excerpt(to, 200) + " exists already"
	default:
		if why, err = t.rewrite(ctx, f, from, to, old.text, mode); err != nil {
			return "", err
		}
	}
	if why != "" && present(t, f, from, to) {
		why = ""
	}
	return why, nil
}

// rewrite replaces a text with what a diff makes of it.
func (t *tree) rewrite(ctx context.Context, f *gitdiff.File, from, to string, text []byte, mode fs.FileMode) (why string, _ error) {
	for _, hunk := range f.TextFragments {
		if why := unfit(string(text), fmt.Sprint(hunk.Lines)); why != "" {
			return why, nil
		}
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(text), f); err != nil {
		var at *gitdiff.ApplyError
		if errors.As(err, &at) && at.Fragment > 0 && at.Line > 0 {
			return fmt.Sprintf("hunk %d does not apply at line %d of the file", at.Fragment, at.Line), nil
		}
		return "it does not apply: " + excerpt(err.Error(), 200), nil
	}
	lines := int64(len(split(string(text))))
	for i, hunk := range f.TextFragments {
		// Like git: a hunk without trailing context ends at the end of the file.
		if hunk.TrailingContext == 0 && max(hunk.OldPosition-1, 0)+hunk.OldLines != lines {
			return fmt.Sprintf("hunk %d does not apply: it ends without context, and not at the end of the file", i+1), nil
		}
	}
	if f.IsDelete {
		if out.Len() > 0 {
			return "the diff removes the file, but not all that is in it", nil
		}
		t.remove(to)
		return "", nil
	}
	if to != from {
		t.remove(from)
	}
	return t.put(ctx, to, out.Bytes(), mode)
}

// present reports whether a diff is applied already: an earlier attempt's work may be checked out.
func present(t *tree, f *gitdiff.File, from, to string) bool {
	old, now := t.files[from], t.files[to]
	if f.IsDelete {
		return !old.there
	}
	if !now.there || to != from && old.there {
		return false
	}
	lines := split(string(now.text))
	found := 0
	for _, hunk := range f.TextFragments {
		var want strings.Builder
		for _, line := range hunk.Lines {
			if line.New() {
				want.WriteString(line.Line)
			}
		}
		first, last := hunk.NewPosition-1, hunk.NewPosition-1+hunk.NewLines
		if first < 0 || first > int64(len(lines)) || last > int64(len(lines)) || hunk.NewLines == 0 || strings.Join(lines[first:last], "") != want.String() {
			return false
		}
		found += int(hunk.NewLines)
	}
	if f.IsNew {
		return found == len(lines)
	}
	return found > 0 || to != from
}
