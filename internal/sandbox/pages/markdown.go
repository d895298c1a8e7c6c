package pages

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown shows a comment as GitHub does: GitHub's Markdown, line breaks kept, hidden comments hidden, #7 a link. Of HTML it lets
// through a few tags without any attribute, and shows the rest as text. So nothing of the comment's reaches an attribute but
// what goldmark writes there, which keeps addresses that browsers would run out of links.
func (v *view) markdown(body string) template.HTML {
	tags := &tags{}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(numbers{"/" + v.repo}, 500))),
		goldmark.WithRendererOptions(render.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(tags, 100))))
	var b bytes.Buffer
	if err := md.Convert([]byte(body), &b); err != nil {
		return template.HTML("<pre>" + html.EscapeString(body) + "</pre>") //nolint:gosec // it is escaped
	}
	tags.end(&b)
	return template.HTML(b.String()) //nolint:gosec // goldmark and tags have escaped what is not theirs
}

// numbers makes links of #7, outside of links and code.
type numbers struct{ repo string }

var number = regexp.MustCompile(`(?:^|[\s([,;:])(#([1-9][0-9]{0,8}))\b`)

// Transform is goldmark's.
func (n numbers) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var texts []*ast.Text
	_ = ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function has no error
		switch t := node.(type) {
		case *ast.Link, *ast.CodeSpan, *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				texts = append(texts, t)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, t := range texts {
		n.link(t, reader.Source())
	}
}

// link puts links into a text, which keeps what stands behind the last of them.
func (n numbers) link(t *ast.Text, source []byte) {
	from, parent := t.Segment.Start, t.Parent()
	for _, at := range number.FindAllSubmatchIndex(t.Segment.Value(source), -1) {
		begin, end := t.Segment.Start+at[2], t.Segment.Start+at[3]
		link := ast.NewLink()
		link.Destination = []byte(n.repo + "/issues/" + string(source[begin+1:end]))
		link.AppendChild(link, ast.NewTextSegment(text.NewSegment(begin, end)))
		parent.InsertBefore(parent, t, ast.NewTextSegment(text.NewSegment(from, begin)))
		parent.InsertBefore(parent, t, link)
		from = end
	}
	t.Segment = t.Segment.WithStart(from)
}

// allowed are the tags of HTML that a comment may have.
var allowed = map[string]bool{
	"details": true, "summary": true, "sub": true, "sup": true, "kbd": true, "br": true, "hr": true, "b": true, "i": true, "em": true, "strong": true, "code": true,
	"del": true, "s": true, "u": true, "p": true, "ul": true, "ol": true, "li": true, "blockquote": true, "pre": true,
}

// piece is a hidden comment, or a tag.
var piece = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)|<(/?)([a-zA-Z][a-zA-Z0-9]*)\s*/?>`)

// tags writes the HTML of a comment.
type tags struct{ open []string }

// RegisterFuncs is goldmark's.
func (t *tags) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			t.write(w, string(n.(*ast.RawHTML).Segments.Value(source))) //nolint:forcetypeassert // it is registered for this kind
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.HTMLBlock) //nolint:forcetypeassert // as above
			whole := string(block.Lines().Value(source))
			if block.HasClosure() {
				whole += string(block.ClosureLine.Value(source))
			}
			t.write(w, whole)
		}
		return ast.WalkContinue, nil
	})
	reg.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.FencedCodeBlock) //nolint:forcetypeassert // as above
			writeCode(w, string(block.Language(source)), block.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	reg.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		link := n.(*ast.AutoLink) //nolint:forcetypeassert // as above
		to, shown := link.URL(source), html.EscapeString(string(link.Label(source)))
		switch web := bytes.HasPrefix(to, []byte("https://")) || bytes.HasPrefix(to, []byte("http://")); {
		case entering && web:
			fmt.Fprintf(w, `<a href="%s">%s</a>`, util.EscapeHTML(util.URLEscape(to, false)), shown)
		case entering: // goldmark would take any scheme
			_, _ = w.WriteString(shown) // the writer keeps its error
		}
		return ast.WalkContinue, nil
	})
	reg.Register(ast.KindImage, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering { // nothing is loaded from elsewhere
			_, _ = w.WriteString("<em>[image: ") // the writer keeps its error
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString("]</em>")
		return ast.WalkContinue, nil
	})
}

// writeCode writes a block of code, or the picture that it describes.
func writeCode(w util.BufWriter, language string, code []byte) {
	if language == "mermaid" {
		if chart, ok := readFlowchart(string(code)); ok {
			_, _ = w.WriteString(chart.svg()) // the writer keeps its error
			return
		}
	}
	class := ""
	if language != "" {
		class = ` class="language-` + html.EscapeString(language) + `"`
	}
	fmt.Fprintf(w, "<pre><code%s>%s</code></pre>\n", class, util.EscapeHTML(code))
}

// write writes the tags that are allowed, and the rest as text.
func (t *tags) write(w util.BufWriter, raw string) {
	say := func(s string) { _, _ = w.WriteString(html.EscapeString(html.UnescapeString(s))) } // the writer keeps its error
	said := 0
	for _, at := range piece.FindAllStringSubmatchIndex(raw, -1) {
		say(raw[said:at[0]])
		if said = at[1]; at[4] >= 0 { // no hidden comment
			t.tag(w, raw[at[0]:at[1]], strings.ToLower(raw[at[4]:at[5]]), at[2] != at[3])
		}
	}
	say(raw[said:])
}

func (t *tags) tag(w util.BufWriter, whole, name string, closes bool) {
	switch {
	case !allowed[name]:
		_, _ = w.WriteString(html.EscapeString(whole)) // the writer keeps its error
	case name == "br" || name == "hr":
		fmt.Fprintf(w, "<%s>", name)
	case !closes:
		t.open = append(t.open, name)
		fmt.Fprintf(w, "<%s>", name)
	case slices.Contains(t.open, name): // the end of nothing is left out
		for t.open[len(t.open)-1] != name {
			t.closeOne(w)
		}
		t.closeOne(w)
	}
}

func (t *tags) closeOne(w io.Writer) {
	last := len(t.open) - 1
	fmt.Fprintf(w, "</%s>", t.open[last])
	t.open = t.open[:last]
}

// end closes what the comment has left open.
func (t *tags) end(w io.Writer) {
	for len(t.open) > 0 {
		t.closeOne(w)
	}
}
