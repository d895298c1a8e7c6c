package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Results writes the reports of a sweep as one object.
func Results(w io.Writer, all []model.Report) error {
	if all == nil {
		all = []model.Report{}
	}
	for i := range all {
		if all[i].Effects == nil {
			all[i].Effects = []model.Effect{}
		}
	}
	return Object(w, map[string]any{"results": all})
}

// SweepAccount writes what a sweep did as plain text for a terminal: the account of each number that had work, then the
// repository's own, then one line for the whole sweep. Without any work it writes only that line.
func SweepAccount(w io.Writer, b model.Board, all []model.Report) error {
	count := map[model.Result]int{}
	for _, r := range all {
		if r.Result == model.ResultNothing && len(r.Effects) == 0 && len(r.Said) == 0 {
			continue
		}
		if r.Number != 0 {
			count[r.Result]++
		}
		if err := text(w, inkOf(w).in(strong, "== "+subject(r))+"\n\n"); err != nil {
			return err
		}
		if err := Account(w, r); err != nil {
			return err
		}
		if err := text(w, "\n"); err != nil {
			return err
		}
	}
	return text(w, whole(b, count, all)+"\n")
}

func subject(r model.Report) string {
	switch {
	case r.Number == 0:
		return "the repository"
	case r.IsIssue:
		return fmt.Sprintf("issue #%d", r.Number)
	}
	return fmt.Sprintf("#%d", r.Number)
}

// whole sums up a sweep in one line: its result, what it read, what it cost.
func whole(b model.Board, count map[model.Result]int, all []model.Report) string {
	var parts []string
	for _, result := range []model.Result{model.ResultDone, model.ResultBlocked, model.ResultRetry, model.ResultFailed} {
		if n := count[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	line := "nothing to do"
	switch own := all[len(all)-1]; {
	case len(parts) > 0:
		line = strings.Join(parts, ", ")
	case count[model.ResultNothing] > 0:
		line = "nothing done"
	case own.Result != model.ResultNothing:
		line = string(own.Result)
	}
	if looked := len(b.Pulls) + b.Untracked; looked > 0 || len(b.Issues) > 0 {
		line += fmt.Sprintf("; looked at %s", plural(looked, "open pull request", "open pull requests"))
		if len(b.Issues) > 0 {
			line += fmt.Sprintf(" and %s", plural(len(b.Issues), "issue", "issues"))
		}
	}
	calls := model.Calls{}
	for _, r := range all {
		calls.REST, calls.GraphQL, calls.Git = calls.REST+r.Calls.REST, calls.GraphQL+r.Calls.GraphQL, calls.Git+r.Calls.Git
	}
	return fmt.Sprintf("%s; %s and %s in all", line, plural(calls.REST+calls.GraphQL, "GitHub call", "GitHub calls"), plural(calls.Git, "git network operation", "git network operations"))
}

// MatrixOutput appends the step outputs matrix, work and max-parallel to the file at path, as Outputs does: the job matrix as
// JSON on one line, whether there is any work, since Actions refuses a matrix without a job, and how many of its jobs may run
// at a time. It contains no text of users.
func MatrixOutput(path string, m model.Matrix, parallel int) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the matrix: %w", err)
	}
	return appendTo(path, fmt.Sprintf("matrix=%s\nwork=%t\nmax-parallel=%d\n", raw, len(m.Include) > 0, max(1, parallel)))
}

// WorkOutput appends the step output work to the file at path, as Outputs does: whether a run has anything to do.
func WorkOutput(path string, work bool) error { return appendTo(path, fmt.Sprintf("work=%t\n", work)) }
