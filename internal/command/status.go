package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// status describes the state of a pull request.
func status(c Case) Answer {
	s, url := c.Status, c.Target.Pull.URL
	var b strings.Builder
	row := func(what, how string) { fmt.Fprintf(&b, "\n| %s | %s |", what, markdown.Cell(how)) }
	fmt.Fprintf(&b, "**Pull request %d: %s.**\n\n| | |\n| --- | --- |", s.Number, s.State.Words())
	row("state", s.State.Words())
	if s.Issue != 0 {
		row("source issue", fmt.Sprintf("#%d", s.Issue))
	}
	row("head", fmt.Sprintf("%s on `%s`", markdown.Commit(url, s.Head), markdown.Code(s.Branch)))
	if s.Accepted != "" && s.Accepted != s.Head {
		row("last accepted head", markdown.Commit(url, s.Accepted))
	}
	if t := s.LastTurn; t != nil {
		row("last turn", fmt.Sprintf("[%s](%s), %s", t.Phase, t.URL, t.At.UTC().Format("2006-01-02 15:04 MST")))
	}
	row("pending feedback", markdown.Count(s.Pending, "comment"))
	if len(s.Delegates) > 0 {
		row("delegates", strings.Join(s.Delegates, ", "))
	}
	if m := s.Merge; m != nil {
		how := fmt.Sprintf("[%s](%s)", strings.ReplaceAll(string(m.State), "_", " "), m.URL)
		if m.Reason != "" {
			how += fmt.Sprintf(" (`%s`)", markdown.Code(string(m.Reason)))
		}
		row("merge", how+", requested by "+m.By)
	}
	if r := s.Review; r != nil {
		row("review", fmt.Sprintf("[of %s](%s), requested by %s", markdown.Short(r.Head), r.URL, r.By))
	}
	if bl := s.Block; bl != nil {
		row("blocked", fmt.Sprintf("[`%s`](%s)", markdown.Code(bl.Reason), bl.URL))
	}
	if n := s.Need; n != nil {
		row("waiting for a person", need(*n))
	}
	return c.apply("%s", b.String())
}

// need links what waits for a person.
func need(n model.Need) string {
	return fmt.Sprintf("[%s](%s) (%s): %s", n.Headline, n.URL, n.Who, markdown.Inline(n.Next))
}

// why says what happens next, or what keeps it from happening, and lists every gate below that.
func why(c Case) Answer {
	text := Because(c.Status, c.Gates, c.MergeGates)
	if n := c.Status.Need; n != nil {
		text += "\n\nWaiting for a person: " + need(*n)
	}
	all := slices.Concat(c.Gates, c.MergeGates)
	met := len(slices.DeleteFunc(slices.Clone(all), func(g model.Gate) bool { return !g.Met }))
	text += fmt.Sprintf("\n\n<details><summary>All conditions: %d of %d are met</summary>\n\n%s", met, len(all), table("condition", c.Gates))
	if len(c.MergeGates) > 0 {
		text += "\n\n" + table("condition of a merge", c.MergeGates)
	}
	return c.apply("%s\n\n</details>", text)
}

// table shows gates with their evidence.
func table(head string, gates []model.Gate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | met | evidence |\n| --- | --- | --- |", head)
	for _, g := range gates {
		met := "yes"
		if !g.Met {
			met = "**no**"
		}
		fmt.Fprintf(&b, "\n| %s | %s | %s |", strings.ReplaceAll(string(g.Name), "_", " "), met, markdown.Cell(markdown.Coded(g.Evidence)))
	}
	return b.String()
}

// Because says in a line or two what happens next on a pull request, or why nothing does: the conditions of a turn, and of a
// merge if there are any. It is Markdown.
func Because(s model.Status, turns, merges []model.Gate) string {
	text := turnsNext(s, turns)
	if r := s.Review; r != nil {
		text = fmt.Sprintf("**A [review](%s) is in progress.** ", r.URL) + text
	}
	if s.Train != nil {
		text += " " + s.Train.Says
	}
	switch open := unmet(merges); {
	case len(merges) == 0:
	case len(open) == 0 && s.Train != nil:
	case len(open) == 0:
		text += " It can be merged: `/mergexo merge`."
	case len(open) == 1:
		text += " It cannot be merged yet: " + open[0] + "."
	default:
		text += " It cannot be merged yet:\n- " + strings.Join(open, "\n- ")
	}
	return text
}

func turnsNext(s model.Status, gates []model.Gate) string {
	waits := ""
	if s.Pending > 0 {
		waits = " " + markdown.Count(s.Pending, "comment") + map[bool]string{true: " waits", false: " wait"}[s.Pending == 1] + " for an answer."
	}
	for _, g := range gates {
		switch evidence := markdown.Coded(g.Evidence); {
		case g.Met:
		case g.Name == "last_turn":
			return "**The last turn failed**: " + evidence + "." + waits
		case g.Name == "feedback_pending":
			return "**Nothing to do.** " + sentence(evidence)
		default:
			return "**No turn starts here**: " + evidence + "." + waits
		}
	}
	if waits == "" {
		return "**Nothing to do.** All feedback is answered."
	}
	return "**The next run starts a turn.**" + waits
}

// unmet is the evidence of the gates that are closed.
func unmet(gates []model.Gate) []string {
	var out []string
	for _, g := range gates {
		if !g.Met {
			out = append(out, markdown.Coded(g.Evidence))
		}
	}
	return out
}
