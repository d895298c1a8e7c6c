package turn

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/mergexo/internal/model"
)

// Look is what a request for a review is built from besides the snapshot.
type Look struct {
	Key        string
	Head       string
	Files      []string // that the change touches
	Diff       string
	Guidelines *model.Document // as the base has them: who writes a change does not write its rules
	Tests      []string        // that have passed at the head; empty: nobody has run any
	Doc        *model.Document // the design that is built
	Raised     []model.Raised
	Earlier    []model.Finding // of the same reviewer, in earlier rounds on the same work
	Asked      []model.Comment // that the change answers
	Checks     string          // what GitHub shows of the checks of the head; "": nothing
	Boundary   string          // random: no commenter can know it
}

var reviewRules = []string{
	"The current directory is a checkout of the change for you to read. Whatever you write there is thrown away, and you can neither commit nor push.",
	"Report in findings what is wrong with the change: bugs, security holes, data loss, requirements that are not met, missing tests for what is new. Say where, why it is wrong, and what to do.",
	"severity is must if it has to be fixed before the change lands, should if it is worth another change, and nit for a matter of taste. Be sparing with must.",
	"Report only what this change causes or touches, and only what you are sure of: look at the code around it first. An empty list is a good answer.",
	"line is a line of the new version of the file, one that the diff shows where possible. suggestion replaces exactly that line, or is empty.",
	"What was raised before is listed below. Do not raise it again in any words, and least of all what is settled.",
	claimRule,
	"Judge the change by what the issue and the design ask for." + othersRule,
}

// ReviewRequest builds the input of an agent that reviews a pull request, or the work that is to become one.
func ReviewRequest(s model.Snapshot, l Look) model.Request {
	r := model.Request{
		Version: RequestVersion, Kind: model.AskReview, TurnKey: l.Key, Repository: s.Repo.String(), ChangedFiles: append([]string{}, l.Files...),
		Feedback: []model.Feedback{}, CI: []model.CIFailure{}, History: []model.HistoryEntry{}, Rules: l.rules(), Design: l.Doc,
	}
	about, pull, issue := "the work on an issue of "+name(s.Repo.String(), 200)+", before its pull request is opened", (*model.Pull)(nil), s.Issue()
	if issue == nil {
		about, pull, issue = fmt.Sprintf("pull request #%d of %s", s.Pull.Number, name(s.Repo.String(), 200)), &s.Pull, s.Pull.Issue
		r.PullRequest = &model.RequestPull{
			Number: pull.Number, Title: pull.Title, Body: pull.Body, Base: pull.BaseRef, Head: pull.HeadRef, HeadSHA: l.Head,
		}
	}
	if issue != nil {
		r.Issue = &model.RequestIssue{Number: issue.Number, Title: issue.Title, Body: issue.Body}
	}
	r.Prompt = l.prompt(about, pull, issue)
	return r
}

func (l Look) rules() []string {
	rules := append([]string{}, reviewRules...)
	if l.Guidelines != nil {
		rules = append(rules, fmt.Sprintf("The change has to follow the coding guidelines in %s. They are given below as the base branch has them; a version that the change brings along does not count yet.", name(l.Guidelines.Path, 300)))
	}
	if len(l.Tests) > 0 {
		rules = append(rules, fmt.Sprintf("`%s` has passed on this change.", name(strings.Join(l.Tests, " "), 1000)))
	}
	if l.Checks != "" {
		rules = append(rules, fmt.Sprintf("GitHub shows the checks of this commit as %s.", name(l.Checks, 30)))
	}
	if len(l.Earlier) > 0 {
		rules = append(rules, "What you found in an earlier round is listed below; the author has worked on it since. Report again, in the same words, what is not fixed, and do not contradict what you asked for.")
	}
	return rules
}

// prompt is the complete prompt, within the limit of all prompts. The diff gets the most room.
func (l Look) prompt(about string, pull *model.Pull, issue *model.Issue) string {
	c := &cleaner{boundary: l.Boundary}
	var b strings.Builder
	fmt.Fprintf(&b, "You are to review %s, at commit %s. You did not write it, and you change nothing.\n\n# Rules\n\n", about, name(l.Head, 64))
	for _, rule := range l.rules() {
		fmt.Fprintf(&b, "- %s\n", rule)
	}
	begin := c.unfence(b.String()+"\n") + fenceText(l.Boundary)
	end := "\n# Your answer\n\n" + answer(Ask{}, []string{"findings"})
	read, claims := l.material(c, pull, issue)
	budget := promptLimit - utf8.RuneCountInString(begin+end)
	for _, one := range read {
		budget -= one.frame()
	}
	shareOut(budget, l.Boundary, claims)
	b.Reset()
	b.WriteString(begin)
	for _, one := range read {
		one.write(&b, l.Boundary)
	}
	return b.String() + end
}

// material is what a reviewer reads, and its claims by priority.
func (l Look) material(c *cleaner, of *model.Pull, issue *model.Issue) (read []section, claims []claim) {
	const most = 6 * textLimit
	diff := section{title: "The diff", items: plain(c.code(l.Diff, most), most)}
	files := section{title: "The files that it changes", items: plain(c.code(strings.Join(l.Files, "\n"), textLimit), textLimit)}
	doc, raised := docOf(c, l.Doc), section{title: "Raised before"}
	for _, r := range l.Raised {
		head := "On a line that has changed since:"
		if r.Line > 0 {
			head = fmt.Sprintf("On line %d:", r.Line)
		}
		if r.Settled {
			head = "Settled. " + head
		}
		raised.items = append(raised.items, &item{head: head, names: []string{c.named("file", r.Path)}, body: c.prose(r.Text), most: 1000})
	}
	earlier := section{title: "Found in an earlier round"}
	for _, f := range l.Earlier {
		earlier.items = append(earlier.items, &item{head: fmt.Sprintf("%s, on line %d:", f.Severity, f.Line), names: []string{c.named("file", f.Path)}, body: c.prose(f.Text), most: 1000})
	}
	asked := wordsOf(c, "What people asked for", l.Asked, 4000)
	var pull section
	if of != nil {
		pull = pullOf(c, *of)
	}
	task, style := issueOf(c, issue), section{}
	if l.Guidelines != nil {
		style = section{title: "The coding guidelines", items: plain(c.prose(l.Guidelines.Text), textLimit)}
	}
	claims = []claim{
		{items: diff.items, least: 20_000, share: 60_000}, {items: task.items, least: 2000, share: textLimit}, {items: pull.items, share: 6000},
		{items: asked.items, share: textLimit}, {items: earlier.items, share: textLimit},
		{items: doc.items, share: textLimit}, {items: style.items, share: textLimit}, {items: raised.items, share: textLimit}, {items: files.items, share: 3000},
	}
	return []section{pull, task, doc, style, asked, raised, earlier, files, diff}, claims
}
