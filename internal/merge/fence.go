package merge

import (
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
)

// fenced shows foreign text verbatim. Long text is cut to its start, or with tail to its end.
func fenced(text string, most int, tail bool) string {
	text = strings.ToValidUTF8(strings.Trim(text, "\r\n"), "\uFFFD")
	text = strings.ReplaceAll(text, "\x00", "\uFFFD") // as Markdown does
	switch {
	case len(text) <= most:
	case tail:
		text = "[...]" + strings.ToValidUTF8(text[len(text)-most:], "")
	default:
		text = strings.ToValidUTF8(text[:most], "") + "[...]"
	}
	return markdown.Fenced(text)
}
