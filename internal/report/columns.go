package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// columnsOf is how many characters a line has room for; 0: it may have any length, because no terminal shows it.
func columnsOf(w io.Writer) int {
	if s, ok := w.(*Screen); ok {
		return s.columns
	}
	return 0
}

// narrowest is how many characters of a column stay at least.
const narrowest = 8

// fit cuts the cells of a table so that its lines have room, always in the column that is the widest.
func fit(rows [][]string, columns int) {
	widths, total := widthsOf(rows)
	if columns == 0 || total <= columns {
		return
	}
	for ; total > columns && slices.Max(widths) > narrowest; total-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	for _, row := range rows {
		for i, width := range widths {
			row[i] = shortened(row[i], width)
		}
	}
}

// widthsOf are the widths of a table's columns, and of a line of them.
func widthsOf(rows [][]string) (widths []int, total int) {
	widths = make([]int, len(rows[0]))
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		total += widths[i] + 2
	}
	return widths, total - 2
}

// wrap is a line, behind its lead, broken between words where it has no room; a longer word, such as a link, stays whole. Further lines
// begin below the text, which for an item of a list is behind its bullet.
func wrap(lead, s string, columns int) string {
	if item, ok := strings.CutPrefix(s, "- "); ok && lead == "" {
		lead, s = "- ", item
	}
	if columns == 0 {
		return lead + s + "\n"
	}
	out, at, margin := lead, utf8.RuneCountInString(lead), utf8.RuneCountInString(lead)
	for _, word := range strings.Split(s, " ") {
		width := utf8.RuneCountInString(word)
		switch {
		case at == margin:
		case at+1+width > columns:
			out, at = out+"\n"+strings.Repeat(" ", margin), margin
		default:
			out, at = out+" ", at+1
		}
		out, at = out+word, at+width
	}
	return out + "\n"
}
