package markdown

import (
	"fmt"
	"regexp"
	"strings"
)

// lineBreaks makes those of Windows, and of terminals that write a line again, like all others.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// escapes are terminal escape sequences and strings
// (https://ecma-international.org/publications-and-standards/standards/ecma-48/, 5.4 and 8.3), strings only in the form that
// programs use: the characters of the other form are often halves of letters that were encoded twice.
var escapes = regexp.MustCompile(`(?s)(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\n]*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

// Printable makes foreign text printable: valid UTF-8 with \n at its line ends, without invisible characters, in which a text
// can hide another. Those that scripts, emoji and texts of ours need stay, one or two at a time. Whoever looks for something in
// a text that is posted looks in this one: what is dropped later would join what nobody has seen.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if Invisible(r) && !strings.ContainsRune(joiners, r) {
			return -1
		}
		return r
	}, escapes.ReplaceAllString(lineBreaks.Replace(strings.ToValidUTF8(text, "\uFFFD")), ""))
	return joined.ReplaceAllString(text, "$1")
}

// joiners are a zero-width space, a non-joiner, a joiner, and the selectors of an emoji's two looks.
const joiners = "\u200b\u200c\u200d\ufe0e\ufe0f"

var joined = regexp.MustCompile("([" + joiners + "]{2})[" + joiners + "]+")

// Uncolored is a program's output without the terminal's escape sequences.
func Uncolored(text string) string { return escapes.ReplaceAllString(text, "") }

// Visible writes invisible characters by their numbers, and a long run of them by its length: an agent could decode a
// message from the numbers.
func Visible(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	var out strings.Builder
	var run []rune
	flush := func() {
		if len(run) > 3 {
			fmt.Fprintf(&out, "[%d invisible characters]", len(run))
		} else {
			for _, r := range run {
				fmt.Fprintf(&out, "[%U]", r)
			}
		}
		run = run[:0]
	}
	for _, r := range text {
		if Invisible(r) {
			run = append(run, r)
			continue
		}
		flush()
		out.WriteRune(r)
	}
	flush()
	return out.String()
}

// Title is a title as people read it, without invisible characters. It is no Markdown.
func Title(text string) string {
	return Seen(lineSeparators.Replace(strings.ToValidUTF8(text, "\uFFFD")))
}

var lineSeparators = strings.NewReplacer("\u2028", " ", "\u2029", " ", "\r", " ")

// Lines normalizes line ends, and removes a byte order mark.
func Lines(text string) string { return lineBreaks.Replace(strings.TrimPrefix(text, "\uFEFF")) }
