package flow

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/markdown"
)

// gap is a zero-width space. It keeps foreign text readable but breaks what GitHub would act on. Code spans would not do: a
// description answered by mail comes back as plain text, and its mentions notify.
// https://github.com/dependabot/dependabot-core/pull/3157
const gap = "\u200b"

// keyword matches a closing keyword and any markup before a reference. It matches more than GitHub acts on, since GitHub
// does not document which Markdown it ignores.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
const keyword = `(?i)(^|[^A-Za-z0-9])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)((?:[^\pL\pN#]|<[^<>]*>)+)`

var (
	closesNumber = regexp.MustCompile(keyword + `((?:(?:[\w.-]+/)?[\w.-]+)?#|GH-)([0-9])`)
	closesPage   = regexp.MustCompile(keyword + `(https?://|(?:[\w.-]+/){3}(?:issues|pull)/)`)
	// mentions match the start of a person's or team's name, but not within an email address or name@version.
	mentions = regexp.MustCompile(`(^|[^A-Za-z0-9])@([A-Za-z0-9])`)
	// swallowing matches tags and declarations that may hide the text below, or keep it from being parsed as Markdown or as
	// a reference. Other HTML stays.
	swallowing = regexp.MustCompile(`(?i)<([!?]|/?(?:a|code|iframe|math|noembed|noframes|plaintext|pre|script|select|style|svg|template|textarea|title|tt|xmp)\b)`)
	entity     = regexp.MustCompile(`&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
)

// Inert makes foreign text notify nobody and close no issue; it reads the same.
func Inert(text string) string {
	return Unlinked(mentions.ReplaceAllString(text, "${1}@"+gap+"${2}"))
}

// Unlinked makes foreign text close no issue, for what stays in the history.
func Unlinked(text string) string {
	text = closesNumber.ReplaceAllString(text, "${1}${2}"+gap+"${3}${4}"+gap+"${5}")
	return closesPage.ReplaceAllStringFunc(text, func(found string) string {
		m := closesPage.FindStringSubmatch(found)
		if strings.HasPrefix(m[3], gap) { // done before
			return found
		}
		return m[1] + m[2] + gap + m[3] + m[4]
	})
}

// InertMarkdown is Inert for Markdown; nothing in it can hide or swallow the text below.
func InertMarkdown(text string) string {
	text = markdown.Printable(text)
	return Inert(swallowing.ReplaceAllString(entity.ReplaceAllStringFunc(text, spelled), "<"+gap+"${1}"))
}

// spelled decodes an entity that Inert has to see; one of a letter or digit is shown as typed, since it could spell a keyword.
func spelled(e string) string {
	s := html.UnescapeString(e)
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case size != len(s):
		return e
	case unicode.IsSpace(r):
		return " "
	case r == '#', r == '@':
		return s + gap
	case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return "&amp;" + e[1:]
	case r == ':', r == '/', r == '-', r == '.':
		return s
	}
	return e
}

// turns reports whether a character changes the text's direction.
func turns(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
