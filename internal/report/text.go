package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// escapeSequence is a terminal's CSI or OSC sequence: colors, cursor moves, window titles, the clipboard.
	escapeSequence = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)
	lineBreaks     = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n")
)

// plain makes text safe to print: line breaks of any kind become \n, terminal sequences go, other control characters
// and those that reorder or hide text become U+FFFD, and "##[" is broken up, because the runner obeys it anywhere in a
// line (the old form of a workflow command).
//
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func plain(s string) string {
	s = escapeSequence.ReplaceAllString(lineBreaks.Replace(strings.ToValidUTF8(s, "\uFFFD")), "")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), reorders(r):
			return utf8.RuneError
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "##[", "## [")
}

// leading matches what begins a workflow command: colons at the beginning of a line, or behind blanks.
var leading = regexp.MustCompile(`(?m)((?:^|\r)[\s\v\p{Z}\x{85}]*)::`)

// unobeyed breaks up workflow commands, in the new form and in the old one.
//
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func unobeyed(s string) string {
	return strings.ReplaceAll(leading.ReplaceAllString(s, "${1}: :"), "##[", "## [")
}

// reorders reports whether r changes the direction of the text around it or cannot be seen, so that a reader would be
// shown something else than what is there (CVE-2021-42574). The zero-width joiner stays: emoji and scripts need it.
func reorders(r rune) bool {
	switch {
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r >= 0xE0000 && r <= 0xE007F:
		return true
	case r == 0x200B, r == 0x200E, r == 0x200F, r == 0x061C, r == 0x2060, r == 0xFEFF:
		return true
	}
	return false
}

// oneLine is plain text with its lines joined by spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(plain(s)), " ") }

// cut shortens s to at most limit bytes, never within a character, and says how much is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	keep := limit - len(" ... (cut: 0000000000 bytes more)")
	for keep > 0 && !utf8.RuneStart(s[keep]) {
		keep--
	}
	return fmt.Sprintf("%s ... (cut: %d bytes more)", s[:keep], len(s)-keep)
}

// visible is a comment's text as people see it: without the marker lines that end it.
func visible(s string) string {
	for {
		s = strings.TrimRight(s, " \t\r\n")
		last := strings.LastIndexByte(s, '\n') + 1
		line := strings.TrimSpace(s[last:])
		if !strings.HasPrefix(line, "<!-- mergexo-") || !strings.HasSuffix(line, "-->") {
			return s
		}
		s = s[:last]
	}
}

// short is a head's or key's first characters, as git shows it.
func short(sha string) string {
	sha = oneLine(sha)
	if len(sha) > 10 && utf8.ValidString(sha[:10]) {
		return sha[:10]
	}
	return sha
}

// plural is "1 reply" or "2 replies".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
