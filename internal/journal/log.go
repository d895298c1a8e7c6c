package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Log lists what MergeXO did on one number, the newest first: an entry for each comment with a marker that counts. Unlike Fold it
// leaves out nothing that was later superseded, and counts no block as lifted.
func (c Codec) Log(comments []model.Comment, scope Scope) []model.LogEntry {
	var out []model.LogEntry
	days := map[string]float64{} // what was spent so far, by day
	for _, cm := range inOrder(Attribute(comments, scope)) {
		said, ok := c.trusted(cm, scope, &model.State{})
		if !ok || said.marker == nil {
			continue
		}
		e := model.LogEntry{At: cm.UpdatedAt, Began: cm.CreatedAt, Number: scope.Number, URL: cm.URL}
		describe(&e, said.marker)
		if spent := spentOf(said.marker); spent != nil {
			if e.CostUSD == 0 {
				e.CostUSD = max(0, spent.CostUSD-days[spent.Day])
			}
			days[spent.Day] = max(days[spent.Day], spent.CostUSD)
		}
		out = append(out, e)
	}
	slices.Reverse(out) // of several in one second, the newest comment first
	SortLog(out)
	return out
}

// SortLog puts the newest entries first.
func SortLog(entries []model.LogEntry) {
	slices.SortStableFunc(entries, func(a, b model.LogEntry) int {
		return cmp.Or(b.At.Compare(a.At), b.Began.Compare(a.Began), cmp.Compare(b.Number, a.Number))
	})
}

// spentOf is the day's account in a marker; nil for none.
func spentOf(marker any) *model.Spent {
	switch m := marker.(type) {
	case *model.TurnMarker:
		return m.Spent
	case *model.IssueMarker:
		return m.Spent
	case *model.ReviewMarker:
		return m.Spent
	}
	return nil
}

// describe fills in what a marker says.
func describe(e *model.LogEntry, marker any) {
	switch m := marker.(type) {
	case *model.PRMarker:
		e.Kind, e.State, e.SHA, e.By = KindPR, "tracked", m.Head, m.By
		e.What = "follows the pull request"
	case *model.TurnMarker:
		describeTurn(e, *m)
	case *model.IssueMarker:
		describeIssue(e, *m)
	case *model.BlockMarker:
		e.Kind, e.State, e.SHA, e.Why = KindBlock, m.Reason, m.Observed, firstLine(m.Detail)
		e.What = "blocked the pull request: " + reason(m.Reason)
	case *model.UnblockMarker:
		e.Kind, e.State, e.SHA, e.By = KindUnblock, "unblocked", m.Head, m.By
		e.What = "unblocked the pull request"
	case *model.CommandMarker:
		e.Kind, e.State, e.By = KindCommand, string(m.Result), m.By
		e.What = fmt.Sprintf("answered /mergexo %s", m.Command)
	case *model.MergeMarker:
		describeMerge(e, *m)
	case *model.ExternalMarker:
		e.Kind, e.State, e.SHA, e.By, e.Why, e.RunURL = KindExternal, string(m.State), cmp.Or(m.Tip, m.Head), m.By, firstLine(m.Reason), m.RunURL
		e.What = "fork's pull request: " + strings.ReplaceAll(string(m.State), "_", " ")
	case *model.ConflictMarker:
		e.Kind, e.State, e.SHA, e.What = KindConflicts, "conflicts", m.Head, "reported conflicts with "+conflictsWith(*m)
	case *model.SettingsMarker:
		e.Kind, e.State, e.What = KindSettings, "invalid", "reported settings that cannot be used"
	case *model.ReviewMarker:
		e.Kind, e.State, e.SHA, e.By, e.Why, e.RunURL = KindReview, string(m.State), m.Head, m.By, firstLine(m.Reason), m.RunURL
		e.What = map[model.ReviewState]string{model.ReviewRunning: "is reviewing", model.ReviewDone: "reviewed", model.ReviewFailed: "could not review"}[m.State] + " the pull request"
	case *model.RoadmapMarker:
		describeRoadmap(e, *m)
	case *model.AnswerMarker:
		e.Kind, e.State, e.What = KindAnswer, "answered", "answered feedback"
	}
}

func describeTurn(e *model.LogEntry, m model.TurnMarker) {
	e.Kind, e.State, e.SHA, e.RunURL, e.CostUSD, e.Why = KindTurn, string(m.Phase), cmp.Or(m.Head, m.Planned), m.RunURL, m.CostUSD, firstLine(m.Reason)
	what := count(len(m.Events), "comment")
	if slices.ContainsFunc(m.Events, func(k string) bool { return strings.Contains(k, ":actions:") }) {
		what = "failed CI"
		if n := len(m.Events); n > 1 {
			what += " and comments"
		}
	}
	switch m.Phase {
	case model.PhaseDone:
		e.What = "answered " + what
	case model.PhaseFailed:
		e.What = fmt.Sprintf("attempt %d at %s failed", m.Attempt, what)
	case model.PhasePlanned:
		e.What = "is publishing its answer to " + what
	default:
		e.What = "is working on " + what
	}
}

func describeIssue(e *model.LogEntry, m model.IssueMarker) {
	describeTurn(e, m.TurnMarker)
	work := strings.ReplaceAll(string(m.Flow), "_", " ")
	e.Kind, e.State, e.SHA = KindIssue, string(m.Status), cmp.Or(m.LastCheckpoint, e.SHA)
	switch m.Status {
	case model.PhaseDone:
		e.What = fmt.Sprintf("finished the %s", work)
		if m.Pull != 0 {
			e.What = fmt.Sprintf("opened pull request #%d (%s)", m.Pull, work)
		}
	case model.PhaseFailed:
		e.What = fmt.Sprintf("attempt %d at the %s failed", m.Attempt, work)
	case model.PhaseWaiting:
		e.What = fmt.Sprintf("stopped the %s: %s", work, reason(m.Waiting))
	case model.PhasePlanned:
		e.What = fmt.Sprintf("is opening the pull request (%s)", work)
	default:
		e.What = fmt.Sprintf("is working on the %s", work)
	}
}

func describeMerge(e *model.LogEntry, m model.MergeMarker) {
	e.Kind, e.State, e.SHA, e.By, e.RunURL = KindMerge, string(m.State), cmp.Or(m.Landed, m.Tip, m.Head), m.By, m.RunURL
	e.Why = firstLine(strings.TrimSuffix(fmt.Sprintf("%s: %s", m.Reason, cmp.Or(m.Detail, m.Cause)), ": "))
	e.Why = strings.TrimPrefix(e.Why, ": ")
	switch m.State {
	case model.MergeDone:
		e.What = fmt.Sprintf("merged into %s by %s", m.Base, m.Strategy)
	case model.MergeFailed:
		e.What = "did not merge into " + m.Base
	case model.MergeRunning:
		e.What = "is merging into " + m.Base
	default:
		e.What = "waits to merge into " + m.Base
	}
}

// conflictsWith names the base and the pull requests of a conflict.
func conflictsWith(m model.ConflictMarker) string {
	var all []string
	if len(m.Paths) > 0 {
		all = append(all, m.Base)
	}
	for _, w := range m.With {
		all = append(all, fmt.Sprintf("#%d", w.Number))
	}
	if len(all) == 0 {
		return "nothing now"
	}
	return strings.Join(all, ", ")
}

// reason is a reason of a block or a stop in words.
func reason(code string) string { return strings.ReplaceAll(code, "_", " ") }

// firstLine is the first line of a text that has anything in it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
