package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// nobody stands for an editor whose account was deleted.
const nobody = "(a deleted account)"

// material is what an agent gets to revise a pull request: sections in reading order, and their claims by priority.
func material(c *cleaner, s model.Snapshot, a Ask) (read []section, claims []claim) {
	if a.flow() != "" {
		return issueMaterial(c, s, a)
	}
	news := newsOf(c, a)
	var newsClaims []claim
	for _, n := range news {
		newsClaims = append(newsClaims, claim{items: n.items, least: 1000, share: 12_000})
	}
	if a.briefly() {
		return news, newsClaims
	}
	var asked section
	if q := a.State.Question; q != nil {
		asked = section{title: "The question that you asked; the feedback since then may answer it", items: []*item{{body: c.prose(question(*q)), most: 4000}}}
	}
	var failed section
	if m := FailedMerge(s.Pull, a.State); m != nil {
		code := c.named("code", string(m.Marker.Reason))
		failed = section{title: "The last merge of this head failed", items: []*item{{names: []string{code}, body: c.code(whatHappened(m.Text), textLimit), most: textLimit}}}
	}
	feedback, hunks, threads := feedbackOf(c, s, a)
	logs := logItems(c, a.Feedback, feedback)
	pull, issue, past := pullOf(c, s.Pull), issueOf(c, s.Pull.Issue), pastOf(c, s, a)
	files := filesOf(c, s.Pull)
	diff := section{title: "Its diff so far", items: plain(c.code(a.Diff, textLimit*3), textLimit*3)}
	claims = append(claims, claim{items: feedback.items, least: max(20_000/max(len(a.Feedback), 1), 1)})
	claims = append(claims, newsClaims...)
	claims = append(claims, claim{items: asked.items, least: 1000, share: 4000}, claim{items: failed.items, least: 1000, share: 12_000})
	claims = append(claims,
		claim{items: logs, share: 30_000}, claim{items: hunks, share: 6000}, claim{items: pull.items, share: 3000}, claim{items: issue.items, share: 3000},
		claim{items: threads, share: 6000}, claim{items: past[0].items, share: 3000}, claim{items: past[1].items, share: 3000},
		claim{items: files.items, share: 1000}, claim{items: diff.items},
	)
	return append(news, asked, failed, feedback, pull, issue, past[0], past[1], files, diff), claims
}

// plain is a section's only item; none if it is empty.
func plain(body words, most int) []*item {
	if len(body.text) == 0 {
		return nil
	}
	return []*item{{body: body, most: most}}
}

// newsOf is the result of the previous round.
func newsOf(c *cleaner, a Ask) []section {
	var news []section
	if len(a.GitResults) > 0 {
		s := section{title: "Results of the git operations that you asked for"}
		for _, r := range a.GitResults {
			said := r.Detail
			if r.Result == model.GitConflict {
				said = "" // what to do is said above the fence
			}
			for _, p := range r.Paths {
				said += "\n" + name(p, 500)
			}
			s.items = append(s.items, &item{head: gitHead(r), body: c.code(said, 4000), most: 4000})
		}
		news = append(news, s)
	}
	if a.Kind == model.AskRepair {
		news = append(news, section{title: "What to fix before anything is pushed", items: checkItems(c, a.CI)})
	}
	return news
}

// gitHead summarizes a git operation's result.
func gitHead(r model.GitResult) string {
	ended, ok := map[string]string{
		model.GitDone: "done", model.GitNothing: "nothing to do", model.GitFailed: "not done",
		model.GitConflict: "conflict. The merge is in progress, with conflict markers in the files below: resolve them and give a commit_message, which makes the merge commit; without one the merge is aborted",
	}[r.Result]
	if !ok {
		ended = name(r.Result, 40)
	}
	return fmt.Sprintf("%s: %s.", name(r.Op, 60), ended)
}

// checkItems are failed checks, from CI or our own.
func checkItems(c *cleaner, failed []model.CIFailure) []*item {
	var items []*item
	for _, f := range failed {
		i := &item{names: []string{c.named("check", f.Name)}, body: c.log(f.Log, textLimit), most: textLimit, tail: true, head: "The end of what it printed:"}
		items = append(items, i)
	}
	return items
}

// logItems are the failed runs' logs, each below its run's item. all has the feedback newest first.
func logItems(c *cleaner, feedback []model.Comment, all section) []*item {
	var logs []*item
	for n, f := range feedback {
		if f.Run == nil {
			continue
		}
		of := all.items[len(feedback)-1-n]
		for _, j := range f.Run.Jobs {
			if j.Log != "" {
				of.under = append(of.under, &item{
					head: "The end of the log of a job that failed:", names: []string{c.named("job", j.Name)}, body: c.log(j.Log, LogLimit), most: LogLimit, tail: true,
				})
			}
		}
		logs = append(logs, of.under...)
	}
	return logs
}

// hunkLimit is how much of a hunk is shown: its end, where the comment is.
const hunkLimit = 2000

// feedbackOf is the pending feedback, newest first, each with the diff above it and the earlier comments of its thread.
// Each thread is shown once.
func feedbackOf(c *cleaner, s model.Snapshot, a Ask) (all section, hunks, threads []*item) {
	all.title = "Feedback, newest first"
	told, path := map[int64]bool{}, min(max(30_000/max(len(a.Feedback), 1), 80), 400)
	for _, f := range slices.Backward(a.Feedback) {
		i := &item{
			head: fmt.Sprintf("Feedback %d: %s.", f.ID, placed(f)), most: textLimit,
			names: []string{c.named("author", head(f.Author.Login, 60)), "", ""},
		}
		if f.Kind.Happened() { // not Markdown
			i.names[0], i.body = "", c.code(f.Body, textLimit)
		} else {
			i.body = c.prose(f.Body)
		}
		if f.EditedByOther {
			i.names[1] = c.named("last edited by", head(cmp.Or(f.Editor, nobody), 60))
		}
		if f.Path != "" {
			i.names[2] = "file: " + c.unfence(name(f.Path, path))
		}
		all.items = append(all.items, i)
		if f.Kind != model.KindReview || told[f.Thread()] {
			continue
		}
		told[f.Thread()] = true
		if hunk := c.tail(f.DiffHunk, hunkLimit); len(hunk.text) > 0 {
			i.under = append(i.under, &item{head: "The end of the diff above it:", body: hunk, most: hunkLimit, tail: true})
			hunks = append(hunks, i.under...)
		}
		earlier := threadOf(c, s, a, f)
		threads = append(threads, earlier...)
		for _, e := range slices.Backward(earlier) {
			i.under = append(i.under, e)
		}
	}
	return all, hunks, threads
}

// threadOf are the earlier comments in a review thread that need no answer, newest first.
func threadOf(c *cleaner, s model.Snapshot, a Ask, f model.Comment) []*item {
	const most, each = 20, 2000
	var earlier []model.Comment
	for _, w := range s.Comments {
		if w.Kind != model.KindReview || w.Thread() != f.Thread() || cmp.Or(w.CreatedAt.Compare(f.CreatedAt), cmp.Compare(w.ID, f.ID)) >= 0 {
			continue
		}
		if !slices.ContainsFunc(a.Feedback, func(p model.Comment) bool { return p.Kind == w.Kind && p.ID == w.ID }) {
			earlier = append(earlier, w)
		}
	}
	slices.SortStableFunc(earlier, func(a, b model.Comment) int {
		return -cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	var items []*item
	for _, w := range earlier[:min(len(earlier), most)] {
		i := &item{head: "Earlier in its thread:", names: []string{c.named("author", w.Author.Login)}, body: c.prose(w.Body), most: each}
		if w.Ours {
			i.head, i.names = "Your own earlier reply in its thread:", nil
		}
		items = append(items, i)
	}
	return items
}

// placed describes a piece of feedback and its position, apart from names.
func placed(f model.Comment) string {
	switch f.Kind {
	case model.KindIssue:
		return "comment in the conversation"
	case model.KindActions:
		return "failed workflow run"
	case model.KindMerge:
		return "failed merge"
	case model.KindReviewSummary:
		return "review" + map[string]string{"APPROVED": " that approves", "CHANGES_REQUESTED": " that requests changes", "DISMISSED": ", dismissed"}[f.ReviewState]
	}
	var b strings.Builder
	b.WriteString("review comment")
	switch {
	case f.Line == 0 && f.Outdated:
		b.WriteString(" on lines that were changed since")
		if then := f.Then(); then.Line != 0 {
			fmt.Fprintf(&b, " (at that time: %s)", then.Named())
		}
	case f.Line == 0 && f.Path != "":
		b.WriteString(" on the whole file")
	case f.Line != 0:
		b.WriteString(" on " + f.Named())
		if f.Outdated {
			b.WriteString(", changed since")
		}
	}
	if f.Thread() != f.ID {
		fmt.Fprintf(&b, ", in the thread of review comment %d", f.Thread())
	}
	if f.Resolved {
		b.WriteString(", resolved")
	}
	return b.String()
}

func pullOf(c *cleaner, p model.Pull) section {
	return section{title: fmt.Sprintf("Pull request #%d", p.Number), items: []*item{{
		names: []string{"title: " + c.title(p.Title), c.named("head", p.HeadRef), c.named("base", p.BaseRef)}, body: c.prose(p.Body), most: textLimit,
	}}}
}

func issueOf(c *cleaner, i *model.Issue) section {
	if i == nil {
		return section{}
	}
	return section{title: fmt.Sprintf("Issue #%d, which it is for", i.Number), items: []*item{{
		names: []string{"title: " + c.title(i.Title)}, body: c.prose(i.Body), most: textLimit,
	}}}
}

// pastOf is what the agent did here before: receipts, and for a new session its replies too. A resumed session knows them.
func pastOf(c *cleaner, s model.Snapshot, a Ask) [2]section {
	const most, each = 50, 4000
	past := [2]section{{title: "Your earlier turns, newest first"}, {title: "Your earlier replies, newest first"}}
	if a.Session != "" {
		return past
	}
	done := receipts(a.State)
	for _, t := range slices.Backward(done[max(len(done)-most, 0):]) {
		past[0].items = append(past[0].items, &item{head: fmt.Sprintf("A turn that ended at %s:", name(t.Marker.Head, 64)), body: c.prose(t.Text), most: each})
	}
	if !a.Fresh {
		return past
	}
	var ours []model.Comment
	for _, w := range s.Comments {
		told := slices.ContainsFunc(a.Feedback, func(f model.Comment) bool { return f.Kind == model.KindReview && f.Thread() == w.Thread() })
		if w.Ours && w.Kind == model.KindReview && !told {
			ours = append(ours, w)
		}
	}
	for _, w := range slices.Backward(ours[max(len(ours)-most, 0):]) {
		past[1].items = append(past[1].items, &item{
			head: fmt.Sprintf("In the thread of review comment %d:", w.Thread()), names: []string{c.named("file", w.Path)}, body: c.prose(w.Body), most: each,
		})
	}
	return past
}

func filesOf(c *cleaner, p model.Pull) section {
	var list strings.Builder
	for _, f := range p.Files {
		list.WriteString(name(f.Path, 500) + "\n")
	}
	s := section{title: "Files that it changes so far", items: plain(c.code(list.String(), textLimit), textLimit)}
	if !p.FilesComplete && len(s.items) > 0 {
		s.items[0].head = "There are more than these."
	}
	return s
}
