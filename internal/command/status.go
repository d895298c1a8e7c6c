package command

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// status describes the state of a pull request.
func status(c Case) Answer {
	s, url := c.Status, c.Target.Pull.URL
	var b strings.Builder
	row := func(what, how string) { fmt.Fprintf(&b, "\n| %s | %s |", what, markdown.Cell(how)) }
	fmt.Fprintf(&b, "| pull request %d | |\n| --- | --- |", s.Number)
	row("state", "**"+s.State.Words()+"**")
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
	if m := s.Merge; m != nil {
		how := fmt.Sprintf("[%s](%s)", strings.ReplaceAll(string(m.State), "_", " "), m.URL)
		if m.Reason != "" {
			how += fmt.Sprintf(" (`%s`)", markdown.Code(string(m.Reason)))
		}
		row("merge", how+", asked for by "+m.By)
	}
	if bl := s.Block; bl != nil {
		row("blocked", fmt.Sprintf("[`%s`](%s)", markdown.Code(bl.Reason), bl.URL))
	}
	if n := s.Need; n != nil {
		row("waits for a person", need(*n))
	}
	return c.apply("%s", b.String())
}

// need links what waits for a person.
func need(n model.Need) string {
	return fmt.Sprintf("[%s](%s) (%s): %s", n.Headline, n.URL, n.Who, markdown.Inline(n.Next))
}

// why lists every gate, open or closed, so that "nothing happens here" has an answer.
func why(c Case) Answer {
	text := because(c) + mergeable(c.MergeGates) + "\n\n"
	if n := c.Status.Need; n != nil {
		text += "Waits for a person: " + need(*n) + "\n\n"
	}
	text += table("condition", c.Gates)
	if len(c.MergeGates) > 0 {
		text += "\n\n" + table("to be merged", c.MergeGates)
	}
	return c.apply("%s", text)
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
		fmt.Fprintf(&b, "\n| %s | %s | %s |", words(g), met, markdown.Cell(markdown.Plain(g.Evidence)))
	}
	return b.String()
}

// because is the answer in one sentence: the first closed gate decides.
func because(c Case) string {
	for _, g := range c.Gates {
		switch {
		case g.Met:
		case g.Name == "last_turn":
			return "The last turn failed; the next event or sweep tries again, or `/mergexo retry` does."
		case g.Name == "feedback_pending":
			return "Nothing is to be done here: " + g.Evidence + "."
		default:
			return fmt.Sprintf("No turn begins here since the condition *%s* is not met; %s.", words(g), waiting(c.Status))
		}
	}
	return "Every condition is met; " + waiting(c.Status) + "."
}

// mergeable is the same for a merge, which has other gates than a turn.
func mergeable(gates []model.Gate) string {
	if len(gates) == 0 {
		return ""
	}
	for _, g := range gates {
		if !g.Met {
			return fmt.Sprintf(" It cannot be merged as it is: the condition *%s* is not met.", words(g))
		}
	}
	return " It can be merged: `/mergexo merge`."
}

func words(g model.Gate) string { return strings.ReplaceAll(string(g.Name), "_", " ") }

func waiting(s model.Status) string {
	if s.Pending == 0 {
		return "no feedback is pending"
	}
	return markdown.Count(s.Pending, "comment") + " of people who are heard " + map[bool]string{true: "is", false: "are"}[s.Pending == 1] + " pending"
}
