package turn

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
)

// All limits of a prompt are in characters, which are Unicode code points.
const (
	promptLimit = 200_000
	textLimit   = 20_000 // of one text
	// rawLimit is how much of a text is looked at to find what of it is shown, and rawTotal how much of all texts: reading
	// Markdown takes more than linear time, and anybody can write long texts.
	rawLimit = 30_000
	rawTotal = 450_000
	rawLeast = 2_000 // once rawTotal is used up
)

// words are a text of others, cleaned, and how many characters of it there are in all.
type words struct {
	text  []rune
	total int
}

// cleaner removes from a text what must not be inside a fence: the fence's boundary and invisible characters.
type cleaner struct {
	boundary string
	raw      int // how many characters were read as Markdown
}

// prose is what of a comment people read on its page. Invisible characters are taken out.
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

// code is a text that nobody reads as Markdown, at most so many characters of it. What is invisible in it is shown by its
// number and not taken out: whoever changes code has to know what it is.
func (c *cleaner) code(text string, most int) words {
	total := utf8.RuneCountInString(text)
	part := head(text, most)
	out := []rune(c.unfence(strings.Trim(visible(part), "\n")))
	return words{out, len(out) + total - utf8.RuneCountInString(part)}
}

// tail is code, cut at its beginning because the end matters.
func (c *cleaner) tail(text string, most int) words {
	all := []rune(text)
	drop := max(len(all)-most, 0)
	out := []rune(c.unfence(strings.Trim(visible(string(all[drop:])), "\n")))
	return words{out, len(out) + drop}
}

// log is the end of what a program printed, without the colours of a terminal.
func (c *cleaner) log(text string, most int) words {
	start := max(len(text)-20*most, 0) // of what is searched for colours
	end := c.tail(colours.ReplaceAllString(text[start:], ""), most)
	end.total += utf8.RuneCountInString(text[:start])
	return end
}

// colours are the control sequences of a terminal (https://www.ecma-international.org/publications-and-standards/standards/ecma-48/).
var colours = regexp.MustCompile("\x1b(\\[[0-9;:?]*[ -/]*[@-~]|[ -/]+[0-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\))")

// unfence takes the boundary out of a text. What stands for it keeps what is left on both sides from making another one.
func (c *cleaner) unfence(text string) string {
	if c.boundary == "" {
		return text
	}
	return strings.ReplaceAll(text, c.boundary, "[...]")
}

// head is the beginning of a text, at most so many characters.
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

// visible writes invisible characters by their numbers, and many in a row by how many they are: what could be read out of
// the numbers would be read by an agent too.
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

// name makes a name of others, or a path, one line.
func name(text string, most int) string {
	text = strings.Join(strings.Fields(visible(head(text, most+1))), " ")
	if utf8.RuneCountInString(text) > most {
		return head(text, most) + "..."
	}
	return text
}

// title makes a title one line, as people read it.
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

// named is a line within a fence that tells something by its name; "" when there is nothing to tell.
func (c *cleaner) named(what, text string) string {
	if text = c.unfence(name(text, 200)); text == "" {
		return ""
	}
	return what + ": " + text
}
