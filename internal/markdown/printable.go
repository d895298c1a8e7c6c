package markdown

import (
	"regexp"
	"strings"
	"unicode"
)

// lineBreaks makes those of Windows, and of terminals that write a line again, like all others.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// escapes are terminal escape sequences and strings
// (https://ecma-international.org/publications-and-standards/standards/ecma-48/, 5.4 and 8.3), strings only in the form that
// programs use: the characters of the other form are often halves of letters that were encoded twice.
var escapes = regexp.MustCompile(`(?s)(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\n]*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

// Printable makes foreign text printable: valid UTF-8 with \n at its line ends, without terminal control and bidi
// characters. Whoever looks for something in a text that is posted looks in this one: what is dropped later would join what
// nobody has seen.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, escapes.ReplaceAllString(lineBreaks.Replace(strings.ToValidUTF8(text, "\uFFFD")), ""))
}
