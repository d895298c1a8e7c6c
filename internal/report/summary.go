package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Bounds that keep a job summary under the 1 MiB that GitHub takes for one step, whatever a run did. Bytes and counts.
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits
const (
	reasonLimit = 8 << 10
	sayingLimit = 8 << 10
	sayings     = 50
	cellLimit   = 300
	rows        = 200
	pictures    = 5
)

// Summary writes the job summary, markdown that tells a person what happened and why, with links into the repository
// at repoURL (https://github.com/owner/name; empty leaves the links out). A blocked run shows both heads and what to
// do. Text that others wrote is shown as code. It is never longer than 1 MiB.
func Summary(w io.Writer, r model.Report, repoURL string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### MergeXO: %s\n\n", heading(r, repoURL))
	switch {
	case waits(r):
		waiting(&b, r, repoURL)
	case r.Result == model.ResultBlocked && r.Merge:
		unmerged(&b, r)
	case r.Result == model.ResultBlocked:
		blocked(&b, r, repoURL)
	case r.Result == model.ResultRetry:
		reason(&b, r.Reason)
		b.WriteString("Nothing is lost: the next event or run handles what is pending. To try again now, rerun this job.\n\n")
	case r.Result == model.ResultFailed:
		reason(&b, r.Reason)
		if !r.IsIssue {
			b.WriteString("Comments are kept. ")
		}
		b.WriteString("The log of this step has the error. Rerun this job to try again.\n\n")
	default:
		if d := did(r, repoURL); d != "" {
			fmt.Fprintf(&b, "%s\n\n", d)
		}
		reason(&b, r.Reason)
	}
	if n := r.Need; n != nil {
		fmt.Fprintf(&b, "**Waits for a person:** [%s](%s) (%s): %s\n\n", n.Headline, n.URL, n.Who, span(n.Next, cellLimit))
	}
	for i, picture := range r.Pictures {
		if i < pictures && len(picture) <= sayingLimit {
			b.WriteString(picture + "\n\n")
		}
	}
	for _, t := range r.Trains[:min(len(r.Trains), pictures)] {
		b.WriteString(TrainMarkdown(t, repoURL) + "\n\n")
	}
	effects(&b, r.Effects)
	said(&b, r.Said)
	fmt.Fprintf(&b, "<sub>%s</sub>\n", footer(r))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write job summary: %w", err)
	}
	return nil
}

func heading(r model.Report, repoURL string) string {
	if r.Number == 0 {
		return outcome(r.Result)
	}
	n := strconv.Itoa(r.Number)
	switch issue := page(repoURL, "issues/"+n, "#"+n); {
	case waits(r):
		return "issue " + issue + " waits for a person"
	case r.IsIssue:
		return "issue " + issue + " " + outcome(r.Result)
	}
	return page(repoURL, "pull/"+n, "#"+n) + " " + outcome(r.Result)
}

// outcome is a result in words.
func outcome(r model.Result) string {
	switch r {
	case model.ResultDone:
		return "done"
	case model.ResultNothing:
		return "nothing to do"
	case model.ResultBlocked:
		return "blocked, a person is needed"
	case model.ResultRetry:
		return "try again later"
	case model.ResultFailed:
		return "failed"
	}
	return span(string(r), 40)
}

// did says in one sentence what was sent to GitHub, or would be.
func did(r model.Report, repoURL string) string {
	parts := counts(r.Effects)
	if len(parts) == 0 {
		return ""
	}
	verb := "Did"
	if onlyPlanned(r.Effects) {
		verb = "Would do"
	}
	s := fmt.Sprintf("%s: %s.", verb, strings.Join(parts, ", "))
	if n := strconv.Itoa(r.Opened.Number); r.Opened.Number != 0 {
		s += " The work continues in pull request " + page(repoURL, "pull/"+n, "#"+n) + "."
	}
	if at := reached(r); at != "" {
		s += " The branch is at " + commit(repoURL, at) + "."
	}
	return s
}

// counts names how many effects of each kind there are, the ones that people care about first.
func counts(effects []model.Effect) []string {
	n := map[string]int{}
	for _, e := range effects {
		n[e.Kind]++
	}
	var parts []string
	for _, k := range []struct{ kind, one, many string }{
		{"pull_request", "pull request", "pull requests"},
		{"merge", "merge", "merges"},
		{"push", "push", "pushes"},
		{"checkpoint", "checkpoint", "checkpoints"},
		{"reply", "reply", "replies"},
		{"comment", "comment", "comments"},
		{"edit", "edited comment", "edited comments"},
		{"delete", "deletion", "deletions"},
		{"stage", "staged commit", "staged commits"},
	} {
		if n[k.kind] > 0 {
			parts = append(parts, plural(n[k.kind], k.one, k.many))
		}
	}
	return parts
}

func onlyPlanned(effects []model.Effect) bool {
	return !slices.ContainsFunc(effects, func(e model.Effect) bool { return e.Status != "planned" })
}

func reason(b *strings.Builder, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if !strings.ContainsAny(strings.TrimSpace(text), "\r\n") && len(text) <= 200 {
		fmt.Fprintf(b, "Reason: %s\n\n", span(text, reasonLimit))
		return
	}
	fmt.Fprintf(b, "Reason:\n\n%s\n", block(text, reasonLimit))
}

// unmerged describes a merge that needs a person.
func unmerged(b *strings.Builder, r model.Report) {
	fmt.Fprintf(b, "Not merged: %s\n\n", span(r.BlockedReason, cellLimit))
	reason(b, r.Reason)
	b.WriteString("MergeXO's newest comment on the pull request shows what is missing, and `/mergexo why` lists every condition.\n\n")
}

func blocked(b *strings.Builder, r model.Report, repoURL string) {
	if r.BlockedReason != "" {
		fmt.Fprintf(b, "Blocked by %s\n\n", span(r.BlockedReason, cellLimit))
	}
	reason(b, r.Reason)
	if r.Expected != "" && r.Observed != "" {
		b.WriteString("| head | commit |\n| --- | --- |\n")
		fmt.Fprintf(b, "| expected | %s |\n", head(repoURL, r.Expected))
		fmt.Fprintf(b, "| observed | %s |\n\n", head(repoURL, r.Observed))
	}
	if r.Need != nil && !(isSHA.MatchString(r.Expected) && isSHA.MatchString(r.Observed)) { // which says who may do what
		b.WriteString("Comments are kept, and nothing is pushed until this is done:\n\n")
		return
	}
	b.WriteString("Comments are kept, and nothing is pushed until a maintainer comments on the pull request:\n\n")
	if !isSHA.MatchString(r.Expected) || !isSHA.MatchString(r.Observed) {
		b.WriteString("- once the cause is gone: comment `/mergexo unblock`\n\n")
		return
	}
	fmt.Fprintf(b, "- to go back: push the branch so that it contains %s again, then comment `/mergexo unblock`\n", commit(repoURL, r.Expected))
	fmt.Fprintf(b, "- to continue from the current head: comment `/mergexo unblock head_sha=%s`\n", r.Observed)
	fmt.Fprintf(b, "- to see what differs: %s\n\n", page(repoURL, "compare/"+r.Expected+"..."+r.Observed, "compare the two heads"))
}

// waits reports whether the issue waits for a comment. A cancelled run is tried again, but until then its issue waits too.
func waits(r model.Report) bool { return r.IsIssue && r.BlockedReason != "" }

// waiting describes such an issue.
func waiting(b *strings.Builder, r model.Report, repoURL string) {
	fmt.Fprintf(b, "Waiting for: %s\n\n", span(r.BlockedReason, cellLimit))
	reason(b, r.Reason)
	if isSHA.MatchString(r.Observed) {
		fmt.Fprintf(b, "The work is kept at %s. ", commit(repoURL, r.Observed))
	}
	b.WriteString("MergeXO's newest comment on the issue shows how to continue.\n\n")
}

func effects(b *strings.Builder, all []model.Effect) {
	if len(all) == 0 {
		return
	}
	b.WriteString("| effect | target | status |\n| --- | --- | --- |\n")
	for i, e := range all {
		if i == rows {
			fmt.Fprintf(b, "| and %d more | | |\n", len(all)-rows)
			break
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", cell(e.Kind), cell(e.Target), cell(e.Status))
	}
	b.WriteString("\n")
}

func said(b *strings.Builder, all []model.Saying) {
	if len(all) == 0 {
		return
	}
	b.WriteString("<details><summary>What was said</summary>\n\n")
	for i, s := range all {
		if i == sayings {
			fmt.Fprintf(b, "and %d more\n\n", len(all)-sayings)
			break
		}
		fmt.Fprintf(b, "%s\n\n%s\n", span(s.Where, cellLimit), block(visible(s.Text), sayingLimit))
	}
	b.WriteString("</details>\n\n")
}

// footer is what the run cost.
func footer(r model.Report) string {
	parts := []string{plural(r.Calls.REST+r.Calls.GraphQL, "GitHub call", "GitHub calls"),
		plural(r.Calls.Git, "git network operation", "git network operations"), took(r.DurationMS)}
	if r.TurnKey != "" {
		parts = append([]string{"turn " + span(short(r.TurnKey), 64)}, parts...)
	}
	return strings.Join(parts, " · ")
}

func took(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
