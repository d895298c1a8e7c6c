package pages

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

// day is a moment as people read it.
func day(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006, 15:04 UTC"))) //nolint:gosec // digits and names of months
}

// short is the beginning of a commit's name.
func short(sha string) string { return sha[:min(10, len(sha))] }

// subject is the first line of a commit's message.
func subject(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

// words is a constant of the API as people read it: CHANGES_REQUESTED, changes requested.
func words(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", " ")) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ink is which class a label has: a color of ours that comes near its own, since a page has no styles but those of its sheet.
func ink(color string) string {
	rgb, err := strconv.ParseUint(color, 16, 32)
	if err != nil || len(color) != 6 {
		return "grey"
	}
	r, g, b := int(rgb>>16), int(rgb>>8&0xff), int(rgb&0xff)
	high, low := max(r, g, b), min(r, g, b)
	switch {
	case high-low < 40:
		return "grey"
	case high == r && g > (r+b)/2:
		return "amber"
	case high == r && b > g+60:
		return "violet"
	case high == r:
		return "red"
	case high == g:
		return "green"
	case r > g+20:
		return "violet"
	}
	return "blue"
}

// args gives a template several values: names and values by turns.
func args(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}
