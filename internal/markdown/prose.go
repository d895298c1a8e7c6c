package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Prose are the lines of a text that its author says as such, in headings, paragraphs and lists, without their markup: nothing of a
// quote, a code block, HTML or an HTML comment, and two backticks for code within a line. A link is its address, and then its text.
func Prose(body string) []string {
	source := []byte(strings.ReplaceAll(body, "\r\n", "\n"))
	var b strings.Builder
	_ = ast.Walk(parse(source), func(n ast.Node, enters bool) (ast.WalkStatus, error) {
		if !enters {
			if n.Type() == ast.TypeBlock {
				b.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			b.WriteString("``")
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.AutoLink:
			b.Write(n.URL(source))
		case *ast.Link:
			b.WriteString(string(n.Destination) + " ")
		}
		return ast.WalkContinue, nil
	})
	return strings.Split(b.String(), "\n")
}
