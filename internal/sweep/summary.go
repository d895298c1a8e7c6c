package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Bounds that keep a summary under the 1 MiB that GitHub takes for one step
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits).
const (
	summaryRows  = 200
	summaryCell  = 300 // characters
	matrixSize   = 12  // pull requests in a drawn matrix
	summaryLimit = 900 << 10
)

// SummaryText renders the job summary of a sweep as Markdown within GitHub's limit: what needs a person, what was done, what is
// left, and which pull requests conflict. Text that others wrote is shown as code. Trains are the drawings of merge trains.
func SummaryText(b model.Board, reports []model.Report, trains ...string) string {
	at := func(n int) string { return fmt.Sprintf("[#%d](%s/issues/%d)", n, b.URL, n) } // GitHub redirects to a pull request
	var out strings.Builder
	fmt.Fprintf(&out, "### MergeXO: sweep of %s\n\n", b.Repo)
	list(&out, "**A person is needed**\n\n", needs(b, at))
	if done := rows(reports, at); len(done) > 0 {
		list(&out, "| | result | what was done |\n| --- | --- | --- |\n", done)
	} else {
		out.WriteString("There was nothing to do.\n\n")
	}
	if b.Left > 0 {
		fmt.Fprintf(&out, "%s left for the next sweep", markdown.Count(b.Left, "number"))
		if b.LeftWhy != "" {
			fmt.Fprintf(&out, ": %s", markdown.Inline(markdown.Cut(b.LeftWhy, summaryCell)))
		}
		out.WriteString("\n\n")
	}
	for _, drawn := range trains {
		out.WriteString(drawn + "\n\n")
	}
	conflicts(&out, b.Conflicts, at)
	fmt.Fprintf(&out, "<sub>Open: %s, %d untracked, and %s.</sub>\n", markdown.Count(len(b.Pulls), "tracked pull request"), b.Untracked, markdown.Count(len(b.Issues), "issue"))
	return whole(out.String())
}

// whole cuts a text that is too long, at a line break.
func whole(text string) string {
	if len(text) <= summaryLimit {
		return text
	}
	text = text[:summaryLimit]
	return text[:strings.LastIndexByte(text, '\n')+1] + "\n[cut: the rest did not fit]\n"
}

// list writes lines under a heading, if there are any.
func list(out *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	out.WriteString(head + strings.Join(lines[:min(len(lines), summaryRows)], "\n") + "\n\n")
	if n := len(lines) - summaryRows; n > 0 {
		fmt.Fprintf(out, "and %d more\n\n", n)
	}
}

// needs are what people have to do.
func needs(b model.Board, at func(int) string) []string {
	var lines []string
	for _, n := range b.Needs() {
		lines = append(lines, fmt.Sprintf("- %s: [%s](%s) (%s): %s; %s %s", at(n.Number), n.Headline, n.URL, n.Who, markdown.Inline(markdown.Cut(n.Next, 100)),
			markdown.Inline(markdown.Cut(n.Reason, 100)), markdown.Inline(markdown.Cut(n.Title, 100))))
	}
	return lines
}

// rows are the results of the numbers that the sweep worked on.
func rows(reports []model.Report, at func(int) string) []string {
	var lines []string
	for _, r := range reports {
		did := deeds(r.Effects)
		if r.Result == model.ResultNothing && did == "" {
			continue
		}
		if r.Opened.Number != 0 {
			did = strings.TrimPrefix(did+"; opened "+at(r.Opened.Number), "; ")
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(r.Reason), "\n"); first != "" {
			did = strings.TrimPrefix(did+"; "+markdown.Inline(markdown.Cut(first, summaryCell)), "; ")
		}
		where := "repository"
		if r.Number != 0 {
			where = at(r.Number)
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", where, r.Result, markdown.Cell(did)))
	}
	return lines
}

// deeds counts effects that were applied, or would be, by their kinds.
func deeds(effects []model.Effect) string {
	count := map[string]int{}
	for _, e := range effects {
		switch e.Status {
		case "applied":
			count[e.Kind]++
		case "planned":
			count[e.Kind+" (planned)"]++
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d × %s", count[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// conflicts draws who conflicts with whom: as a matrix where that is readable, else as a list.
func conflicts(out *strings.Builder, all []model.BoardConflict, at func(int) string) {
	var numbers []int
	cells := map[[2]int]int{} // files
	for _, c := range all {
		numbers = append(numbers, c.Number, c.With)
		cells[[2]int{c.Number, c.With}], cells[[2]int{c.With, c.Number}] = len(c.Paths), len(c.Paths)
	}
	slices.Sort(numbers)
	numbers = slices.DeleteFunc(slices.Compact(numbers), func(n int) bool { return n == 0 })
	if len(numbers) == 0 {
		return
	}
	if len(numbers) > matrixSize {
		var lines []string
		for _, c := range slices.SortedFunc(slices.Values(all), func(a, b model.BoardConflict) int { return cmp.Or(a.Number-b.Number, a.With-b.With) }) {
			with := "its base"
			if c.With != 0 {
				with = at(c.With)
			}
			line := fmt.Sprintf("- %s with %s", at(c.Number), with)
			if len(c.Paths) > 0 {
				line += " in " + files(c.Paths, maxPeerPaths)
			}
			lines = append(lines, line)
		}
		list(out, "**Conflicts**\n\n", lines)
		return
	}
	out.WriteString("**Conflicts**, in files\n\n| | base |")
	for _, n := range numbers {
		fmt.Fprintf(out, " %s |", at(n))
	}
	out.WriteString("\n| --- | :-: |" + strings.Repeat(" :-: |", len(numbers)) + "\n")
	for _, row := range numbers {
		fmt.Fprintf(out, "| %s |", at(row))
		for _, column := range append([]int{0}, numbers...) {
			cell := ""
			if n, is := cells[[2]int{row, column}]; is {
				cell = fmt.Sprint(max(n, 1))
			}
			fmt.Fprintf(out, " %s |", cell)
		}
		out.WriteString("\n")
	}
	out.WriteString("\n")
}
