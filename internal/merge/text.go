package merge

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// What people read of a request to merge. Everything here is Markdown for its comment; the journal neutralises what others
// wrote in it, and adds the marker. Of the marker what is filled in counts.

// WaitText tells what a request waits for.
func WaitText(p model.Pull, m model.MergeMarker, v Verdict) string {
	return fmt.Sprintf("**Waiting to be merged**: %s%s\n\n%s\n\nThe merge begins by itself once that is there, as long as the head stays the same. `/mergexo merge cancel` takes the request back; `/mergexo why` lists every condition.%s",
		what(p, m), runLink(m), unmet(v), together(m))
}

// RefuseText tells why a request is not taken. It has no marker.
func RefuseText(p model.Pull, v Verdict) string {
	e := ending(v.Code, p.BaseRef)
	var b strings.Builder
	fmt.Fprintf(&b, "**Not merged: %s** (`%s`). Nothing was changed.\n\n%s", e.headline, v.Code, unmet(v))
	if e.next != "" {
		b.WriteString("\n\n" + e.next)
	}
	return b.String()
}

// RunningText tells that a merge is under way; most is how many attempts there are.
func RunningText(p model.Pull, m model.MergeMarker, most int) string {
	text := fmt.Sprintf("**Merging** %s%s%s", what(p, m), attempt(m, most), runLink(m))
	if m.Tip != "" {
		text += fmt.Sprintf("\n\nWhat is tested, and then lands, is %s.", markdown.Commit(p.URL, m.Tip))
	}
	return text + together(m)
}

// Landing is what a merge did.
type Landing struct {
	Commits []model.Moved // that are on the base now, oldest first
	More    int           // older ones that are not among them
	Tests   TestRun
	Notes   []string // what else people should know: short sentences, in words of others too
	Seconds int
	Closed  bool // GitHub did not show the pull request as merged in time, so that it was closed
}

// DoneText tells what landed.
func DoneText(p model.Pull, m model.MergeMarker, l Landing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Merged**: %s%s\n\n`%s` is at %s. %s", what(p, m), runLink(m), markdown.Code(m.Base), markdown.Commit(p.URL, m.Landed), TestsText(l.Tests))
	if l.Closed {
		fmt.Fprintf(&b, "\n\nGitHub did not come to show this pull request as merged, so it is closed. What it changes is on `%s` all the same: %s.", markdown.Code(m.Base), markdown.Commit(p.URL, m.Landed))
	}
	b.WriteString(commits(p, "Commits", l.Commits, l.More))
	b.WriteString(notes(l.Notes))
	b.WriteString(together(m))
	if l.Seconds > 0 {
		fmt.Fprintf(&b, "\n\n<sub>%d s</sub>", l.Seconds)
	}
	return b.String()
}

// CancelText takes the place of a request that an operator has taken back.
func CancelText(p model.Pull, m model.MergeMarker, by string) string {
	return fmt.Sprintf("**Taken back** by %s: %s. Nothing was changed.", by, what(p, m))
}

// SupersededText takes the place of a request that a later one has replaced, which stands at url.
func SupersededText(p model.Pull, m model.MergeMarker, url string) string {
	return fmt.Sprintf("**Replaced** by a [later request](%s): %s. Nothing was changed.", url, what(p, m))
}

// Plan is what a merge would do, as a dry run found out.
type Plan struct {
	Commits   []model.Moved // that would land, oldest first
	More      int           // older ones that are not among them
	BaseSHA   string
	Tip       string
	Tests     TestRun // of which Argv and Why count
	Conflicts *Conflicts
	Notes     []string
	// Code and Detail say why nothing would land, where it is no conflict.
	Code   model.MergeCode
	Detail string
}

const dryRun = "This was a dry run: nothing was changed, and no tests were run."

// DryRunText tells what would happen. plan is nil where nothing was built.
func DryRunText(p model.Pull, m model.MergeMarker, v Verdict, plan *Plan) string {
	var b strings.Builder
	switch {
	case v.Go && plan != nil && (plan.Conflicts != nil || plan.Code != ""):
		fmt.Fprintf(&b, "**It could not be merged**: %s\n", what(p, m))
	case v.Go:
		fmt.Fprintf(&b, "**It would be merged now**: %s\n", what(p, m))
	case v.Wait:
		fmt.Fprintf(&b, "**It would wait**: %s\n\n%s\n", what(p, m), unmet(v))
	default:
		fmt.Fprintf(&b, "**It would be refused** (`%s`): %s\n\n%s\n", v.Code, what(p, m), unmet(v))
	}
	if v.Way.Why != "" {
		fmt.Fprintf(&b, "\nThe strategy `%s` comes from %s.", v.Way.Strategy, markdown.Plain(v.Way.Why))
	}
	if plan != nil {
		b.WriteString(plan.text(p))
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + dryRun
}

func (plan *Plan) text(p model.Pull) string {
	var b strings.Builder
	if plan.Conflicts != nil {
		return "\n\n" + ConflictText(p, *plan.Conflicts)
	}
	if plan.Code != "" {
		e := ending(plan.Code, p.BaseRef)
		fmt.Fprintf(&b, "\n\nThis is in the way: %s (`%s`).%s", e.headline, plan.Code, detail(plan.Detail))
		return b.String()
	}
	if plan.Tip != "" {
		fmt.Fprintf(&b, " The base is at %s.", markdown.Commit(p.URL, plan.BaseSHA))
	}
	if plan.Tests.Argv == nil {
		fmt.Fprintf(&b, " No tests would be run: %s.", plan.Tests.untested())
	} else {
		fmt.Fprintf(&b, " Tested would be with %s%s.", said(plan.Tests.Argv), plan.Tests.origin())
	}
	b.WriteString(commits(p, "These commits would land", plan.Commits, plan.More))
	b.WriteString(notes(plan.Notes))
	return b.String()
}

// what is a request in words: what goes where, how and for whom.
func what(p model.Pull, m model.MergeMarker) string {
	head := "`" + markdown.Code(p.HeadRef) + "`"
	if m.Head != "" {
		head = markdown.Commit(p.URL, m.Head)
	}
	text := fmt.Sprintf("%s into `%s`", head, markdown.Code(m.Base))
	if m.Strategy != "" {
		text += " by " + markdown.Code(m.Strategy)
	}
	if m.By != "" {
		text += ", asked for by " + m.By
	}
	return text
}

// unmet lists the gates that are not met.
func unmet(v Verdict) string {
	var lines []string
	for _, g := range v.Unmet() {
		lines = append(lines, fmt.Sprintf("- **%s**: %s", strings.ReplaceAll(string(g.Name), "_", " "), markdown.Plain(oneLine(g.Evidence))))
	}
	return strings.Join(lines, "\n")
}

func attempt(m model.MergeMarker, most int) string {
	if m.Attempt > 1 {
		return fmt.Sprintf(", attempt %d of %d", m.Attempt, most)
	}
	return ""
}

func runLink(m model.MergeMarker) string {
	if m.RunURL == "" {
		return ""
	}
	return fmt.Sprintf(" · [run](%s)", m.RunURL)
}

// together names the pull requests that land with this one.
func together(m model.MergeMarker) string {
	if m.Leader != "" {
		return fmt.Sprintf("\n\nIt lands together with others, as %s says.", m.Leader)
	}
	var list []string
	for _, other := range m.Members {
		if other.Repo == m.Repo && other.Number == m.Number {
			continue
		}
		text := fmt.Sprintf("%s#%d", other.Repo, other.Number)
		if other.Landed != "" {
			text += " (landed as `" + markdown.Short(other.Landed) + "`)"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return ""
	}
	return "\n\nTogether with " + strings.Join(list, ", ") + "."
}

// maxCommits is how many commits a comment lists.
const maxCommits = 30

// commits lists commits under a heading, the newest of too many, each with the one that it was made from.
func commits(p model.Pull, heading string, list []model.Moved, more int) string {
	if len(list) == 0 {
		return ""
	}
	if n := len(list) - maxCommits; n > 0 {
		list, more = list[n:], more+n
	}
	var b strings.Builder
	b.WriteString("\n\n" + heading + ":\n")
	if more > 0 {
		fmt.Fprintf(&b, "\n- %s", markdown.Count(more, "older commit"))
	}
	for _, c := range list {
		fmt.Fprintf(&b, "\n- %s %s", markdown.Commit(p.URL, c.SHA), markdown.Inline(c.Subject))
		if c.Was != "" && c.Was != c.SHA {
			fmt.Fprintf(&b, ", made from %s", markdown.Commit(p.URL, c.Was))
		}
	}
	return b.String()
}

func notes(list []string) string {
	var b strings.Builder
	for _, n := range list {
		fmt.Fprintf(&b, "\n\n> %s", markdown.Plain(oneLine(n)))
	}
	return b.String()
}
