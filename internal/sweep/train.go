package sweep

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// mostLanded is how many landings of a train are listed.
const mostLanded = 5

// train tells a merge train: its cars in the order in which they land, who waits, and what landed last.
func train(out *strings.Builder, b model.Board, t model.Train, at func(int) string) {
	fmt.Fprintf(out, "**Merge train of %s**\n\n", markdown.Inline(cut(t.Base, 100)))
	if t.Trouble != "" {
		fmt.Fprintf(out, "It is stopped: %s.\n\n", markdown.Inline(cut(t.Trouble, summaryCell)))
	}
	var lines []string
	for _, c := range t.Cars {
		lines = append(lines, carLine(b, c, at))
	}
	list(out, "| car | state | pull requests | checks |\n| --- | --- | --- | --- |\n", lines)
	lines = nil
	for _, q := range t.Queue {
		if q.Car == 0 {
			why := " for a place in a car"
			if q.Why != "" {
				why = ": " + markdown.Inline(cut(q.Why, summaryCell))
			}
			lines = append(lines, fmt.Sprintf("- %s waits%s", at(q.Number), why))
		}
	}
	if len(t.Cars)+len(lines) == 0 {
		out.WriteString("Nobody waits.\n\n")
	}
	list(out, "", lines)
	lines = nil
	for _, l := range t.Landed[:min(len(t.Landed), mostLanded)] {
		line := fmt.Sprintf("- %s landed as %s on %s", at(l.Number), markdown.Commit(b.URL+"/pull/0", l.SHA), l.At.UTC().Format("2 January at 15:04 UTC"))
		if !l.Asked.IsZero() && l.At.After(l.Asked) {
			line += fmt.Sprintf(", %s after it was asked for", strings.TrimSuffix(l.At.Sub(l.Asked).Round(time.Minute).String(), "0s"))
		}
		lines = append(lines, line)
	}
	list(out, "", lines)
}

// carLine is a car as a row of a table.
func carLine(b model.Board, c model.TrainCar, at func(int) string) string {
	var members, checks []string
	for _, n := range c.Members {
		members = append(members, at(n))
	}
	for _, f := range c.Failed {
		checks = append(checks, markdown.Link(markdown.Inline(cut(f.Name, 100)), f.URL)+" failed")
	}
	if len(checks) == 0 && c.Branch != "" {
		checks = []string{fmt.Sprintf("[checks](%s/commit/%s/checks)", b.URL, c.Tip)}
	}
	state := c.State
	if c.Try {
		state += " (only tried)"
	}
	return fmt.Sprintf("| %d | %s | %s | %s |", c.Number, state, strings.Join(members, " "), markdown.Cell(strings.Join(checks, ", ")))
}
