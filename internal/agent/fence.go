package agent

import (
	"slices"
	"strings"
)

// block is the content of one fenced code block. Of a suggestion, no lines at all mean that the commented lines go.
type block struct {
	lines  []string
	closed bool
}

// suggestions finds the suggestion blocks of a comment.
func suggestions(body string) []block { return blocks(body, "suggestion") }

// blocks finds the fenced code blocks whose info string's first word is one of these
// (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). A fence inside another fence, in a quote or indented by four
// or more is none.
func blocks(body string, kinds ...string) []block {
	var found []block
	var current *block
	var char byte
	var length, indent int
	inside := false
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSuffix(line, "\r")
		c, n, in, info := fence(line)
		switch {
		case inside && n >= length && c == char && info == "":
			inside = false
			if current != nil {
				current.closed = true
				found, current = append(found, *current), nil
			}
		case inside:
			if current != nil {
				current.lines = append(current.lines, unindent(line, indent))
			}
		case n > 0:
			inside, char, length, indent = true, c, n, in
			if word, _, _ := strings.Cut(info, " "); slices.Contains(kinds, word) {
				current = &block{}
			}
		}
	}
	if current != nil {
		found = append(found, *current)
	}
	return found
}

// fence reads a line as a fence: its character, its length (0: it is none), its indentation and its info string.
func fence(line string) (char byte, length, indent int, info string) {
	rest := strings.TrimLeft(line, " ")
	indent = len(line) - len(rest)
	if indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return 0, 0, 0, ""
	}
	char = rest[0]
	length = len(rest) - len(strings.TrimLeft(rest, string(char)))
	info = strings.Trim(rest[length:], " \t")
	if length < 3 || char == '`' && strings.Contains(info, "`") {
		return 0, 0, 0, ""
	}
	return char, length, indent, info
}

// unindent removes up to n leading spaces: as many as the opening fence has.
func unindent(line string, n int) string {
	for range n {
		line = strings.TrimPrefix(line, " ")
	}
	return line
}
