package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// rendered are the tags that GitHub renders; of others it shows only what stands between them
// (https://github.com/gjtorikian/html-pipeline/blob/main/lib/html_pipeline/sanitization_filter.rb). So whole sentences can
// be hidden in the name and the attributes of a tag.
var rendered = names(`a abbr b bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i
	img ins kbd li mark ol p picture pre q rp rt ruby s samp small source span strike strong sub summary sup table tbody td tfoot th thead time tr
	tt ul var wbr`)

// literal are the tags that GitHub shows as text
// (https://github.github.com/gfm/#disallowed-raw-html-extension-).
var literal = names("title textarea style xmp iframe noembed noframes script plaintext")

// addressed are the attributes that are kept, by tag.
var addressed = map[string]string{"a": "href", "img": "src"}

func names(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(list) {
		set[name] = true
	}
	return set
}

// noteHTML keeps the visible part of these lines' HTML.
func (p *page) noteHTML(lines []text.Segment) {
	if len(lines) == 0 {
		return
	}
	var raw strings.Builder
	for _, line := range lines {
		raw.Write(line.Value(p.source))
	}
	start, stop := lines[0].Start, lines[len(lines)-1].Stop
	with, ends := shownHTML(raw.String())
	if !ends {
		stop, with = len(p.text), with+unshown
	}
	p.edits = append(p.edits, edit{start, stop, with})
}

// htmlReader reads blocks of HTML as GitHub does and goldmark does not (https://github.github.com/gfm/#html-blocks):
// textarea is a tag like any other, script, style and pre are so where they are closed, and a tag alone on its line ends a
// list, a quote or a table above it.
type htmlReader struct {
	parser.BlockParser
	paragraph ast.Node // that was looked at last
	looked    int      // lines of it
	table     bool     // it will turn out to be one
}

var (
	textarea = regexp.MustCompile(`(?i)^ {0,3}<textarea`)
	raw      = regexp.MustCompile(`(?i)^ {0,3}<(script|style|pre)\b`)
	alone    = regexp.MustCompile(`^ {0,3}<(/[A-Za-z][A-Za-z0-9-]*|[A-Za-z][A-Za-z0-9-]*(\s+[A-Za-z_:][A-Za-z0-9_.:-]*(\s*=\s*([^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*\s*/?)\s*>\s*$`)
)

// Open begins a block.
func (r *htmlReader) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	if !textarea.Match(line) {
		if n, state := r.BlockParser.Open(parent, reader, pc); n != nil {
			return n, state
		}
	}
	last := pc.LastOpenedBlock().Node
	if raw.Match(line) || !alone.Match(line) || ast.IsParagraph(last) && last.Parent() == parent && !r.isTable(last, reader.Source()) {
		return nil, parser.NoChildren
	}
	n := ast.NewHTMLBlock(ast.HTMLBlockType7)
	reader.AdvanceToEOL()
	n.Lines().Append(segment)
	return n, parser.NoChildren
}

var (
	delimiters = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	pipe       = regexp.MustCompile(`^\s*\||\|\s*$|\\\|`)
)

// isTable says that a paragraph will turn out to be a table: a line of it has as many cells as the delimiters below it.
func (r *htmlReader) isTable(n ast.Node, source []byte) bool {
	if r.paragraph != n {
		r.paragraph, r.looked, r.table = n, 1, false
	}
	cells := func(line []byte) int { return bytes.Count(pipe.ReplaceAll(line, nil), []byte("|")) }
	for ; r.looked < n.Lines().Len(); r.looked++ {
		above, below := n.Lines().At(r.looked-1), n.Lines().At(r.looked)
		if line := below.Value(source); delimiters.Match(line) && cells(line) == cells(above.Value(source)) {
			r.table = true
		}
	}
	return r.table
}

// phraseReader reads HTML within a line; a declaration is for GitHub only what has a space behind its name.
type phraseReader struct{ parser.InlineParser }

var (
	declares = regexp.MustCompile(`^<![A-Za-z]`)
	declared = regexp.MustCompile(`^<![A-Z]+\s`)
)

// Parse reads a piece.
func (r phraseReader) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); declares.Match(line) && !declared.Match(line) {
		return nil
	}
	return r.InlineParser.Parse(parent, block, pc)
}

// noteAsides hides what only browsers show that do not know ruby text, which are none
// (https://html.spec.whatwg.org/#the-rp-element). Where it is not just a few words, where it ends depends on all around it.
func (p *page) noteAsides() {
	for _, at := range anyAside.FindAllStringIndex(p.text, -1) {
		if slices.ContainsFunc(p.code, func(s span) bool { return s.start <= at[0] && at[0] < s.stop }) {
			continue
		}
		words := aside.FindString(p.text[at[0]:])
		if words == "" {
			p.ends = at[0]
			return
		}
		p.hide(at[0], at[0]+len(words))
	}
}

var (
	asideOpens = regexp.MustCompile(`(?i)^<rp[\s/>]`)
	anyAside   = regexp.MustCompile(`(?i)<rp[\s/>]`)
	aside      = regexp.MustCompile(`(?i)^<rp[^<>]*>[^<]*</rp>`)
)

// shownHTML is what a browser shows of a piece of HTML, as HTML; ends is false where it takes all that follows the piece
// for a part of a comment or a tag in it.
func shownHTML(piece string) (shown string, ends bool) {
	var out excerpt
	for piece != "" {
		n := strings.IndexAny(piece, "<&")
		if n != 0 {
			if n < 0 {
				n = len(piece)
			}
			out.put(piece[:n])
			piece = piece[n:]
			continue
		}
		with, kept := "", false
		switch {
		case piece[0] == '&':
			if n = hiddenEntity(piece); n == 0 {
				n, with, kept = 1, "&", true
			}
		case strings.HasPrefix(piece, "<!--"):
			n = commentEnd(piece)
		case strings.HasPrefix(piece, "<!"), strings.HasPrefix(piece, "<?"), strings.HasPrefix(piece, "</") && !tagName.MatchString(piece):
			n = strings.IndexByte(piece, '>') + 1 // https://html.spec.whatwg.org/#bogus-comment-state
		case asideOpens.MatchString(piece):
			n = len(aside.FindString(piece))
		case tagName.MatchString(piece):
			n, with = shownTag(piece)
		default:
			n, with, kept = 1, "<", true
		}
		if n == 0 {
			return out.String(), false
		}
		if kept {
			out.put(with)
		} else {
			out.leave(with)
		}
		piece = piece[n:]
	}
	return out.String(), true
}

var (
	tagName   = regexp.MustCompile(`^</?[A-Za-z][^\s/>]*`)
	attribute = regexp.MustCompile(`^[\s/]*([^\s/>=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?`)
)

const maxAddress = 1000 // letters

// isAddress reports whether value can be the address of a link: no blanks, no brackets and no quotes.
func isAddress(value string) bool {
	return value != "" && utf8.RuneCountInString(value) <= maxAddress && !strings.ContainsAny(value, " \t\n\f\r<>\"'`")
}

// shownTag is the length of the tag at the start of piece, and what is kept of it; 0 if it does not end.
func shownTag(piece string) (length int, kept string) {
	open := tagName.FindString(piece)
	name := strings.ToLower(strings.TrimLeft(open, "</"))
	keep, rest := strings.ToLower(open), piece[len(open):]
	for !strings.HasPrefix(strings.TrimLeft(rest, " \t\n/"), ">") {
		m := attribute.FindStringSubmatch(rest)
		if m == nil {
			return 0, ""
		}
		value := strings.Trim(m[2], `"'`)
		if strings.ToLower(m[1]) == addressed[name] && isAddress(value) {
			keep += " " + addressed[name] + `="` + value + `"`
		}
		rest = rest[len(m[0]):]
	}
	length = len(piece) - len(rest) + strings.Index(rest, ">") + 1
	switch {
	case literal[name]:
		return length, piece[:length]
	case !rendered[name]:
		return length, ""
	}
	return length, keep + ">"
}
