package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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

// Statuses writes a table of pull requests, one per line, and what waits for a person.
func Statuses(w io.Writer, all []model.Status, waiting []model.Need) error {
	if err := standings(w, all); err != nil || len(waiting) == 0 {
		return err
	}
	if err := text(w, "\n"); err != nil {
		return err
	}
	return Needs(w, waiting)
}

func standings(w io.Writer, all []model.Status) error {
	if len(all) == 0 {
		return text(w, "No open pull request is tracked.\n")
	}
	rows := [][]string{{"PR", "ISSUE", "STATE", "PENDING", "LAST TURN", "HEAD", "BRANCH", "TITLE"}}
	for _, s := range all {
		state, last, issue := s.State.Words(), "-", "-"
		if s.Block != nil {
			state += " (" + oneLine(s.Block.Reason) + ")"
		}
		if t := s.LastTurn; t != nil {
			last = string(t.Phase) + " " + t.At.UTC().Format("2006-01-02 15:04")
		}
		if s.Issue != 0 {
			issue = fmt.Sprintf("#%d", s.Issue)
		}
		rows = append(rows, []string{fmt.Sprintf("#%d", s.Number), issue, state, fmt.Sprint(s.Pending), last, short(s.Head), brief(s.Branch), brief(s.Title)})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return delegates(w, all)
}

// Needs writes what waits for a person as a table, one a line.
func Needs(w io.Writer, all []model.Need) error {
	if len(all) == 0 {
		return text(w, "Nothing is waiting for a person.\n")
	}
	rows := [][]string{{"NUMBER", "WHAT TO DO", "WHO", "NEXT", "REASON", "EXPECTED", "OBSERVED", "SINCE", "COMMENT"}}
	for _, n := range all {
		rows = append(rows, []string{fmt.Sprintf("#%d", n.Number), n.Headline, n.Who, oneLine(n.Next), oneLine(n.Reason), dash(short(n.Expected)), dash(short(n.Observed)),
			n.Since.UTC().Format("2006-01-02 15:04"), oneLine(n.URL)})
	}
	return table(w, rows)
}

// Issue writes the status of the work for an issue, and what it waits for.
func Issue(w io.Writer, i model.BoardIssue, step string) error {
	state := "has not begun"
	if i.Status != "" {
		state = strings.ReplaceAll(string(i.Status), "_", " ")
	}
	said := fmt.Sprintf("issue #%d: %s; %s\n", i.Number, state, oneLine(step))
	if i.RoadmapURL != "" {
		said += fmt.Sprintf("roadmap: %s; see %s\n", model.TallyOf(i.Roadmap), oneLine(i.RoadmapURL))
	}
	if err := text(w, said); err != nil || i.Need == nil {
		return err
	}
	if err := text(w, "\n"); err != nil {
		return err
	}
	return Needs(w, []model.Need{*i.Need})
}

// Why writes why a turn or a merge starts or does not: because, which is Markdown of ours, then what waits for a person and who
// are delegates. The conditions follow where all is set; else only their number does.
func Why(w io.Writer, s model.Status, because string, turns, merges []model.Gate, all bool) error {
	if err := text(w, fmt.Sprintf("#%d: %s\n", s.Number, plain(markdown.Flat(because)))); err != nil {
		return err
	}
	if err := delegates(w, []model.Status{s}); err != nil {
		return err
	}
	if s.Need != nil {
		if err := text(w, "\n"); err != nil {
			return err
		}
		if err := Needs(w, []model.Need{*s.Need}); err != nil {
			return err
		}
	}
	if !all {
		return nil
	}
	for _, part := range []struct {
		title string
		list  []model.Gate
	}{{"to start a turn", turns}, {"to be merged", merges}} {
		if len(part.list) == 0 {
			continue
		}
		if err := text(w, "\n"); err != nil {
			return err
		}
		if err := gates(w, part.title, part.list); err != nil {
			return err
		}
	}
	return nil
}

// delegates writes who may have pull requests merged.
func delegates(w io.Writer, all []model.Status) error {
	for _, s := range all {
		if len(s.Delegates) == 0 {
			continue
		}
		if err := text(w, fmt.Sprintf("#%d can also be merged by %s, by delegation\n", s.Number, oneLine(strings.Join(s.Delegates, ", ")))); err != nil {
			return err
		}
	}
	return nil
}

func gates(w io.Writer, title string, list []model.Gate) error {
	rows := [][]string{{title, "MET", "EVIDENCE"}}
	for _, g := range list {
		met := "yes"
		if !g.Met {
			met = "NO"
		}
		rows = append(rows, []string{strings.ReplaceAll(string(g.Name), "_", " "), met, oneLine(g.Evidence)})
	}
	return table(w, rows)
}

func table(w io.Writer, rows [][]string) error {
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
func brief(s string) string {
	r := []rune(oneLine(s))
	if len(r) > titleLimit {
		return string(r[:titleLimit-1]) + "…"
	}
	return string(r)
}

func dash(s string) string { return cmp.Or(s, "-") }

// text writes lines for people. It is where what others wrote ends up, so the runner obeys nothing in it.
func text(w io.Writer, s string) error {
	if _, err := io.WriteString(w, unobeyed(s)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
