package merge

import (
	"fmt"
	"strings"
)

// fenced shows foreign text verbatim, between fences longer than any run of backticks in it. Long text is cut to its start,
// or with tail to its end.
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
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fmt.Sprintf("%stext\n%s\n%s", fence, text, fence)
}
