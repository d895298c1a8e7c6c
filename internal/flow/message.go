package flow

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/skipci"
)

// Message cleans an agent's commit message, and says in words what it removed: other authors, directives that skip
// workflows, control characters, mentions, and closing keywords for any issue but this one; 0: for all.
func Message(text string, issue int) (message string, taken []string) {
	take := func(what, now string) {
		if now != text {
			taken, text = append(taken, what), now
		}
	}
	text = strings.TrimSpace(markdown.Lines(strings.ToValidUTF8(text, "\uFFFD")))
	take("control characters", markdown.Printable(text))
	take("trailers that name people", strings.TrimSpace(withoutTrailers(text, people)))
	take("trailers of MergeXO's own", strings.TrimSpace(withoutTrailers(text, ourTrailer)))
	take("words that skip checks", strings.TrimSpace(skipci.Disarmed(withoutTrailers(text, skipci.Trailer))))
	take("closing keywords", unlinked(text, issue))
	take("mentions", mentions.ReplaceAllString(text, "${1}@"+gap+"${2}"))
	if blank(text) {
		text = "Change files"
	}
	return text, taken
}

var (
	// people match trailers that attribute a commit; GitHub shows co-authors, and on whose behalf it was made.
	// https://docs.github.com/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors
	people = regexp.MustCompile(`(?i)^[ \t]*(?:[\pL\pN_-]+[-\x{2010}-\x{2015}]by|on-behalf-of|cc|author|committer)[ \t]*:`)
)

// ourTrailer matches our own trailers about a turn, which an agent must not write.
var ourTrailer = regexp.MustCompile(`(?i)^[ \t]*mergexo-[a-z]+[ \t]*:`)

// withoutTrailers removes matching trailers with their continuation lines.
func withoutTrailers(text string, trailer *regexp.Regexp) string {
	var kept []string
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		folded := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if inside = trailer.MatchString(line) || inside && folded && strings.TrimSpace(line) != ""; !inside {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// unlinked is Unlinked except for one issue.
func unlinked(text string, issue int) string {
	if issue == 0 {
		return Unlinked(text)
	}
	own := regexp.MustCompile(keyword + `(#|GH-)` + strconv.Itoa(issue) + `\b`)
	var b strings.Builder
	at := 0
	for _, m := range own.FindAllStringIndex(text, -1) {
		b.WriteString(Unlinked(text[at:m[0]]) + text[m[0]:m[1]])
		at = m[1]
	}
	return b.String() + Unlinked(text[at:])
}
