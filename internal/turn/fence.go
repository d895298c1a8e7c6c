package turn

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
)

// All limits of a prompt are in characters: Unicode code points.
const (
	promptLimit = 200_000
	textLimit   = 20_000 // of one text
	// rawLimit is how much of a text is parsed, and rawTotal how much of all texts: parsing Markdown takes more than linear
	// time, and anybody can write long texts.
	rawLimit = 30_000
	rawTotal = 450_000
	rawLeast = 2_000 // once rawTotal is used up
)

// words are a cleaned text of others, with its full length in characters.
type words struct {
	text  []rune
	total int
}

// cleaner removes from a text what must not be in a fence: the fence's boundary and invisible characters.
type cleaner struct {
	boundary string
	raw      int // characters parsed as Markdown so far
}

// prose is the visible part of a comment. Invisible characters are removed.
func (c *cleaner) prose(text string) words {
	total := utf8.RuneCountInString(text)
	part := head(text, min(rawLimit, max(rawTotal-c.raw, rawLeast)))
	n := utf8.RuneCountInString(part)
	c.raw += n
	shown := strings.Map(func(r rune) rune {
		if markdown.Invisible(r) {
			return -1
		}
		return r
	}, markdown.Shown(part))
	out := []rune(c.unfence(strings.Trim(shown, "\n")))
	return words{out, len(out) + total - n}
}

// code is text that is not Markdown, up to a limit. Invisible characters are shown by number rather than removed: whoever
// changes code has to see them.
func (c *cleaner) code(text string, most int) words {
	total := utf8.RuneCountInString(text)
	part := head(text, most)
	out := []rune(c.unfence(strings.Trim(visible(part), "\n")))
	return words{out, len(out) + total - utf8.RuneCountInString(part)}
}

// tail is code, cut at the start because the end matters.
func (c *cleaner) tail(text string, most int) words {
	all := []rune(text)
	drop := max(len(all)-most, 0)
	out := []rune(c.unfence(strings.Trim(visible(string(all[drop:])), "\n")))
	return words{out, len(out) + drop}
}

// log is the end of a program's output, without terminal colors.
func (c *cleaner) log(text string, most int) words {
	start := max(len(text)-20*most, 0) // the part searched for colors
	end := c.tail(colours.ReplaceAllString(text[start:], ""), most)
	end.total += utf8.RuneCountInString(text[:start])
	return end
}

// colours: https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
var colours = regexp.MustCompile("\x1b(\\[[0-9;:?]*[ -/]*[@-~]|[ -/]+[0-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\))")

// unfence removes the boundary from a text. Its replacement keeps the remains from joining into another one.
func (c *cleaner) unfence(text string) string {
	if c.boundary == "" {
		return text
	}
	return strings.ReplaceAll(text, c.boundary, "[...]")
}

// head is the start of a text, up to a limit.
func head(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

// visible writes invisible characters by their numbers, and a long run of them by its length: an agent could decode a
// message from the numbers.
func visible(text string) string {
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
		if markdown.Invisible(r) {
			run = append(run, r)
			continue
		}
		flush()
		out.WriteRune(r)
	}
	flush()
	return out.String()
}

// name turns a name of others, or a path, into one line.
func name(text string, most int) string {
	text = strings.Join(strings.Fields(visible(head(text, most+1))), " ")
	if utf8.RuneCountInString(text) > most {
		return head(text, most) + "..."
	}
	return text
}

// title turns a title into one line, as people read it.
func (c *cleaner) title(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\r':
			return ' '
		case markdown.Invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return c.unfence(name(text, 500))
}

// named is a labeled line within a fence; "" if the text is empty.
func (c *cleaner) named(what, text string) string {
	if text = c.unfence(name(text, 200)); text == "" {
		return ""
	}
	return what + ": " + text
}
