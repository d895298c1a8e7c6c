package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Work is the state of the work on an issue that is to become a pull request.
type Work struct {
	Number int
	Newest *model.Posted[model.IssueMarker] // latest attempt; nil before the first
	Next   string                           // what happens next, and why
	// GoesOn says that a retry does something; otherwise Instead says why not.
	GoesOn  bool
	Instead string
	Accepts bool // a retry accepts that somebody edited a comment of ours
}

// AboutIssue reports whether a command is about the work on the issue that it was given on: that work is in progress, or no
// open pull request fits the command.
func (p Policy) AboutIssue(c Command, thread model.Snapshot, underWay bool) bool {
	issue := thread.Issue()
	return issue != nil && (underWay || len(issue.Pulls) == 0) && issue.Number != p.OperationsIssue &&
		slices.Contains([]string{"retry", "status", "why"}, c.Name) && c.Problem == "" && c.PR == 0 && (c.Issue == 0 || c.Issue == issue.Number)
}

// DecideOnIssue answers a command about the work on an issue.
func DecideOnIssue(c Case, w Work) Answer {
	switch {
	case c.Command.Name != "retry":
		return c.apply("%s", w.table())
	case c.Away:
		return c.reject("A person had already taken over by adding a label. Remove the label, then repeat the command.")
	case !w.GoesOn && w.Accepts:
		return c.apply("**The edit is accepted.** Nothing is done again: %s.", markdown.Plain(w.Instead))
	case !w.GoesOn:
		return c.reject("Nothing can be retried now: %s.", markdown.Plain(w.Instead))
	}
	return c.apply("**Trying again.** Failed attempts no longer count, and a new one starts now.")
}

// table describes the state of the work.
func (w Work) table() string {
	var b strings.Builder
	row := func(what, how string) { fmt.Fprintf(&b, "\n| %s | %s |", what, markdown.Cell(how)) }
	state := "no attempt yet"
	if w.Newest != nil {
		state = strings.ReplaceAll(string(w.Newest.Marker.Status), "_", " ")
	}
	fmt.Fprintf(&b, "**Issue %d: %s.**\n\n| | |\n| --- | --- |", w.Number, state)
	if w.Newest == nil {
		row("state", state)
	} else {
		m := w.Newest.Marker
		row("state", fmt.Sprintf("[%s](%s), %s", state, w.Newest.URL, w.Newest.UpdatedAt.UTC().Format("2006-01-02 15:04 MST")))
		row("flow", strings.ReplaceAll(string(m.Flow), "_", " "))
		row("branch", "`"+markdown.Code(m.Branch)+"`")
		if m.LastCheckpoint != "" {
			row("last checkpoint", markdown.Commit(w.Newest.URL, m.LastCheckpoint))
		}
		if m.Waiting != "" {
			row("waits because of", "`"+markdown.Code(m.Waiting)+"`")
		}
		if m.Pull != 0 {
			row("pull request", fmt.Sprintf("#%d", m.Pull))
		}
	}
	row("next", markdown.Plain(w.Next))
	return b.String()
}
