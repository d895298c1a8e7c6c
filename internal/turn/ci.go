package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// CIPolicy is what the settings say about failed workflow runs, and which runs are our own.
type CIPolicy struct {
	When    string // never, first_fail or all_complete
	OwnPath string // of MergeXO's own workflow file; "" if unknown
	OwnRun  int64  // id of the workflow run that this process is in; 0 in a terminal
}

const (
	allLogs  = 60_000 // characters of the logs of all failures
	maxJobs  = 30     // failed jobs reported per run
	noName   = "GitHub Actions"
	nameSize = 100
)

// Failures turns the failed workflow runs on the head of a pull request into feedback, oldest first. Each run
// counts by itself, as it does for a merge: only a re-run replaces what it runs again. Each has the ends of its jobs' logs, cut to fit a
// prompt.
func Failures(runs []model.CIRun, head string, number int, p CIPolicy) []model.Comment {
	all := runsOn(runs, head, p)
	waits := p.When == "all_complete" && slices.ContainsFunc(all, func(r model.CIRun) bool { return !r.Completed })
	if waits || p.When != "all_complete" && p.When != "first_fail" {
		return nil
	}
	failed := slices.DeleteFunc(all, func(r model.CIRun) bool {
		return !r.Completed || r.Conclusion != "failure" && r.Conclusion != "timed_out" && r.Conclusion != "startup_failure"
	})
	shareLogs(failed)
	out := make([]model.Comment, len(failed))
	for i, r := range failed {
		out[i] = model.Comment{
			Kind: model.KindActions, ID: r.ID, Author: model.Actor{Login: cmp.Or(name(r.Name, nameSize), noName), Bot: true}, URL: r.URL,
			CreatedAt: r.UpdatedAt, UpdatedAt: r.UpdatedAt, // the end of the run
			Body: runText(r, number), Run: &failed[i],
		}
	}
	return out
}

// runsOn are the runs on a head, without our own, in the order of their last update.
func runsOn(runs []model.CIRun, head string, p CIPolicy) []model.CIRun {
	list := slices.DeleteFunc(slices.Clone(runs), func(r model.CIRun) bool {
		return r.HeadSHA != head || r.ID == p.OwnRun || p.OwnPath != "" && workflowFile(r.Path) == workflowFile(p.OwnPath)
	})
	slices.SortFunc(list, func(a, b model.CIRun) int { return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID)) })
	return list
}

// workflowFile is the path of a workflow without the ref that GitHub sometimes appends.
func workflowFile(path string) string {
	file, _, _ := strings.Cut(path, "@")
	return file
}

// shareLogs cuts the logs of all jobs to an equal share of the limit.
func shareLogs(failed []model.CIRun) {
	n := 0
	for i := range failed {
		failed[i].Jobs = slices.Clone(failed[i].Jobs[:min(len(failed[i].Jobs), maxJobs)])
		n += len(failed[i].Jobs)
	}
	for _, r := range failed {
		for i, j := range r.Jobs {
			if most := min(LogLimit, allLogs/n); most > len(cutLog) {
				r.Jobs[i].Log = logEnd(j.Log, most, false)
			} else {
				r.Jobs[i].Log = ""
			}
			r.Jobs[i].Cut = j.Cut || r.Jobs[i].Log != j.Log
		}
	}
}

// runText says what a run was and which of its jobs failed. Their logs are separate.
func runText(r model.CIRun, number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Workflow %s failed on %s, the head of pull request #%d (event %s, attempt %d, %s): %s",
		cmp.Or(name(r.Name, nameSize), name(r.Path, nameSize), "without a name"), markdown.Short(r.HeadSHA), number, name(r.Event, nameSize), r.Attempt, r.Conclusion, name(r.URL, 500))
	for i, j := range r.Jobs {
		if i == 0 {
			b.WriteString("\n\nFailed jobs:\n")
		}
		fmt.Fprintf(&b, "\n- %s", name(j.Name, nameSize))
		if j.Step != "" {
			fmt.Fprintf(&b, ", at step %s", name(j.Step, nameSize))
		}
		fmt.Fprintf(&b, " (%s)", cmp.Or(name(j.Conclusion, nameSize), "failure"))
		if j.URL != "" {
			b.WriteString(": " + name(j.URL, 500))
		}
	}
	return b.String()
}

// failedJobs are the failed jobs of the runs that the feedback is about, with their logs.
func failedJobs(feedback []model.Comment) []model.CIFailure {
	var out []model.CIFailure
	for _, c := range feedback {
		if c.Run == nil {
			continue
		}
		for _, j := range c.Run.Jobs {
			out = append(out, model.CIFailure{RunID: c.ID, Name: c.Author.Login + " / " + name(j.Name, nameSize), Log: j.Log})
		}
		if len(c.Run.Jobs) == 0 {
			out = append(out, model.CIFailure{RunID: c.ID, Name: c.Author.Login})
		}
	}
	return out
}

// anyRun reports whether the feedback has a failed workflow run.
func anyRun(feedback []model.Comment) bool {
	return slices.ContainsFunc(feedback, func(c model.Comment) bool { return c.Kind == model.KindActions })
}

// Carry copies into a receipt what earlier receipts say of its head: which current failures were answered, and which were
// called flaky. Reading stops at the new receipt, so nothing else keeps that.
func Carry(m model.TurnMarker, st model.State, failures []model.Comment) model.TurnMarker {
	m.Events = slices.Clone(m.Events)
	for _, c := range failures {
		key := c.Key(m.Number)
		if c.Run != nil && c.Run.HeadSHA == m.Head && st.Answered[key] && !slices.Contains(m.Events, key) {
			m.Events = append(m.Events, key)
		}
	}
	slices.Sort(m.Events)
	for _, t := range slices.Backward(receipts(st)) {
		if f := t.Marker.Flaky; m.Flaky == nil && f != nil && f.Head == m.Head {
			m.Flaky = f
		}
	}
	return m
}
