package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Object writes any value of ours as one JSON object on one line.
func Object(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	// JSON allows to write a character by its number, so the text stays the same and no "##[" is left for the runner.
	line = bytes.ReplaceAll(line, []byte("##["), []byte(`#\u0023[`))
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// titleLimit is how many characters of a title or a branch a row shows.
const titleLimit = 60

// Statuses writes a table of pull requests and of what waits for a person, one a line, and then a paragraph on each.
func Statuses(w io.Writer, all []model.Status, waiting []model.Need) error {
	if len(all) > 0 {
		return listing(w, all, waiting)
	}
	if err := text(w, "No open pull request is tracked.\n"); err != nil || len(waiting) == 0 {
		return err
	}
	return Needs(w, waiting)
}

// Needs writes what waits for a person as a table, one a line, and then a paragraph on each.
func Needs(w io.Writer, all []model.Need) error {
	if len(all) == 0 {
		return text(w, "Nothing is waiting for a person.\n")
	}
	return listing(w, nil, all)
}

// listing is the table of pull requests and of what else waits for a person, with the paragraphs.
func listing(w io.Writer, pulls []model.Status, waiting []model.Need) error {
	rows, said, columns := [][]string{{"NUMBER", "STATE", "WHAT TO DO", "WHO", "SINCE"}}, "", columnsOf(w)
	add := func(number int, state string, n *model.Need) {
		row := []string{fmt.Sprintf("#%d", number), state, "-", "-", "-"}
		if n != nil {
			row = append(row[:2], n.Headline, n.Who, n.Since.UTC().Format(time.DateOnly))
		}
		rows = append(rows, row)
	}
	listed := map[int]bool{}
	for _, s := range pulls {
		listed[s.Number] = true
		add(s.Number, s.State.Words(), s.Need)
		said += fmt.Sprintf("\n#%d %s\n", s.Number, dash(brief(s.Title))) + about(s, columns)
		if s.Need != nil {
			said += todo(*s.Need, columns)
		}
	}
	for _, n := range waiting {
		if !listed[n.Number] {
			add(n.Number, needStates[n.Kind], &n)
			said += "\n" + strings.TrimSpace(fmt.Sprintf("#%d %s", n.Number, brief(n.Title))) + "\n" + todo(n, columns)
		}
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return text(w, said)
}

// needStates are the states of what waits for a person, in a word or two.
var needStates = map[model.NeedKind]string{model.NeedBlock: "blocked", model.NeedMerge: "not merged", model.NeedFork: "from a fork", model.NeedIssue: "waiting"}

// about is what there is to say about a pull request, whether or not it waits for a person.
func about(s model.Status, columns int) string {
	said := oneLine(s.Branch) + " at " + dash(short(s.Head))
	if s.Issue != 0 {
		said += fmt.Sprintf(", for #%d", s.Issue)
	}
	if s.Pending > 0 {
		said += "; " + markdown.Count(s.Pending, "comment") + " without an answer"
	}
	if t := s.LastTurn; t != nil {
		said += fmt.Sprintf("; last turn %s %s", t.Phase, t.At.UTC().Format(clockForm))
	}
	return wrap("  ", said, columns) + delegates(s, columns)
}

// todo is what to do in sentences, each command on a line of its own, and the link to the comment that tells more.
func todo(n model.Need, columns int) string {
	said := fmt.Sprintf("%s (%s), since %s.", n.Headline, oneLine(n.Reason), n.Since.UTC().Format(clockForm))
	if n.Expected != "" && n.Observed != "" {
		said += fmt.Sprintf(" Expected %s, found %s.", short(n.Expected), short(n.Observed))
	}
	words, commands := n.Ways()
	next := oneLine(words) + "."
	if len(commands) > 0 {
		next = strings.TrimPrefix(oneLine(words)+fmt.Sprintf(", or comment on #%d:", n.Number), ", or ")
	}
	out := wrap("  ", said, columns) + wrap("  ", fmt.Sprintf("Who: %s. Next: %s", n.Who, next), columns)
	for _, c := range commands {
		out += "    " + oneLine(c) + "\n"
	}
	return out + "  " + oneLine(n.URL) + "\n"
}

// Issue writes the status of the work for an issue, and what it waits for.
func Issue(w io.Writer, i model.BoardIssue, step string) error {
	state, columns := "has not begun", columnsOf(w)
	if i.Status != "" {
		state = strings.ReplaceAll(string(i.Status), "_", " ")
	}
	said := wrap("", fmt.Sprintf("issue #%d: %s; %s", i.Number, state, oneLine(step)), columns)
	if i.RoadmapURL != "" {
		said += wrap("", fmt.Sprintf("roadmap: %s; see %s", model.TallyOf(i.Roadmap), oneLine(i.RoadmapURL)), columns)
	}
	if i.Need != nil {
		said += "\n" + todo(*i.Need, columns)
	}
	return text(w, said)
}

// Why writes why a turn or a merge starts or does not: because, which is Markdown of ours, then what waits for a person and who
// are delegates. The conditions follow where all is set.
func Why(w io.Writer, s model.Status, because string, turns, merges []model.Gate, all bool) error {
	said, columns := "", columnsOf(w)
	for line := range strings.Lines(fmt.Sprintf("#%d: %s", s.Number, plain(markdown.Flat(because)))) {
		said += wrap("", strings.TrimSuffix(line, "\n"), columns)
	}
	said += delegates(s, columns)
	if s.Need != nil {
		said += "\n" + todo(*s.Need, columns)
	}
	if all {
		said += gates("to start a turn", turns, columns) + gates("to be merged", merges, columns)
	}
	return text(w, said)
}

// delegates are the people who may have a pull request merged; "" for none.
func delegates(s model.Status, columns int) string {
	if len(s.Delegates) == 0 {
		return ""
	}
	return wrap("  ", "can also be merged by "+oneLine(strings.Join(s.Delegates, ", "))+", by delegation", columns)
}

// gates are the conditions of something, one a line.
func gates(title string, list []model.Gate, columns int) string {
	if len(list) == 0 {
		return ""
	}
	row := func(name, met, evidence string) string {
		return wrap(fmt.Sprintf("%-20s  %-3s  ", name, met), oneLine(evidence), columns)
	}
	out := "\n" + row(title, "MET", "EVIDENCE")
	for _, g := range list {
		met := "yes"
		if !g.Met {
			met = "NO"
		}
		out += row(strings.ReplaceAll(string(g.Name), "_", " "), met, g.Evidence)
	}
	return out
}

func table(w io.Writer, rows [][]string) error {
	fit(rows, columnsOf(w))
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if _, err := fmt.Fprintln(t, strings.Join(r, "\t")); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	head, rest, _ := strings.Cut(b.String(), "\n") // colored as a whole: escape sequences would count as width
	return text(w, inkOf(w).in(strong, head)+"\n"+rest)
}

// brief shortens a user's text to one line of a column.
func brief(s string) string { return shortened(oneLine(s), titleLimit) }

func shortened(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

func dash(s string) string { return cmp.Or(s, "-") }

// text writes lines for people. It is where what others wrote ends up, so the runner obeys nothing in it.
func text(w io.Writer, s string) error {
	if _, err := io.WriteString(w, unobeyed(s)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
