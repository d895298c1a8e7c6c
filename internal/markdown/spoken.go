package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Line is one line of a text.
type Line struct {
	Number int // from 1
	Column int // of its first character, in bytes from 1
	Text   string
}

// Spoken are the lines that begin with word, in any case, and that their author speaks: those of paragraphs of the text itself, not of
// a quote, a list, code, HTML or an HTML comment. What is which is asked of a CommonMark parser, since it is not to be
// seen from the line alone: code and comments reach over lines, and a line below a quote may still belong to it.
// https://spec.commonmark.org/0.31.2/#paragraph-continuation-text
func Spoken(body, word string) []Line {
	return spoken(body, word, func(said string) int {
		if len(said) >= len(word) && strings.EqualFold(said[:len(word)], word) {
			return 0
		}
		return -1
	})
}

// SpokenWithin are the ends of such lines from where word stands in them behind other words of their author.
func SpokenWithin(body, word string) []Line {
	return spoken(body, word, func(said string) int {
		if at := indexFold(said, " "+word); at >= 0 {
			return at + 1
		}
		return -1
	})
}

// indexFold is where a word of ASCII first stands in a text, in any case; -1: nowhere. It is never longer than what it matches.
func indexFold(s, word string) int {
	for i := range len(s) - len(word) + 1 {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// spoken are lines from where find says that what is looked for begins; -1: nowhere.
func spoken(body, word string, find func(said string) int) []Line {
	if indexFold(body, word) < 0 { // parsing takes longer than linear in the length
		return nil
	}
	source := []byte(strings.ReplaceAll(body, "\r\n", "\n"))
	var lines []Line
	for block := parse(source).FirstChild(); block != nil; block = block.NextSibling() {
		// A heading may be a line that somebody underlined by chance, with the "---" above a signature.
		if block.Kind() != ast.KindParagraph && block.Kind() != ast.KindHeading {
			continue
		}
		for i := range block.Lines().Len() {
			segment := block.Lines().At(i)
			whole := strings.TrimLeft(string(segment.Value(source)), " \t\n")
			said := strings.TrimRight(whole, " \t\n")
			at := find(said)
			if at < 0 || !startsLine(source, segment.Start) {
				continue
			}
			if start := segment.Stop - len(whole) + at; plainAt(block, start) && !read(string(source)).hides(start) {
				before := source[:start]
				column := start - strings.LastIndexByte(string(before), '\n')
				lines = append(lines, Line{strings.Count(string(before), "\n") + 1, column, said[at:]})
			}
		}
	}
	return lines
}

func parse(source []byte) ast.Node {
	return goldmark.DefaultParser().Parse(text.NewReader(source))
}

// parseGFM is parse with tables and the like.
func parseGFM(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
}

// Paragraph is the first paragraph of a text itself; "" for none.
func Paragraph(body string) string {
	source := []byte(body)
	for block := parse(source).FirstChild(); block != nil; block = block.NextSibling() {
		if block.Kind() == ast.KindParagraph {
			return strings.TrimSpace(string(block.Lines().Value(source)))
		}
	}
	return ""
}

// plainAt says that plain text of the block itself begins at offset, and not code, HTML or the text of a link.
func plainAt(block ast.Node, offset int) bool {
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok && t.Segment.Start <= offset && offset < t.Segment.Stop {
			return true
		}
	}
	return false
}

// startsLine says that nothing but spaces stands before offset on its line.
func startsLine(source []byte, offset int) bool {
	before := string(source[:offset])
	return strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " ") == ""
}

// CloseFence ends a code block that would otherwise go on and show hidden lines below the text. Whether it would is asked
// of the parser too: fences nest in lists and quotes in ways that no scan of lines gets right.
func CloseFence(text string) string {
	if !swallows(text) {
		return text
	}
	longest := 2
	for _, c := range []string{"`", "~"} {
		for strings.Contains(text, strings.Repeat(c, longest+1)) {
			longest++
		}
	}
	text = strings.TrimRight(text, "\n")
	for _, c := range []string{"`", "~"} {
		if closed := text + "\n" + strings.Repeat(c, longest); !swallows(closed) {
			return closed
		}
	}
	return text
}

// swallows says that an HTML comment below text would stand in a code block of it.
func swallows(text string) bool {
	last := parse([]byte(text + "\n\n<!-- x -->\n")).LastChild()
	for last != nil && last.HasChildren() && last.Type() == ast.TypeBlock && last.Kind() != ast.KindParagraph {
		last = last.LastChild()
	}
	return last != nil && (last.Kind() == ast.KindFencedCodeBlock || last.Kind() == ast.KindCodeBlock)
}
