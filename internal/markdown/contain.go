package markdown

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

// gap is a zero-width space. Behind an @ it keeps GitHub from notifying anybody, even in mailed replies, where a backslash fails:
// https://github.com/github/cmark-gfm/issues/389, https://github.com/dependabot/dependabot-core/pull/3157
const gap = "\u200b"

// Contain makes foreign Markdown self-contained, so that text below it, after an empty line, renders as written: open code
// blocks are closed, HTML is escaped except for simple tags that are closed, images are links, and link and footnote definitions are
// disabled. Outside code it mentions only people whom known reports by login. Otherwise it reads the same; text over 32 KiB
// becomes one code block. What stands before it on its first line is written by Behind.
func Contain(said string, known func(login string) bool) string {
	said = strings.TrimLeftFunc(Printable(said), unicode.IsSpace) // whoever trimmed it later could make text of code
	if len(said) > maxContained {                                 // parsing Markdown takes longer than linear in its length
		return Fenced(said)
	}
	if opening.MatchString(said) {
		said = withoutHTML(said)
	}
	if strings.Contains(said, "]:") {
		said = outsideCode(said, func(prose, _ string) string { return strings.ReplaceAll(prose, "]:", "]"+gap+":") })
	}
	if at.MatchString(said) {
		said = outsideCode(said, func(prose, before string) string { return unmentioned(prose, before, known) })
	}
	if strings.Contains(said, "![") {
		said = withoutImages(said)
	}
	said = CloseFence(said)
	if !contained(said) || strings.Contains(said, "[") && leadsTo(said, nil) {
		return Fenced(said)
	}
	return said
}

// maxContained is how many bytes are parsed as Markdown. A comment holds twice as many characters.
const maxContained = 32_768

// contained asks the parser whether a table below a text is a top-level table.
func contained(said string) bool {
	source := []byte(said + "\n\n| a | b |\n| --- | --- |\n| c | d |\n")
	last := parseGFM(source).LastChild()
	return last != nil && last.Kind() == table.KindTable && last.ChildCount() == 2
}

// outsideCode changes everything but code. The change also gets the text before its part.
func outsideCode(said string, change func(prose, before string) string) string {
	var b strings.Builder
	at := 0
	for _, code := range read(said).code {
		start, stop := max(at, code.start), max(at, code.stop)
		b.WriteString(change(said[at:start], said[:at]))
		b.WriteString(said[start:stop])
		at = stop
	}
	b.WriteString(change(said[at:], said[:at]))
	return b.String()
}

// opening is what may begin a tag or a declaration, and what makes a link of an address instead.
var (
	opening  = regexp.MustCompile(`<[A-Za-z/!?]`)
	autolink = regexp.MustCompile(`^<(?:(?i:https?|mailto):[^\s<>]*|[A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+)>`)
	// simple are tags that may stay where every one is closed in its turn.
	simple = regexp.MustCompile(`^<(/?)(details|summary|kbd|sub|sup|del|ins|b|i|em|strong)( open)?>`)
	breaks = regexp.MustCompile(`^<br ?/?>`)
)

// withoutHTML escapes tags, except for simple ones if all of them are closed.
func withoutHTML(said string) string {
	if kept, ok := settled(said, true); ok && balanced(kept) {
		return kept
	}
	if bare, ok := settled(said, false); ok {
		return bare
	}
	return strings.ReplaceAll(said, "<", "&lt;") // in code too
}

// settled escapes tags until the result is stable: an escaped tag can change how the rest is parsed. ok is false if that
// takes too long.
func settled(said string, keep bool) (now string, ok bool) {
	for range 10 {
		tagged := false
		outsideCode(said, func(prose, _ string) string {
			for _, m := range opening.FindAllStringIndex(prose, -1) {
				tagged = tagged || stays(prose[m[0]:], keep)
			}
			return prose
		})
		now = outsideCode(said, func(prose, _ string) string { return escaped(prose, keep, tagged) })
		if now == said {
			return now, true
		}
		said = now
	}
	return said, false
}

// stays reports whether a text starts with a tag that may be kept.
func stays(tag string, keep bool) bool {
	return breaks.MatchString(tag) || keep && simple.MatchString(tag)
}

// escaped shows the tags of a part as text, but for those that are to be kept, and addresses: below a tag, on the next line,
// these are tags as well, so that they lose their brackets where the text is tagged.
// https://spec.commonmark.org/0.31.2/#html-blocks
func escaped(prose string, keep, tagged bool) string {
	var b strings.Builder
	at := 0
	for _, m := range opening.FindAllStringIndex(prose, -1) {
		rest := prose[m[0]:]
		link := autolink.FindString(rest)
		switch {
		case m[0] < at || stays(rest, keep) || link != "" && !tagged:
		case link != "":
			b.WriteString(prose[at:m[0]] + " " + link[1:len(link)-1] + " ")
			at = m[0] + len(link)
		default:
			b.WriteString(prose[at:m[0]] + "&lt;")
			at = m[0] + 1
		}
	}
	return b.String() + prose[at:]
}

// balanced reports whether each simple tag is closed, in order.
func balanced(said string) bool {
	var open []string
	whole := true
	outsideCode(said, func(prose, _ string) string {
		for _, m := range opening.FindAllStringIndex(prose, -1) {
			tag := simple.FindStringSubmatch(prose[m[0]:])
			switch {
			case tag == nil:
			case tag[1] == "":
				open = append(open, tag[2])
			case len(open) == 0 || open[len(open)-1] != tag[2] || tag[3] != "":
				whole = false
			default:
				open = open[:len(open)-1]
			}
		}
		return prose
	})
	return whole && len(open) == 0
}

var (
	// at matches everything that renders as an @.
	at = regexp.MustCompile(`@|&(?:#0*64|#[xX]0*40|commat);`)
	// named matches a login that is not part of a longer one or of a team's name.
	// https://docs.github.com/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#mentioning-people-and-teams
	named = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:$|[\s.,;:!?)'"])`)
	link  = regexp.MustCompile(`https?://[^\s<>()]*/$`)
)

// unmentioned disables mentions of others.
func unmentioned(prose, before string, known func(string) bool) string {
	var b strings.Builder
	done := 0
	for _, m := range at.FindAllStringIndex(prose, -1) {
		b.WriteString(prose[done:m[0]])
		done = m[1]
		was, next := prose[m[0]:m[1]], prose[m[1]:]
		left := before + prose[:m[0]]
		if n := len(left); was == "@" && n > 0 && isWord(left[n-1]) {
			b.WriteString(was) // of an address, or name@version
			continue
		}
		login := named.FindStringSubmatch(next)
		switch {
		case was == "@" && (strings.HasPrefix(next, gap) || login != nil && known(login[1])):
			b.WriteString(was)
		case was == "@" && link.MatchString(left[max(0, len(left)-2000):]):
			b.WriteString("%40")
		default:
			b.WriteString("@" + gap)
		}
	}
	return b.String() + prose[done:]
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// Behind puts words before a text of Contain's: on its first line if that begins a paragraph, and above it otherwise, where a code
// block stays one.
func Behind(words, said string) string {
	first := parseGFM([]byte(said)).FirstChild()
	if first == nil || first.Kind() == ast.KindParagraph {
		return words + " " + said
	}
	return words + "\n\n" + said
}

// Part is Contain's text cut to that many bytes, with a notice if it is cut, and still self-contained.
func Part(said string, limit int) string {
	if len(said) <= limit {
		return said
	}
	part := strings.ToValidUTF8(said[:limit], "")
	if i := strings.LastIndexByte(part, '\n'); i > limit/2 {
		part = part[:i]
	}
	return Contain(part, func(string) bool { return false }) + "\n\n*(cut here: what the agent says is longer)*"
}
