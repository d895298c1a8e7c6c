// Package frontmatter finds the YAML front matter of Markdown files and merges lists in it, as knowledge bases keep their tags
// and links there.
//
// The base's text is kept byte for byte. Only items that the other side has and the base lacks are written into it, in the style
// of its list. The package refuses what it does not understand, since a YAML document has too many ways to mean one thing for an
// edit that is nearly right.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

// maxFront is how many bytes of front matter are read.
const maxFront = 1 << 20

// Error says which side could not be read, or could not be edited.
type Error struct {
	Base bool // it is the base's text; else the branch's
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Has tells whether a text begins with front matter, closed or not: its first line is "---".
func Has(text []byte) bool {
	first, _, ok := bytes.Cut(text, []byte("\n"))
	return ok && string(bytes.TrimRight(first, " \t\r")) == "---"
}

// Merge gives the base's text with what the branch's lists have beyond the base's, below the base's items and in the
// branch's order. Two items are the same when their Slug is. Nothing else of the branch is taken and nothing of the base is
// changed or removed, so merging again gives the same bytes. A field that the base does not have is put at the end of its
// front matter. *Error when a side has no front matter, is not YAML, has a key twice, or has something other than a list of
// texts in one of the fields.
func Merge(base, branch []byte, fields []string) ([]byte, error) {
	ours, err := parse(base)
	if err != nil {
		return nil, &Error{Base: true, Err: err}
	}
	theirs, err := parse(branch)
	if err != nil {
		return nil, &Error{Err: err}
	}
	out := base
	for _, field := range fields {
		more, err := theirs.items(field)
		if err != nil {
			return nil, &Error{Err: err}
		}
		have, err := ours.items(field)
		if err != nil {
			return nil, &Error{Base: true, Err: err}
		}
		add := missing(have, more)
		if len(add) == 0 {
			continue
		}
		if out, err = ours.add(field, add, theirs.isFlow(field)); err != nil {
			return nil, &Error{Base: true, Err: err}
		}
		was := ours
		if ours, err = parse(out); err == nil {
			err = only(was, ours, field, append(slices.Clone(have), add...))
		}
		if err != nil {
			return nil, &Error{Base: true, Err: fmt.Errorf("write into %q: %w", field, err)}
		}
	}
	return out, nil
}

// missing are the items of more whose slugs are neither in have nor twice in more.
func missing(have, more []item) []item {
	seen := map[string]bool{}
	for _, i := range have {
		seen[Slug(i.value)] = true
	}
	var add []item
	for _, i := range more {
		if slug := Slug(i.value); !seen[slug] {
			seen[slug] = true
			add = append(add, i)
		}
	}
	return add
}

// Slug is what two items are compared by: of a wiki link ("[[Some Page|label]]") the page, without quotes and space around
// it, in lower case, in Unicode's composed form, and with one dash for every run of spaces, underscores and dashes.
func Slug(value string) string {
	s := strings.Trim(strings.TrimSpace(value), `"'`)
	if inner, ok := strings.CutPrefix(strings.TrimSpace(s), "[["); ok {
		if inner, ok = strings.CutSuffix(inner, "]]"); ok {
			s, _, _ = strings.Cut(inner, "|")
		}
	}
	s = strings.ToLower(norm.NFC.String(strings.TrimSpace(s)))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '\t' || r == '\u00a0' }), "-")
}

// item is one entry of a list.
type item struct {
	value  string
	tag    string // as YAML takes it: !!str, !!int, ...
	nested bool   // a wiki link without quotes, which YAML reads as a list in a list
}

// front is the front matter of a text.
type front struct {
	text  []byte
	lines []string // of the whole text, with their ends
	end   int      // index of the line that closes the front matter
	root  *yaml.Node
}

// parse reads front matter.
func parse(text []byte) (*front, error) {
	if !Has(text) {
		return nil, errors.New("there is no front matter")
	}
	f := &front{text: text, lines: slices.Collect(strings.Lines(string(text)))}
	size := 0
	for i, row := range f.lines[1:] {
		if bare := strings.TrimRight(row, " \t\r\n"); bare == "---" || bare == "..." {
			f.end = i + 1
			break
		}
		if size += len(row); size > maxFront {
			return nil, fmt.Errorf("it has over %d bytes", maxFront)
		}
	}
	if f.end == 0 {
		return nil, errors.New("it is not closed")
	}
	inside := strings.Join(f.lines[1:f.end], "")
	if strings.ContainsAny(strings.ReplaceAll(inside, "\r\n", "\n"), "\r\u0085\u2028\u2029") { // YAML counts these as ends of lines, too
		return nil, errors.New("it has a line break that is neither LF nor CRLF: replace it")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(inside), &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 { // empty, or comments
		return f, nil
	}
	f.root = doc.Content[0]
	if f.root.Kind != yaml.MappingNode || f.root.Style&yaml.FlowStyle != 0 {
		return nil, errors.New("it is not a list of fields")
	}
	seen := map[string]bool{}
	for i := 0; i < len(f.root.Content); i += 2 {
		key := f.root.Content[i].Value
		if seen[key] {
			return nil, fmt.Errorf("%q occurs twice", key)
		}
		seen[key] = true
	}
	return f, nil
}

// field finds the key and the value of a field; nil when it is not there.
func (f *front) field(name string) (key, value *yaml.Node) {
	if f.root == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(f.root.Content); i += 2 {
		if f.root.Content[i].Value == name {
			return f.root.Content[i], f.root.Content[i+1]
		}
	}
	return nil, nil
}

func (f *front) isFlow(name string) bool {
	_, value := f.field(name)
	return value != nil && value.Style&yaml.FlowStyle != 0
}

// items reads a list; a field that is not there or has no value is an empty one.
func (f *front) items(name string) ([]item, error) {
	_, value := f.field(name)
	if value == nil || isBlank(value) {
		return nil, nil
	}
	if value.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%q is not a list", name)
	}
	var list []item
	for _, node := range value.Content {
		nested := false
		for range 2 {
			if node.Kind == yaml.SequenceNode && len(node.Content) == 1 && node.Style&yaml.FlowStyle != 0 {
				node, nested = node.Content[0], true
			}
		}
		if node.Kind != yaml.ScalarNode || node.Anchor != "" {
			return nil, fmt.Errorf("%q has something other than texts in it", name)
		}
		i := item{value: node.Value, tag: node.Tag, nested: nested}
		if nested {
			i.value = "[[" + i.value + "]]"
		}
		list = append(list, i)
	}
	return list, nil
}

// isBlank tells whether a value is not written at all.
func isBlank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "" && n.Anchor == ""
}

// only checks an edit by reading it again: the field has what it should, and nothing else has changed.
func only(was, now *front, name string, want []item) error {
	got, err := now.items(name)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, want, func(a, b item) bool { return a.value == b.value && a.tag == b.tag }) {
		return errors.New("the list is written in a way that cannot be added to")
	}
	if was.rest(name) != now.rest(name) {
		return errors.New("another field would change")
	}
	return nil
}

// rest is everything but one field and where things stand.
func (f *front) rest(name string) string {
	var out strings.Builder
	if f.root != nil {
		for i := 0; i+1 < len(f.root.Content); i += 2 {
			if f.root.Content[i].Value != name {
				describe(&out, f.root.Content[i])
				describe(&out, f.root.Content[i+1])
			}
		}
	}
	return out.String() + strings.Join(f.lines[f.end:], "")
}

func describe(out *strings.Builder, n *yaml.Node) {
	fmt.Fprintf(out, "%d %d %q %q %q(", n.Kind, n.Style, n.Tag, n.Value, n.Anchor)
	for _, child := range n.Content {
		describe(out, child)
	}
	out.WriteString(")")
}
