package markdown

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Shown is a comment without what its page hides, so that an agent reads what people see. It is the author's own text with
// parts removed rather than a rendering, so that `__init__` and the like stay as written. It removes HTML comments, HTML
// tags that GitHub does not render, attributes other than addresses, definitions of links, titles and labels of links,
// texts of images, unreferenced footnotes, table cells beyond the header's, text after a code block's language, and
// entities of invisible characters. Code stays, HTML comments in it too, and so do folded details, which are a click away.
//
// Where parsers differ, it removes more: an unclosed HTML comment removes the rest of its block if Markdown takes it for
// text, and the rest of everything where a browser would. Diagrams and formulas are code here. Invisible characters are
// left to the caller, by Invisible: removing them first would make this another text than the one GitHub parses.
func Shown(body string) string {
	return read(lineBreaks.Replace(strings.ToValidUTF8(body, "\uFFFD"))).shown()
}

// Words is what an agent reads of a comment: what its page shows, without invisible characters.
func Words(body string) string { return Seen(Shown(body)) }

// Seen is a text without invisible characters.
func Seen(text string) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, text)
}

// Says reports whether the page of a comment shows anything: a character that is no mere markup, or an image.
func Says(body string) bool {
	if Opens(body) { // parsing takes longer than linear in the length
		return true
	}
	text := strings.NewReplacer(unended, "", unshown, "").Replace(Words(body))
	rest := strings.Trim(html.UnescapeString(wordless.ReplaceAllString(text, "")), " \t\n\u00A0>#*-")
	return rest != "" || strings.Contains(text, "<img ")
}

// Opens reports whether a comment begins with a letter or a digit, which its page shows whatever follows.
func Opens(body string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(body))
	return unicode.In(first, unicode.L, unicode.Nd) && !Invisible(first)
}

// wordless are tags, and links without a text.
var wordless = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:[\s/][^>]*)?>|\[\]\([^)]*\)`)

// Invisible reports whether a character has no shape, changes the text's direction, or looks different on each machine:
// format and control characters other than line break and tab, fillers, variation selectors, private use, and line
// separators, which only some readers take for line breaks.
func Invisible(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' || r == '\U0001D159' // an empty Braille pattern, an empty note
}

// edit is a part of the source that the page changes or hides.
type edit struct {
	start, stop int
	with        string
}

// span is a part of the source.
type span struct{ start, stop int }

// page is a source with what is known of it.
type page struct {
	text   string
	source []byte // the same as the parser read it
	edits  []edit
	code   []span
	blocks []*ast.FencedCodeBlock
	ends   int // nothing is shown from here on
}

// tabbed is a tag followed by a tab, which begins a block of HTML for GitHub and not for goldmark.
var tabbed = regexp.MustCompile(`(?m)(</?[A-Za-z][A-Za-z0-9-]*)\t`)

func read(body string) *page {
	p := &page{text: body, ends: len(body), source: tabbed.ReplaceAll([]byte(body), []byte("$1 "))}
	links := &linkReader{InlineParser: parser.NewLinkParser(), page: p}
	notes := &noteReader{BlockParser: extension.NewFootnoteBlockParser(), at: map[ast.Node]int{}}
	blocks := append(parser.DefaultBlockParsers(), util.Prioritized(notes, 999))
	for i := range blocks {
		if blocks[i].Priority == 900 { // as the documentation of DefaultBlockParsers has it
			blocks[i].Value = &htmlReader{BlockParser: parser.NewHTMLBlockParser()}
		}
	}
	reader := parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(extension.NewFootnoteParser(), 101), util.Prioritized(links, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(phraseReader{parser.NewRawHTMLParser()}, 400), util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(definitions{p}, 100), util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
	)
	root := reader.Parse(text.NewReader(p.source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.note(n, notes.at)
		}
		return ast.WalkContinue, nil
	})
	p.noteAsides()
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.stop, a.stop)) })
	slices.SortFunc(p.code, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return p
}

func (p *page) hide(start, stop int) { p.edits = append(p.edits, edit{start, stop, ""}) }

// note records what a node says about the source.
func (p *page) note(n ast.Node, notes map[ast.Node]int) {
	switch n := n.(type) {
	case *ast.CodeSpan:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				p.code = append(p.code, span{t.Segment.Start, t.Segment.Stop})
			}
		}
	case *ast.FencedCodeBlock:
		for i := range n.Lines().Len() {
			p.code = append(p.code, span{n.Lines().At(i).Start, n.Lines().At(i).Stop})
		}
		if n.Info != nil {
			p.noteLanguage(n.Info.Segment)
			p.blocks = append(p.blocks, n)
		}
	case *ast.RawHTML:
		if first := n.Segments.At(0); !asideOpens.Match(first.Value(p.source)) { // noteAsides knows more of those
			p.noteHTML(n.Segments.Sliced(0, n.Segments.Len()))
		}
	case *ast.HTMLBlock:
		lines := n.Lines().Sliced(0, n.Lines().Len())
		if n.HasClosure() {
			lines = append(slices.Clip(lines), n.ClosureLine)
		}
		p.noteHTML(lines)
	case *table.TableRow:
		p.noteRow(n)
	case *table.Footnote:
		if n.Index < 0 {
			p.hide(notes[n], p.end(n, notes[n]))
		}
	}
}

// language is what begins the first line of a code block and shows in its colors: a language, or a suggestion's lines.
var language = regexp.MustCompile(`^[A-Za-z0-9_+#.:-]{1,20}$`)

func (p *page) noteLanguage(s text.Segment) {
	info := string(s.Value(p.source))
	first, _, _ := strings.Cut(strings.ReplaceAll(info, "\t", " "), " ")
	if !language.MatchString(first) {
		first = ""
	}
	p.hide(s.Start+len(first), s.Stop)
}

// noteRow hides a row's cells beyond its table's header.
func (p *page) noteRow(row *table.TableRow) {
	last, ok := row.LastChild().(*table.TableCell)
	if !ok || last.Lines().Len() == 0 {
		return
	}
	from := last.Lines().At(0).Stop
	line, _, _ := strings.Cut(p.text[from:], "\n")
	if rest := strings.TrimSpace(line); rest != "" && rest != "|" {
		p.edits = append(p.edits, edit{from, from + len(line), " |"})
	}
}

// end is where a block ends, with everything in it; a block of nothing ends with its line.
func (p *page) end(n ast.Node, start int) int {
	line, _, _ := strings.Cut(p.text[start:], "\n")
	end := start + len(line)
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && c.Type() == ast.TypeBlock && c.Lines().Len() > 0 {
			end = max(end, c.Lines().At(c.Lines().Len()-1).Stop)
		}
		return ast.WalkContinue, nil
	})
	for _, e := range p.edits { // definitions are nobody's lines
		if e.start >= start && e.start <= end {
			end = max(end, e.stop)
		}
	}
	return end
}

const (
	unended = "[left out: an HTML comment without an end]"
	unshown = "[left out: the page shows nothing of what follows here]"
)

// shown applies the edits to the source.
func (p *page) shown() string {
	var out excerpt
	edits, code := p.edits, p.code
	at := 0
	for at < p.ends {
		for len(edits) > 0 && edits[0].start < at { // within what is gone
			edits = edits[1:]
		}
		for len(code) > 0 && code[0].stop <= at {
			code = code[1:]
		}
		next := p.ends
		if len(edits) > 0 {
			next = min(next, edits[0].start)
		}
		switch {
		case next == at:
			out.leave(edits[0].with)
			at = max(at, edits[0].stop)
			edits = edits[1:]
		case len(code) > 0 && code[0].start <= at:
			stop := min(code[0].stop, next)
			out.put(p.text[at:stop])
			at = stop
		default:
			if len(code) > 0 {
				next = min(next, code[0].start)
			}
			at += p.prose(&out, at, next)
		}
	}
	if at < len(p.text) {
		out.leave(unshown)
	}
	return out.String()
}

// prose writes text that is neither code nor HTML, up to next at most, and returns where it stopped. It also removes text
// that looks like an HTML comment or declaration, since GitHub might parse it as one.
func (p *page) prose(out *excerpt, at, next int) int {
	part := p.text[at:next]
	i := strings.IndexAny(part, "<&")
	if i != 0 {
		if i < 0 {
			i = len(part)
		}
		out.put(part[:i])
		return i
	}
	n := hiddenEntity(part)
	comment := strings.HasPrefix(part, "<!--")
	switch {
	case comment:
		n = commentEnd(part)
	case declares.MatchString(part):
		n = strings.IndexByte(part, '>') + 1
	}
	if n > 0 {
		out.leave("")
		return n
	}
	if !comment {
		out.put(part[:1])
		return 1
	}
	out.leave(unended)
	if end := blockEnd.FindStringIndex(part); end != nil {
		return end[0]
	}
	return len(strings.TrimRight(part, "`")) // of the code that may follow
}

// blockEnd is where a paragraph ends at the latest.
var blockEnd = regexp.MustCompile("\n[ \t>]*(\n|$|```|~~~)")

// excerpt is a text with parts left out.
type excerpt struct {
	strings.Builder
	gap bool // the last part was
}

// leave writes a replacement for a removed part.
func (e *excerpt) leave(with string) {
	e.WriteString(with)
	e.gap = true
}

// put writes text. Text on both sides of a gap must not join into the start of a comment.
func (e *excerpt) put(text string) {
	if before := e.String(); e.gap && strings.HasPrefix(text, "!") && strings.HasSuffix(before, "<") ||
		e.gap && strings.HasPrefix(text, "-") && (strings.HasSuffix(before, "<!") || strings.HasSuffix(before, "<!-")) {
		e.WriteByte(' ')
	}
	e.WriteString(text)
	e.gap = e.gap && text == ""
}

// commentEnd is the length of the HTML comment at the start of a text; 0 if it does not end.
func commentEnd(text string) int {
	for _, empty := range []string{"<!-->", "<!--->"} {
		if strings.HasPrefix(text, empty) {
			return len(empty)
		}
	}
	end := strings.Index(text[len("<!--"):], "-->")
	if end < 0 {
		return 0
	}
	return end + len("<!---->")
}

var entity = regexp.MustCompile(`^&(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,40});`)

// hiddenEntity is the length of the entity at the start of a text, if it stands for invisible characters.
func hiddenEntity(text string) int {
	name := entity.FindString(text)
	if name == "" || strings.ContainsFunc(html.UnescapeString(name), func(r rune) bool { return !Invisible(r) }) {
		return 0
	}
	return len(name)
}
