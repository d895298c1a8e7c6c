package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Bounds of a train that is drawn.
const (
	drawnCars    = 12
	trainRows    = 50
	trainMembers = 8
	momentForm   = "2 January at 15:04 UTC"
)

// TrainMarkdown draws a merge train as Markdown: who is behind whom, the checks of each car, who waits, and what landed. It links
// into the repository at repoURL; "" leaves the links out. Text that others wrote is shown as code.
func TrainMarkdown(t model.Train, repoURL string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Merge train of %s**: %s\n\n", span(t.Base, 100), landedToday(t))
	if t.Trouble != "" {
		fmt.Fprintf(&b, "It is stopped: %s.\n\n", span(t.Trouble, cellLimit))
	}
	if len(t.Queue) == 0 && len(t.Cars) == 0 {
		b.WriteString("Nobody waits.\n\n")
	}
	if len(t.Cars) > 0 {
		b.WriteString(TrainPicture(t) + "\n\n")
		b.WriteString("| car | state | pull requests | checks | lands |\n| --- | --- | --- | --- | --- |\n")
	}
	var lines []string
	for _, c := range t.Cars {
		lines = append(lines, carRow(c, repoURL))
	}
	shown(&b, lines)
	lines = nil
	for _, q := range t.Queue {
		if q.Car == 0 {
			why := " for a place in a car"
			if q.Why != "" {
				why = ": " + span(q.Why, cellLimit)
			}
			lines = append(lines, fmt.Sprintf("- %s waits%s%s", pullLink(repoURL, q.Number), why, lands(q.ETA, momentForm)))
		}
	}
	shown(&b, lines)
	lines = nil
	for _, l := range t.Landed[:min(len(t.Landed), mostLanded)] {
		lines = append(lines, fmt.Sprintf("- %s landed as %s on %s%s", pullLink(repoURL, l.Number), commit(repoURL, l.SHA), l.At.UTC().Format(momentForm), after(l.Took())))
	}
	shown(&b, lines)
	return strings.TrimRight(b.String(), "\n")
}

// shown writes the first of some lines as a block, and how many are left out.
func shown(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(strings.Join(lines[:min(len(lines), trainRows)], "\n") + "\n\n")
	if n := len(lines) - trainRows; n > 0 {
		fmt.Fprintf(b, "and %d more\n\n", n)
	}
}

// pullLink links a pull request.
func pullLink(repoURL string, number int) string {
	return page(repoURL, fmt.Sprintf("pull/%d", number), fmt.Sprintf("#%d", number))
}

// carRow is a car as a row of a table.
func carRow(c model.TrainCar, repoURL string) string {
	var members, checks []string
	for _, n := range c.Members {
		members = append(members, pullLink(repoURL, n))
	}
	for _, k := range c.Shown() {
		checks = append(checks, markdown.Link(cell(k.Name), k.URL)+" "+k.Doing())
	}
	if len(checks) == 0 && c.Branch != "" && isSHA.MatchString(c.Tip) {
		checks = []string{page(repoURL, "commit/"+c.Tip+"/checks", "checks")}
	}
	if c.Why != "" {
		checks = append(checks, cell(c.Why))
	}
	return fmt.Sprintf("| %d | %s | %s | %s | %s |", c.Number, c.Doing(), strings.Join(members, " "), strings.Join(checks, "<br>"), standing(c, momentForm))
}

// TrainPicture draws the cars of a train as a Mermaid flowchart in a fenced block, each with an arrow to what it stands on. The name
// of the base is the only text of others in it, and is reduced to letters, digits and harmless signs:
// https://mermaid.js.org/syntax/flowchart.html
func TrainPicture(t model.Train) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "    "+format+"\n", args...) }
	b.WriteString("```mermaid\nflowchart RL\n")
	line(`base(["%s"])`, harmless(t.Base))
	last := "base"
	for _, c := range t.Cars[:min(len(t.Cars), drawnCars)] {
		node := fmt.Sprintf("car%d", c.Number)
		line(`%s["car %d: %s<br/>%s"]`, node, c.Number, harmless(c.Doing()), few(c.Members))
		switch {
		case c.Try:
			line("%s -.->|only tried| base", node)
			continue
		case c.Behind != 0:
			line("%s --> car%d", node, c.Behind)
		default:
			line("%s --> base", node)
		}
		last = node
	}
	var waiting []int
	for _, q := range t.Queue {
		if q.Car == 0 {
			waiting = append(waiting, q.Number)
		}
	}
	if n := len(t.Cars) - drawnCars; n > 0 {
		line(`more["%s"]`, plural(n, "more car", "more cars"))
		line("more --> %s", last)
		last = "more"
	}
	if len(waiting) > 0 {
		line(`waiting["waiting<br/>%s"]`, few(waiting))
		line("waiting -.-> %s", last)
	}
	return b.String() + "```"
}

// few names the first of some pull requests.
func few(numbers []int) string {
	text := pulls(numbers[:min(len(numbers), trainMembers)])
	if n := len(numbers) - trainMembers; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// harmless is text of others as a label of a picture, where nothing of it ends its line or begins a statement.
func harmless(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./", r) {
			return r
		}
		return '_'
	}, oneLine(s))
	return cut(s, 60)
}
