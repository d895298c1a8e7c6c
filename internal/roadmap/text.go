package roadmap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Texts for people, as Markdown. The journal neutralizes foreign text and adds the markers.

// File is where the plan is, for links.
type File struct {
	Page   string // the URL of the roadmap's issue
	Path   string
	Branch string
}

func (f File) link() string {
	return fmt.Sprintf("[`%s`](%s/blob/%s/%s)", markdown.Code(f.Path), markdown.Repository(f.Page), markdown.Path(f.Branch), markdown.Path(f.Path))
}

// maxList is how many bytes of the list a comment shows.
const maxList = 40_000

// Text is the comment on the roadmap's issue: its graph, and each item with what it waits for.
func Text(p Plan, s Step, f File, problem string) string {
	var b strings.Builder
	t := model.TallyOf(s.Entries())
	fmt.Fprintf(&b, "**Roadmap** from %s: %d of %s done\n", f.link(), t.Done, markdown.Count(t.Total, "item"))
	if problem != "" {
		b.WriteString("\n**Nothing new begins:** " + problem + "\n")
	}
	if lost := slices.DeleteFunc(slices.Clone(s.Rows), func(r Row) bool { return !r.forgotten() }); len(lost) > 0 {
		b.WriteString("\n**Somebody edited or deleted MergeXO's earlier comment here.** MergeXO cannot find the issues of these items, and does not open new ones: " +
			s.refs(lost) + ". To start one anyway, give it another key in the file.\n")
	}
	if g := Graph(s.Rows); g != "" {
		b.WriteString("\n```mermaid\n" + g + "```\n")
	}
	b.WriteString("\n")
	for i, r := range s.Rows {
		line := s.line(r)
		if b.Len()+len(line) > maxList {
			fmt.Fprintf(&b, "- and %d more, see the file\n", len(s.Rows)-i)
			break
		}
		b.WriteString(line)
	}
	b.WriteString("\nTo change the plan, edit the file in a pull request. MergeXO opens an issue for each new item, and closes those of removed items unless they have begun.")
	return b.String()
}

// line is one item of the list. It has no box: whoever ticks one edits the comment.
func (s Step) line(r Row) string {
	what := markdown.Inline(r.Title)
	if r.Fact.Issue != 0 {
		what = fmt.Sprintf("#%d %s", r.Fact.Issue, what)
	}
	return fmt.Sprintf("- %s: %s\n", what, s.status(r))
}

// status says how an item stands, and why.
func (s Step) status(r Row) string {
	with := ""
	if r.Fact.Pull != 0 {
		with = fmt.Sprintf(", #%d", r.Fact.Pull)
	}
	switch {
	case r.Dropped && r.State == model.ItemRunning:
		return "running" + with + "; no longer in the plan"
	case r.Dropped && r.State != model.ItemDone:
		return "dropped from the plan"
	}
	switch r.State {
	case model.ItemDone:
		return "done" + with
	case model.ItemRunning:
		if n := r.Fact.Asks; n != 0 {
			return fmt.Sprintf("**needs an answer**: #%d", n)
		}
		return "running" + with
	case model.ItemFailed:
		return "**stopped**, " + why(r.Fact)
	case model.ItemQueued:
		return "ready, waits for a running item to finish"
	case model.ItemBlocked:
		return "**blocked** because of " + s.refs(s.Causes(r))
	}
	var rows []Row
	for _, key := range r.For {
		for _, o := range s.Rows {
			if o.Key == key && !o.Dropped {
				rows = append(rows, o)
			}
		}
	}
	return "waits for " + s.refs(rows)
}

func (s Step) refs(rows []Row) string {
	var out []string
	for _, r := range rows {
		if r.Fact.Issue != 0 {
			out = append(out, fmt.Sprintf("#%d", r.Fact.Issue))
		} else {
			out = append(out, markdown.Inline(r.Key))
		}
	}
	return strings.Join(out, ", ")
}

// why is how an item failed.
func why(f Fact) string {
	switch {
	case f.Gone && f.Issue == 0:
		return "its issue was not found"
	case f.Gone:
		return "its issue is no longer in this repository"
	case f.Closed:
		return "its issue was closed as not planned"
	case f.Held:
		return "somebody who may not start an agent changed its issue"
	}
	return fmt.Sprintf("#%d was closed without a merge", f.Pull)
}

// Question asks a person what to do about an item that failed.
func Question(s Step, r Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**An item of the roadmap has stopped**: #%d %s, because %s.\n", r.Fact.Issue, markdown.Inline(r.Title), why(r.Fact))
	held := slices.DeleteFunc(slices.Clone(s.Rows), func(o Row) bool {
		return !slices.ContainsFunc(s.Causes(o), func(c Row) bool { return c.Key == r.Key })
	})
	if len(held) > 0 {
		fmt.Fprintf(&b, "\nThese items need it and wait: %s.\n", s.refs(held))
	}
	b.WriteString("\nWhat to do:\n\n")
	switch {
	case r.Fact.Gone:
		b.WriteString("- Open a pull request that removes the item from the file, and from the `needs` of other items.\n- Or give it another key there: it gets a new issue.")
	case r.Fact.Closed:
		b.WriteString("- Reopen the issue to let it continue.\n- Close it as completed if the work is done.\n- Or open a pull request that removes the item from the file, and from the `needs` of other items.")
	case r.Fact.Held:
		b.WriteString("- Check the title and the text of the issue. Then add the label of its flow yourself.\n- Or open a pull request that removes the item from the file, and from the `needs` of other items.")
	default:
		fmt.Fprintf(&b, "- Reopen #%d, or comment `/mergexo retry` on the issue for another attempt.\n- Close the issue as completed if the work was done in another way.\n"+
			"- Or open a pull request that removes the item from the file, and from the `needs` of other items.", r.Fact.Pull)
	}
	return b.String()
}

// ClosedText says that the plan has items that nothing opens an issue for, since that of the roadmap is closed.
func ClosedText(f File, created []Row) string {
	return fmt.Sprintf("**This roadmap is closed, so no further items start.** %s has items without an issue: %s.\n\nReopen this issue to start them.", f.link(), Step{}.refs(created))
}

// Body is the text of the issue of an item.
func Body(p Plan, i Item, f File) string {
	var b strings.Builder
	if i.Acceptance != "" {
		b.WriteString("## Done when\n\n" + contained(i.Acceptance) + "\n\n")
	}
	if p.Goal != "" {
		b.WriteString("## Goal of the whole roadmap\n\n" + contained(p.Goal) + "\n\n")
	}
	fmt.Fprintf(&b, "<sub>Item `%s` of roadmap #%d (%s). Opened by MergeXO.</sub>", i.Key, p.Issue, f.link())
	return b.String()
}

// contained is a text of the plan, closed in itself, that notifies nobody: each item's issue says it again.
func contained(text string) string {
	return markdown.Contain(text, func(string) bool { return false })
}

// DropText is the comment below an item that the plan no longer has.
func DropText(p Plan, f File) string {
	return fmt.Sprintf("This item is no longer part of roadmap #%d: see %s. If you still want it, reopen the issue and add the label yourself.", p.Issue, f.link())
}

// MissingText says that the file is gone.
func MissingText(f File) string {
	return fmt.Sprintf("`%s` is not on branch `%s`. Restore the file, or close this issue.", markdown.Code(f.Path), markdown.Code(f.Branch))
}

// ProblemText says why a file cannot be used.
func ProblemText(f File, wrong Problems) string {
	return fmt.Sprintf("%s is invalid:\n\n%s", f.link(), markdown.Quote(wrong.Error()))
}

// Checked is the file of a roadmap in a pull request, and what does not hold in it.
type Checked struct {
	Path     string
	Problems Problems
}

// Second is the problem of a file that is not the first one for its roadmap.
func Second(first string, issue int) Problem {
	return Problem{1, fmt.Sprintf("%s is already the roadmap of #%d; a roadmap has one file", first, issue)}
}

// CheckedText says what does not hold in the roadmaps of a pull request, each with a link to its line. GitHub shows the lines of a
// Markdown file only where it is told not to render it.
func CheckedText(page, head string, files []Checked) string {
	var b strings.Builder
	b.WriteString("**This roadmap is invalid**\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\n`%s`:\n\n", markdown.Code(f.Path))
		for _, p := range f.Problems {
			fmt.Fprintf(&b, "- [line %d](%s/blob/%s/%s?plain=1#L%d): %s\n", p.Line, markdown.Repository(page), head, markdown.Path(f.Path), p.Line, markdown.Inline(p.Text))
		}
	}
	b.WriteString("\nNo new item starts until the file is valid. Push a commit that fixes it.")
	return b.String()
}
