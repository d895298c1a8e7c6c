package doctor

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// at is where a node begins; -1: the text has no such place. YAML counts characters, from 1.
func (s source) at(n *yaml.Node) int {
	offset := s.line(n.Line)
	if offset < 0 {
		return -1
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(string(s[offset:]))
		if offset += size; size == 0 || s[offset-1] == '\n' {
			return -1
		}
	}
	return offset
}

// line is where a line begins; -1: there is none.
func (s source) line(number int) int {
	offset := 0
	for range number - 1 {
		next := strings.IndexByte(string(s[offset:]), '\n')
		if next < 0 {
			return -1
		}
		offset += next + 1
	}
	return offset
}

// endOfLine is where the line ends that has this place, in front of its line break.
func (s source) endOfLine(offset int) int {
	end := len(s)
	if next := strings.IndexByte(string(s[offset:]), '\n'); next >= 0 {
		end = offset + next
	}
	if end > offset && s[end-1] == '\r' {
		end--
	}
	return end
}

// lineBreak is how the lines of the text end.
func (s source) lineBreak() string {
	if strings.Contains(string(s), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// insert is the text with some more at a place.
func (s source) insert(at int, more string) string { return string(s[:at]) + more + string(s[at:]) }

// end is where a scalar of one line ends; -1: it is none.
func (s source) end(n *yaml.Node) int {
	start := s.at(n)
	if start < 0 || n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return -1
	}
	raw := string(s[start:s.endOfLine(start)])
	length := -1
	switch n.Style &^ yaml.TaggedStyle {
	case 0:
		if strings.HasPrefix(raw, n.Value) {
			length = len(n.Value)
		}
	case yaml.SingleQuotedStyle: // no branch filter has a quote in it
		if text := "'" + n.Value + "'"; strings.HasPrefix(raw, text) {
			length = len(text)
		}
	case yaml.DoubleQuotedStyle:
		if text := `"` + n.Value + `"`; strings.HasPrefix(raw, text) {
			length = len(text)
		}
	}
	if length < 0 {
		return -1
	}
	return start + length
}

// like is the filter with the quotes of another one.
func like(n *yaml.Node) string {
	if n.Style&yaml.SingleQuotedStyle != 0 {
		return "'" + trainPattern + "'"
	}
	return `"` + trainPattern + `"`
}

// addBranch is the text with the filter at the end of a list; "": it is not clear where that is.
func (s source) addBranch(list *yaml.Node) string {
	switch {
	case list.Kind == yaml.ScalarNode:
		start, end := s.at(list), s.end(list)
		if start < 0 || end < 0 || list.Style == 0 && strings.ContainsAny(list.Value, "[]{},") {
			return ""
		}
		return string(s[:start]) + "[" + string(s[start:end]) + ", " + like(list) + "]" + string(s[end:])
	case list.Kind != yaml.SequenceNode || len(list.Content) == 0:
		return ""
	}
	last := list.Content[len(list.Content)-1]
	start, end := s.at(last), s.end(last)
	if start < 0 || end < 0 {
		return ""
	}
	if list.Style&yaml.FlowStyle != 0 {
		if !strings.HasPrefix(strings.TrimLeft(string(s[end:]), " \t\r\n"), "]") { // a comma, or a comment
			return ""
		}
		return s.insert(end, ", "+like(last))
	}
	before := string(s[s.line(last.Line):start])
	if strings.Trim(before, " ") != "-" {
		return ""
	}
	return s.insert(s.endOfLine(start), s.lineBreak()+before+like(last))
}

// addPush is the text with the event push as the first below on; "": it is not clear where that is.
func (s source) addPush(top, on *yaml.Node) string {
	first := on.Content[0]
	key := s.at(keyOf(top, on))
	if on.Style&yaml.FlowStyle != 0 || key < 0 || first.Kind != yaml.ScalarNode || first.Anchor != "" {
		return ""
	}
	end := s.endOfLine(key)
	_, rest, _ := strings.Cut(string(s[key:end]), ":")
	if rest = strings.TrimSpace(rest); rest != "" && !strings.HasPrefix(rest, "#") {
		return ""
	}
	indent, br := strings.Repeat(" ", first.Column-1), s.lineBreak()
	return s.insert(end, br+indent+"push:"+br+indent+`  branches: ["`+trainPattern+`"]`)
}

// keyOf is the key of a value.
func keyOf(n, value *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1] == value {
			return n.Content[i]
		}
	}
	return &yaml.Node{}
}
