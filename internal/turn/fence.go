package turn

import (
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
	out := []rune(c.unfence(strings.Trim(markdown.Words(part), "\n")))
	return words{out, len(out) + total - n}
}

// code is text that is not Markdown, up to a limit. Invisible characters are shown by number rather than removed: whoever
// changes code has to see them.
func (c *cleaner) code(text string, most int) words {
	total := utf8.RuneCountInString(text)
	part := head(text, most)
	out := []rune(c.unfence(strings.Trim(markdown.Visible(part), "\n")))
	return words{out, len(out) + total - utf8.RuneCountInString(part)}
}

// tail is code, cut at the start because the end matters.
func (c *cleaner) tail(text string, most int) words {
	all := []rune(text)
	drop := max(len(all)-most, 0)
	out := []rune(c.unfence(strings.Trim(markdown.Visible(string(all[drop:])), "\n")))
	return words{out, len(out) + drop}
}

// log is the end of a program's output, without terminal colors.
func (c *cleaner) log(text string, most int) words {
	start := max(len(text)-20*most, 0) // the part searched for colors
	end := c.tail(markdown.Uncolored(text[start:]), most)
	end.total += utf8.RuneCountInString(text[:start])
	return end
}

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

// name turns a name of others, or a path, into one line.
func name(text string, most int) string {
	text = strings.Join(strings.Fields(markdown.Visible(head(text, most+1))), " ")
	if utf8.RuneCountInString(text) > most {
		return head(text, most) + "..."
	}
	return text
}

// title turns a title into one line, as people read it.
func (c *cleaner) title(text string) string {
	return c.unfence(name(markdown.Title(text), 500))
}

// named is a labeled line within a fence; "" if the text is empty.
func (c *cleaner) named(what, text string) string {
	if text = c.unfence(name(text, 200)); text == "" {
		return ""
	}
	return what + ": " + text
}
