package turn

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// maxFlakyTitle is the limit for a report's title in characters; GitHub's is 256.
const maxFlakyTitle = 200

// unreportable is why the report of a flaky test cannot be filed; "" where it can.
func unreportable(f model.FlakyTest, feedback []model.Comment, changed bool) string {
	switch {
	case blank(f.Title + f.Summary):
		return "it was empty"
	case !anyRun(feedback):
		return "no failed workflow run that it could be about"
	case changed:
		return "files were changed too, so that it is only quoted above"
	}
	return ""
}

// reruns are the runs in the feedback, to be run again.
func reruns(feedback []model.Comment) []model.Rerun {
	var out []model.Rerun
	for _, c := range feedback {
		if c.Run != nil {
			out = append(out, model.Rerun{Run: c.ID, Attempt: c.Run.Attempt})
		}
	}
	return out
}

// Flaky reports whether a run failed again on the same head after a receipt called its failure flaky. Failures answered
// since do not count.
func Flaky(st model.State, failures []model.Comment, head string) (mark model.FlakyMark, again bool) {
	for _, t := range receipts(st) {
		f := t.Marker.Flaky
		if f == nil || f.Head != head {
			continue
		}
		for _, r := range f.Runs {
			if slices.ContainsFunc(failures, func(c model.Comment) bool { return failedAgain(c, r) && !st.Answered[c.Key(t.Marker.Number)] }) {
				return *f, true
			}
		}
	}
	return mark, false
}

func failedAgain(c model.Comment, before model.Rerun) bool {
	return c.Run != nil && c.ID == before.Run && c.Run.Attempt > before.Attempt
}

// FlakyIssue drafts the issue that reports a flaky test, as seen in the failed runs in the feedback. again says that the failed jobs
// run again. Its body quotes the agent.
func FlakyIssue(f model.FlakyTest, p model.Pull, feedback []model.Comment, again bool) (title, body string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n---\n\nSeen on #%d: the agent working there found that the test is flaky, and that the pull request did not break it.\n", markdown.Contain(strings.TrimSpace(f.Summary), func(string) bool { return false }), p.Number)
	for _, c := range feedback {
		if r := c.Run; r != nil {
			fmt.Fprintf(&b, "\n- [workflow run %d, attempt %d](%s) of %s at %s", r.ID, r.Attempt, r.URL, markdown.Inline(c.Author.Login), markdown.Commit(p.URL, r.HeadSHA))
		}
	}
	if u := strings.TrimSpace(f.RelevantLogURL); u != "" {
		fmt.Fprintf(&b, "\n\nLog: %s", address(u))
	}
	if again {
		b.WriteString("\n\nThe failed jobs are rerun once. If they fail again, MergeXO stops working on the pull request until an operator decides.")
	} else {
		b.WriteString("\n\nThe failed jobs could not be rerun.")
	}
	return name(cmp.Or(strings.TrimSpace(f.Title), f.Summary), maxFlakyTitle), b.String()
}

// address shows an address from others: as a link if it is a web address, else as text.
func address(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(s) > 2000 || strings.ContainsAny(s, "<>\"`\\ ") {
		return markdown.Inline(name(s, 500))
	}
	return "<" + u.String() + ">"
}

// reported tells the result of a report.
func reported(mark model.FlakyMark) string {
	text := "A test looks flaky"
	if mark.Issue != 0 {
		text += fmt.Sprintf(": reported as #%d", mark.Issue)
	}
	if len(mark.Runs) == 0 {
		return text + "; the failed jobs could not be rerun."
	}
	return text + "; the failed jobs are rerunning."
}

// FlakyBlock is what a block says of runs that failed again. failures are those without an answer.
func FlakyBlock(mark model.FlakyMark, failures []model.Comment) string {
	var lines []string
	for _, r := range mark.Runs {
		for _, c := range failures {
			if failedAgain(c, r) {
				lines = append(lines, fmt.Sprintf("%s failed again (attempt %d), %s", c.Author.Login, c.Run.Attempt, c.URL))
			}
		}
	}
	if mark.Issue != 0 {
		lines = append(lines, fmt.Sprintf("it was reported as #%d", mark.Issue))
	}
	return strings.Join(lines, "\n")
}
