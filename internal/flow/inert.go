package flow

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is a zero-width space. Words of others stay as they read, and what GitHub would act on is interrupted. Code spans in
// its place would not do: a description that is answered by mail comes back as plain text, and its mentions notify.
// https://github.com/dependabot/dependabot-core/pull/3157
const gap = "\u200b"

// A keyword, and what may stand between it and a reference: any markup. More is caught than GitHub acts on, since it does
// not tell what of Markdown it looks through.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
const keyword = `(?i)(^|[^A-Za-z0-9])(close[sd]?|fix(?:e[sd])?|resolve[sd]?)((?:[^\pL\pN#]|<[^<>]*>)+)`

var (
	closesNumber = regexp.MustCompile(keyword + `((?:(?:[\w.-]+/)?[\w.-]+)?#|GH-)([0-9])`)
	closesPage   = regexp.MustCompile(keyword + `(https?://|(?:[\w.-]+/){3}(?:issues|pull)/)`)
	// mentions is what may begin the name of a person or team: not the middle of an address or of name@version.
	mentions = regexp.MustCompile(`(^|[^A-Za-z0-9])@([A-Za-z0-9])`)
	// swallowing are tags and declarations that may hide what we write below, or keep it from being read as Markdown or
	// as a reference. What else an agent uses of HTML stays.
	swallowing = regexp.MustCompile(`(?i)<([!?]|/?(?:a|code|iframe|math|noembed|noframes|plaintext|pre|script|select|style|svg|template|textarea|title|tt|xmp)\b)`)
	entity     = regexp.MustCompile(`&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
)

// Inert is text of others that reads the same but notifies nobody and closes no issue.
func Inert(text string) string {
	return Unlinked(mentions.ReplaceAllString(text, "${1}@"+gap+"${2}"))
}

// Unlinked is text of others that closes no issue, for what is kept in a history for ever.
func Unlinked(text string) string {
	text = closesNumber.ReplaceAllString(text, "${1}${2}"+gap+"${3}${4}"+gap+"${5}")
	return closesPage.ReplaceAllStringFunc(text, func(found string) string {
		m := closesPage.FindStringSubmatch(found)
		if strings.HasPrefix(m[3], gap) { // it was done before
			return found
		}
		return m[1] + m[2] + gap + m[3] + m[4]
	})
}

// InertMarkdown is the same for Markdown, in which nothing is hidden or swallows what we write below it.
func InertMarkdown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || turns(r) {
			return -1
		}
		return r
	}, lines(strings.ToValidUTF8(text, "\uFFFD")))
	return Inert(swallowing.ReplaceAllString(entity.ReplaceAllStringFunc(text, spelled), "<"+gap+"${1}"))
}

// spelled gives in place of an entity what Inert has to see, or has to see no more: a keyword spelt in entities is shown
// as it was typed.
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

// turns says that a character turns the direction of text.
func turns(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
