package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Block is the content of a fenced code block.
type Block struct {
	Lines  []string
	Closed bool // it has an end of its own
}

// Blocks finds the fenced code blocks in one of these languages that a comment's page shows, outside of quotes. What is one is
// asked of the parser: fences nest, and HTML reaches over lines (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
func Blocks(body string, languages ...string) []Block {
	p := read(lineBreaks.Replace(strings.ToValidUTF8(body, "\uFFFD")))
	var found []Block
	for _, n := range p.blocks {
		start := n.Info.Segment.Start
		quoted := strings.Contains(p.text[strings.LastIndexByte(p.text[:start], '\n')+1:start], ">")
		if slices.Contains(languages, string(n.Language(p.source))) && !quoted && !p.hides(start) {
			found = append(found, p.block(n))
		}
	}
	return found
}

// hides reports whether the page does not show what begins at offset.
func (p *page) hides(offset int) bool {
	return offset >= p.ends || slices.ContainsFunc(p.edits, func(e edit) bool { return e.start <= offset && offset < e.stop })
}

// block reads what stands between the fences.
func (p *page) block(n *ast.FencedCodeBlock) Block {
	var b Block
	_, below, _ := strings.Cut(p.text[n.Info.Segment.Stop:], "\n")
	if lines := n.Lines(); lines.Len() > 0 {
		b.Lines = strings.Split(strings.TrimSuffix(string(lines.Value([]byte(p.text))), "\n"), "\n")
		below = p.text[lines.At(lines.Len()-1).Stop:]
	}
	end, _, _ := strings.Cut(below, "\n")
	b.Closed = strings.Contains(end, "```") || strings.Contains(end, "~~~")
	return b
}
