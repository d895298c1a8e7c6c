package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The parser does not record the positions of links and their definitions, so they are recorded while it reads.

// linkReader reads links and images, and keeps what is shown and their addresses: no titles, no labels, and no alternative
// texts of images.
type linkReader struct {
	parser.InlineParser
	page *page
	open []int // where the brackets of this block were opened
}

// Parse reads what an opening or closing bracket stands for.
func (l *linkReader) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	n := l.InlineParser.Parse(parent, block, pc)
	if line[0] != ']' {
		if n != nil {
			l.open = append(l.open, segment.Start)
		}
		return n
	}
	if len(l.open) == 0 {
		return n
	}
	start := l.open[len(l.open)-1]
	l.open = l.open[:len(l.open)-1]
	_, rest := block.Position()
	switch n := n.(type) {
	case *ast.Link:
		l.page.edits = append(l.page.edits, edit{segment.Start, rest.Start, "](" + target(n.Destination) + ")"})
	case *ast.Image:
		l.page.edits = append(l.page.edits, edit{start, rest.Start, "![](" + target(n.Destination) + ")"})
	}
	return n
}

// CloseBlock forgets the brackets that were left open.
func (l *linkReader) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	l.open = nil
	if closer, ok := l.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// target is an address as shown when hovering over the link. An invalid one could hide sentences.
func target(destination []byte) string {
	if len(destination) > 0 && !isAddress(string(destination)) {
		return "..."
	}
	return string(destination)
}

// definitions removes link definitions: they are invisible, and each link is given its address.
type definitions struct{ page *page }

// Transform takes the definitions out of a paragraph.
func (d definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	before := append([]text.Segment(nil), node.Lines().Sliced(0, node.Lines().Len())...)
	parser.LinkReferenceParagraphTransformer.Transform(node, reader, pc)
	left := map[int]bool{}
	for i := range node.Lines().Len() {
		left[node.Lines().At(i).Stop] = true
	}
	for _, line := range before {
		if !left[line.Stop] {
			d.page.hide(line.Start, line.Start+len(strings.TrimRight(d.page.text[line.Start:line.Stop], "\n")))
		}
	}
}

// noteReader reads footnotes, and records where they start.
type noteReader struct {
	parser.BlockParser
	at map[ast.Node]int
}

// Open begins a footnote.
func (r *noteReader) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, segment := reader.PeekLine()
	n, state := r.BlockParser.Open(parent, reader, pc)
	if n != nil {
		r.at[n] = segment.Start
	}
	return n, state
}
