package flow

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Texts for people. Everything here is Markdown for a comment on the issue; the journal neutralizes foreign text and adds
// the markers.

// works describe the flows as what an agent works on.
var works = map[model.Flow]string{
	model.FlowDesign: "a design", model.FlowRoadmap: "a roadmap", model.FlowBugfix: "a bug fix", model.FlowSmallJob: "a small job", model.FlowImplementation: "the implementation of the design",
}

func work(f model.Flow) string {
	if w, known := works[f]; known {
		return w
	}
	return markdown.Inline(string(f))
}

// ClaimText stands above an attempt's claim while the agent works. A claim with a checkpoint continues from its branch.
// comments are what the attempt takes up, and wip is the branch for work in progress; "" for none.
func ClaimText(i model.Issue, m model.IssueMarker, comments []model.Comment, wip string) string {
	var b strings.Builder
	if m.Tip != "" {
		fmt.Fprintf(&b, "**Continuing %s** from %s of %s%s%s\n", work(m.Flow), markdown.Commit(i.URL, m.Start), branchLink(i, m.Branch, m.Start), attempt(m), markdown.Run(m.RunURL))
	} else {
		fmt.Fprintf(&b, "**Working on %s** from `%s` at %s%s%s\n", work(m.Flow), markdown.Code(m.Base), markdown.Commit(i.URL, m.Start), attempt(m), markdown.Run(m.RunURL))
	}
	if len(comments) > 0 {
		b.WriteString("\nBased on these comments:\n\n")
	}
	for _, c := range comments {
		fmt.Fprintf(&b, "- %s\n", mention(c))
	}
	branch := "that branch"
	if m.Tip == "" {
		branch = "branch `" + markdown.Code(m.Branch) + "`"
	}
	fmt.Fprintf(&b, "\nThe pull request will come from %s.", branch)
	if wip != "" {
		fmt.Fprintf(&b, " Until then the work is saved on branch `%s` every few minutes.", markdown.Code(wip))
	}
	return b.String()
}

// PlannedText replaces the claim's text once the work is safe on GitHub.
func PlannedText(i model.Issue, m model.IssueMarker) string {
	return fmt.Sprintf("**The work is done** and kept as %s. Next, MergeXO opens a pull request from branch `%s`%s",
		markdown.Commit(i.URL, m.Planned), markdown.Code(m.Branch), markdown.Run(m.RunURL))
}

// FailedText says that an attempt failed and will be retried; follows says when.
func FailedText(i model.Issue, m model.IssueMarker, follows string, k model.Kept) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Stopped working on %s**%s%s\n\n", work(m.Flow), attempt(m), markdown.Run(m.RunURL))
	if m.Reason != "" {
		b.WriteString(markdown.Failure(m.Reason) + "\n\n")
	}
	b.WriteString(follows)
	if k.Left() {
		b.WriteString("\n\n" + kept(i, m.Base, k))
	}
	return b.String()
}

// Again is the sentence below an attempt that will be retried.
func Again(attempt, most int) string {
	return fmt.Sprintf("Attempt %d of %d failed. %s", attempt, most, next)
}

// Later is the sentence below an attempt that does not count because only time ran out.
const Later = "This attempt does not count. " + next

const next = "The next one starts with the next event or comment here, or with `/mergexo retry`."

// maxSaid is how many bytes of an agent's text a receipt shows, to leave room for ours.
const maxSaid = 30_000

// ReceiptText names the pull request for the issue.
func ReceiptText(i model.Issue, m model.IssueMarker, pull model.PullRef, o model.Outbox) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Opened [#%d](%s)** %s\n", pull.Number, pull.URL, markdown.Inline(oneLine(pull.Title)))
	if c := markdown.Part(strings.TrimSpace(o.Comment), maxSaid); c != "" {
		b.WriteString("\n" + c + "\n")
	}
	switch m.Flow {
	case model.FlowDesign:
		b.WriteString("\nOnce it is merged, MergeXO implements the design in a separate pull request. ")
	case model.FlowRoadmap:
		b.WriteString("\nOnce it is merged, MergeXO opens an issue for each item. Work on an item begins as soon as everything that it needs is done. ")
	default:
		b.WriteString("\n")
	}
	b.WriteString("Please comment there from now on.\n")
	if len(o.Commits) > 0 {
		b.WriteString("\nCommits:\n\n")
	}
	for _, c := range o.Commits {
		fmt.Fprintf(&b, "- %s %s\n", markdown.Commit(i.URL, c.SHA), markdown.Inline(c.Subject))
	}
	if n := notes(o.Notes); n != "" {
		b.WriteString("\n" + strings.TrimRight(n, "\n") + "\n")
	}
	if s := markdown.Cost(o.Seconds, o.Usage.InputTokens+o.Usage.OutputTokens, o.Usage.CostUSD); s != "" {
		fmt.Fprintf(&b, "\n%s%s", s, markdown.Run(m.RunURL))
	}
	return strings.TrimRight(b.String(), "\n")
}

// ClosedText tells commenters how to start again when the pull request is closed.
func ClosedText(pull model.PullRef) string {
	return fmt.Sprintf("[#%d](%s) is closed, so MergeXO does nothing more here. To start again with the comments made since, add the label again, or ask an operator to comment `/mergexo retry`.", pull.Number, pull.URL)
}

// RedirectText sends commenters to the issue's pull request.
func RedirectText(pull model.PullRef, f model.Flow) string {
	what := "The work on this issue"
	switch f {
	case model.FlowDesign:
		what = "The design of this issue"
	case model.FlowRoadmap:
		what = "The roadmap of this issue"
	}
	return fmt.Sprintf("%s continues in [#%d](%s): please comment there.", what, pull.Number, pull.URL)
}

func attempt(m model.IssueMarker) string {
	if m.Attempt > 1 {
		return fmt.Sprintf(", attempt %d", m.Attempt)
	}
	return ""
}

func mention(c model.Comment) string {
	by := c.Author.Login
	if by == "" { // the account was deleted
		by = "somebody"
	}
	return fmt.Sprintf("[comment](%s) by %s", c.URL, by)
}

// branchLink links the tree of a branch at a commit.
func branchLink(i model.Issue, branch, sha string) string {
	return "branch " + markdown.Tree(i.URL, branch, sha)
}
