package manual

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

var (
	picture = regexp.MustCompile(`(?m)^!\[[^\]]*\]\([^)]*\)\n\n?`)
	link    = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]*)\)`)
)

// Plain is a page for a terminal: without pictures, with links that name a command or an address, with tables in columns or as
// lists, and with indented blocks.
func Plain(page string) string {
	var b strings.Builder
	lines := strings.SplitAfter(picture.ReplaceAllString(page, ""), "\n")
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.HasPrefix(lines[i], "```"):
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				b.WriteString(strings.TrimRight("    "+lines[i], " \n") + "\n")
			}
		case strings.HasPrefix(lines[i], "|"):
			var rows [][]string
			for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
				rows = append(rows, cells(plainLinks(lines[i])))
			}
			i--
			b.WriteString(table(rows))
		default:
			b.WriteString(plainLinks(lines[i]))
		}
	}
	return b.String()
}

func plainLinks(line string) string {
	return link.ReplaceAllStringFunc(line, func(found string) string {
		parts := link.FindStringSubmatch(found)
		text, to := parts[1], parts[2]
		name, _, _ := strings.Cut(to, "#")
		topic := strings.TrimPrefix(strings.TrimSuffix(name, ".md"), "schemas/")
		switch {
		case name == "":
			return text
		case !strings.Contains(topic, "/"):
			return fmt.Sprintf("%s (mergexo help %s)", text, topic)
		case strings.HasPrefix(to, "../../"):
			return fmt.Sprintf("%s (https://github.com/mergexo/mergexo/blob/main/%s)", text, strings.TrimPrefix(to, "../../"))
		}
		return fmt.Sprintf("%s (%s)", text, to)
	})
}

// cells are those of a row of a Markdown table, in which \| is a bar of the text.
func cells(row string) []string {
	const bar = "\x00"
	row = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(row, `\|`, bar)), "|"), "|")
	all := strings.Split(row, "|")
	for i, cell := range all {
		all[i] = strings.ReplaceAll(strings.TrimSpace(cell), bar, "|")
	}
	return all
}

// widest is how many characters a line of columns may have.
const widest = 100

// table sets rows, the first of which are the headings and the second the line below them, in columns where they fit, or else
// as a list.
func table(rows [][]string) string {
	if len(rows) < 3 {
		return ""
	}
	head, rows := rows[0], rows[2:]
	var b strings.Builder
	columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if strings.Join(head, "") != "" {
		fmt.Fprintf(columns, "  %s\n", strings.ToUpper(strings.Join(head, "\t")))
	}
	for r, row := range rows {
		rows[r] = append(row, make([]string, max(0, len(head)-len(row)))...)[:len(head)]
		fmt.Fprintf(columns, "  %s\n", strings.Join(rows[r], "\t"))
	}
	_ = columns.Flush() // into memory
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		if lines[i] = strings.TrimRight(line, " "); utf8.RuneCountInString(lines[i]) > widest {
			return list(head, rows)
		}
	}
	return strings.Join(lines, "\n")
}

// list has the first cell of each row on a line of its own and the others below it, with their headings where there are several.
func list(head []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "  %s\n", row[0])
		for c, cell := range row[1:] {
			if name := head[c+1]; name != "" && len(row) > 2 {
				cell = name + ": " + cell
			}
			fmt.Fprintf(&b, "      %s\n", cell)
		}
	}
	return b.String()
}
