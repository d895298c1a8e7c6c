package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// The limits of a review.
const (
	maxComments = 50     // on lines
	maxListed   = 100    // findings in the text of the review
	maxBody     = 40_000 // bytes of that list: the tokens of its findings need room below it
)

// Review is one review as it is posted: a text, and comments on lines. It never approves and never requests changes.
type Review struct {
	Text     string
	Listed   []model.Finding // in the text
	Comments []Comment
}

// Comment is one comment on a line.
type Comment struct {
	Finding model.Finding
	Text    string
}

// About is what a review is of.
type About struct {
	Pull    model.Pull
	Head    string
	By      string // the reviewer's adapter
	Opening bool   // it is of what was proposed, and posted along with it
	Turn    bool   // it is of the commits of one turn, and not of the whole pull request
	Earlier int    // findings that were left out since they stand there already
	Dropped int    // findings that were left out since there was no room for them
}

// Compose makes a review of findings, the gravest first. What stands on a line that the diff shows becomes a comment there; what
// stands elsewhere, and all nits, go into the text. What finds no room is counted.
func Compose(a About, findings []model.Finding, diff Diff) Review {
	var r Review
	var elsewhere, nits []model.Finding
	for _, f := range findings {
		switch {
		case f.Severity == model.Nit:
			nits = append(nits, f)
		case diff.Has(f.Path, f.Line) && len(r.Comments) < maxComments:
			r.Comments = append(r.Comments, Comment{f, onLine(f)})
		default:
			elsewhere = append(elsewhere, f)
		}
	}
	var b strings.Builder
	b.WriteString(heading(a, findings))
	room := maxBody
	list := func(all []model.Finding) string {
		var rows strings.Builder
		for _, f := range all {
			row := listed(a, f)
			if len(r.Listed) == maxListed || len(row) > room {
				break
			}
			room -= len(row)
			rows.WriteString(row)
			r.Listed = append(r.Listed, f)
		}
		return rows.String()
	}
	if rows := list(elsewhere); rows != "" {
		b.WriteString("\n\nOutside of the lines that the diff shows:\n" + strings.TrimRight(rows, "\n"))
	}
	if rows := list(nits); rows != "" {
		fmt.Fprintf(&b, "\n\n<details><summary>%s</summary>\n%s\n</details>", markdown.Count(len(nits), "nit"), strings.TrimRight(rows, "\n")+"\n")
	}
	if out := len(elsewhere) + len(nits) - len(r.Listed) + a.Dropped; out > 0 {
		fmt.Fprintf(&b, "\n\n%s did not fit here.", markdown.Count(out, "more finding"))
	}
	b.WriteString(footer(r))
	r.Text = b.String()
	return r
}

// footer says how findings are turned down: what stands in the text has no thread.
func footer(r Review) string {
	text := "\n\n<sub>These findings come from a program, which can be wrong."
	if len(r.Comments) > 0 {
		text += " To turn down a comment on a line, reply \"won't do\" to it or resolve it: it is not raised again."
	}
	if len(r.Listed) > 0 {
		text += " Findings listed in this summary are not raised again in the same words."
	}
	if len(r.Comments)+len(r.Listed) == 0 {
		return ""
	}
	return text + "</sub>"
}

// heading says what was reviewed and how it came out.
func heading(a About, findings []model.Finding) string {
	text := fmt.Sprintf("**Review of %s** by `%s`: %s", markdown.Commit(a.Pull.URL, a.Head), markdown.Code(a.By), counted(findings))
	switch {
	case a.Turn:
		text += ", still open when the turn's commits were pushed"
	case a.Opening:
		text += ", still open when the pull request was opened"
	}
	if a.Earlier > 0 {
		text += "; it does not repeat " + markdown.Count(a.Earlier, "earlier finding")
	}
	return text + "."
}

func counted(findings []model.Finding) string {
	if len(findings) == 0 {
		return "nothing new was found"
	}
	var parts []string
	for _, s := range severities {
		n := len(slices.DeleteFunc(slices.Clone(findings), func(f model.Finding) bool { return f.Severity != s }))
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, s))
		}
	}
	return markdown.Count(len(findings), "finding") + " (" + strings.Join(parts, ", ") + ")"
}

// badge begins a comment on a line.
func badge(s model.Severity) string { return "**" + string(s) + ":**" }

// said is the text of a finding in a comment that onLine made.
func said(text string) string {
	for _, s := range severities {
		if rest, ok := strings.CutPrefix(text, badge(s)); ok {
			text = rest
			break
		}
	}
	text, _, _ = strings.Cut(text, suggestionHead)
	return strings.TrimSpace(text)
}

const suggestionHead = "\n\nSuggestion:\n\n"

// onLine is the comment on a finding's own line.
func onLine(f model.Finding) string {
	return markdown.Behind(badge(f.Severity), short(f.Text)) + suggestion(f.Suggestion)
}

// suggestion is a block that people can commit with one click:
// https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/incorporating-feedback-in-your-pull-request
// One that would not be posted as it was written is left out.
func suggestion(text string) string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if strings.TrimSpace(text) == "" || len([]rune(text)) > maxText || strings.Contains(text, "<!--") ||
		strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && markdown.Invisible(r) }) {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return suggestionHead + fence + "suggestion\n" + text + "\n" + fence
}

// listed is a finding in the text of a review.
func listed(a About, f model.Finding) string {
	where := "`" + markdown.Code(f.Path) + "`"
	if f.Line > 0 {
		where += fmt.Sprintf(" line %d", f.Line)
	}
	row := markdown.Behind(fmt.Sprintf("**%s** %s:", f.Severity, where), short(f.Text))
	return "\n- " + strings.ReplaceAll(row, "\n", "\n  ") + "\n"
}

// short is a text within its limit.
func short(text string) string {
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > maxText {
		return markdown.Part(text, len(string(r[:maxText])))
	}
	return text
}

// maxReport is how many bytes of findings go to the author agent at once: a prompt holds a little more.
const maxReport = 18_000

// Report is the text for the author agent about the findings that it has to fix. What has no room is found again in the next round.
func Report(findings []model.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		row := fmt.Sprintf("%s, line %d: %s\n", f.Path, f.Line, short(f.Text))
		if f.Suggestion != "" && len(f.Suggestion) <= maxText {
			row += fmt.Sprintf("Suggested in place of that line:\n%s\n", f.Suggestion)
		}
		if b.Len()+len(row) > maxReport {
			fmt.Fprintf(&b, "%s did not fit here.\n", markdown.Count(len(findings)-i, "more finding"))
			break
		}
		b.WriteString(row + "\n")
	}
	return strings.TrimSpace(b.String())
}
