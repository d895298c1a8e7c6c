package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// add writes items into a list, or makes the field when it is not there: then flow says in which style.
func (f *front) add(name string, items []item, flow bool) ([]byte, error) {
	key, value := f.field(name)
	switch {
	case value == nil:
		return f.insert(f.end, f.newField(name, items, flow)), nil
	case isBlank(value):
		return f.insert(key.Line+1, f.block("  - ", items, 0, f.ending(key.Line))), nil
	case value.Style&yaml.FlowStyle != 0:
		return f.addFlow(value, items)
	}
	return f.addBlock(value, items)
}

// insert puts lines before the line with this index. A node's Line is an index too: it counts from 1 without the "---".
func (f *front) insert(at int, rows []string) []byte {
	return []byte(strings.Join(slices.Insert(slices.Clone(f.lines), at, rows...), ""))
}

// ending is how a line ends.
func (f *front) ending(line int) string {
	if strings.HasSuffix(f.lines[line], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func (f *front) newField(name string, items []item, flow bool) []string {
	end := f.ending(0)
	if !flow {
		return append([]string{plainOr(name) + ":" + end}, f.block("  - ", items, 0, end)...)
	}
	var texts []string
	for _, i := range items {
		texts = append(texts, i.text(0))
	}
	return []string{plainOr(name) + ": [" + strings.Join(texts, ", ") + "]" + end}
}

func (f *front) block(prefix string, items []item, style yaml.Style, end string) []string {
	var rows []string
	for _, i := range items {
		rows = append(rows, prefix+i.text(style)+end)
	}
	return rows
}

var dash = regexp.MustCompile(`^[ ]*-[ \t]+$`)

// addBlock writes below the last item of a list of lines. An item of several lines is refused by reading the result.
func (f *front) addBlock(value *yaml.Node, items []item) ([]byte, error) {
	last := value.Content[len(value.Content)-1]
	row := f.lines[last.Line]
	if last.Column-1 > len(row) || !dash.MatchString(row[:last.Column-1]) {
		return nil, errors.New("a list is written in a way that cannot be added to")
	}
	return f.insert(last.Line+1, f.block(row[:last.Column-1], items, last.Style, f.ending(last.Line))), nil
}

// addFlow writes behind the last item of a list in brackets.
func (f *front) addFlow(value *yaml.Node, items []item) ([]byte, error) {
	at := 0
	for _, row := range f.lines[:value.Line] {
		at += len(row)
	}
	column := bytes.IndexByte(f.text[at:], '[') // no bracket stands before it in its line, unless in a key
	if row := f.lines[value.Line]; value.Column-1 < len(row) && row[value.Column-1] == '[' {
		column = value.Column - 1
	}
	if column < 0 {
		return nil, errors.New("a list is written in a way that cannot be added to")
	}
	end, behind, comma := closing(f.text, at+column)
	if end < 0 {
		return nil, errors.New("a list in brackets does not end")
	}
	style := yaml.Style(0)
	if n := len(value.Content); n > 0 {
		style = value.Content[n-1].Style
	}
	var out bytes.Buffer
	out.Write(f.text[:behind])
	for k, i := range items {
		switch {
		case k == 0 && (comma || len(value.Content) == 0):
			if comma {
				out.WriteByte(' ')
			}
		default:
			out.WriteString(", ")
		}
		out.WriteString(i.text(style))
	}
	if comma {
		out.WriteByte(',')
	}
	out.Write(f.text[behind:])
	return out.Bytes(), nil
}

// closing finds the bracket that closes the one at start, and the place behind the last thing before it, which may be a
// comma.
func closing(text []byte, start int) (end, behind int, comma bool) {
	depth, behind := 0, start+1
	for i := start; i < len(text); i++ {
		switch b := text[i]; b {
		case '[', '{':
			depth++
			behind, comma = i+1, false
		case ']', '}':
			if depth--; depth == 0 {
				return i, behind, comma
			}
			behind, comma = i+1, false
		case '"', '\'':
			if i = quoteEnd(text, i); i < 0 {
				return -1, 0, false
			}
			behind, comma = i+1, false
		case '#':
			if strings.IndexByte(" \t\n", text[i-1]) >= 0 {
				i += max(0, bytes.IndexByte(text[i:], '\n')-1)
				continue
			}
			behind, comma = i+1, false
		case ' ', '\t', '\r', '\n':
		default:
			behind, comma = i+1, b == ','
		}
	}
	return -1, 0, false
}

// quoteEnd is the index of the quote that ends the text that begins at i. A quote within a plain text is none: it does not
// follow a space or a bracket.
func quoteEnd(text []byte, i int) int {
	if strings.IndexByte(" \t\n[{,:", text[i-1]) < 0 {
		return i
	}
	for j := i + 1; j < len(text); j++ {
		switch {
		case text[i] == '"' && text[j] == '\\':
			j++
		case text[j] == text[i] && text[i] == '\'' && j+1 < len(text) && text[j+1] == '\'':
			j++
		case text[j] == text[i]:
			return j
		}
	}
	return -1
}

// text is how an item is written: in the style of its neighbor where that says the same.
func (i item) text(style yaml.Style) string {
	if i.nested || i.tag != "!!str" {
		return i.value
	}
	if style&yaml.SingleQuotedStyle != 0 && !strings.ContainsAny(i.value, "\n\r\t\x00") {
		if quoted := "'" + strings.ReplaceAll(i.value, "'", "''") + "'"; reads(quoted, i.value) {
			return quoted
		}
	}
	if style&yaml.DoubleQuotedStyle != 0 {
		return quote(i.value)
	}
	return plainOr(i.value)
}

// plainOr writes a text without quotes where that is the same text, in a list of either style.
func plainOr(value string) string {
	if reads(value, value) {
		return value
	}
	return quote(value)
}

// reads tells whether something written as an item is read as this text.
func reads(written, value string) bool {
	if strings.ContainsAny(written, "\n\r") {
		return false
	}
	for _, doc := range []string{"[" + written + "]", "- " + written, "- " + written + "\n- x"} {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(doc), &node); err != nil || len(node.Content) != 1 {
			return false
		}
		list := node.Content[0]
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			return false
		}
		first := list.Content[0]
		if len(list.Content) > 1 && !strings.HasSuffix(doc, "\n- x") || first.Kind != yaml.ScalarNode || first.Tag != "!!str" || first.Value != value || node.Content[0].FootComment != "" || first.LineComment != "" {
			return false
		}
	}
	return true
}

// quote writes a text in double quotes: YAML reads JSON's.
func quote(value string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprintf("%q", value)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
