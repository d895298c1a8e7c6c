package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// QueueStep is what a request does next that goes through GitHub's own merge queue.
type QueueStep int

// The steps of a request through the merge queue.
const (
	QueueEnter  QueueStep = iota // it is to be put into the queue
	QueueStay                    // it is in the queue, or GitHub does not show yet the result
	QueueLanded                  // GitHub has merged it, and may not show it yet
	QueueOut                     // GitHub has taken it out
)

// Queued says what a request does next. An exit from the queue that it does not know yet is its own, whether or not it ever heard
// that it was in: a run may have died in between. viewer is whose token MergeXO has.
func Queued(m model.MergeMarker, now model.QueueView, viewer string) QueueStep {
	known := m.Queue != nil
	left := leftSince(m.Queue, now)
	switch {
	case now.State == model.PullMerged:
		return QueueLanded
	case now.Entry != nil:
		return QueueStay
	case ByQueue(m.Queue, now):
		return QueueLanded
	case left && now.Left.By.Login == viewer && exitOf(*now.Left) == exitManual: // a run took it out and died, and the conditions hold again
		return QueueEnter
	case left:
		return QueueOut
	case known && m.Queue.In:
		return QueueStay
	}
	return QueueEnter
}

// leftSince says that the pull request left the queue since a request went in.
func leftSince(mark *model.QueueMark, now model.QueueView) bool {
	return mark != nil && now.Left != nil && now.Left.ID != mark.After
}

// ByQueue says that the queue itself has merged what was put into it with this mark.
func ByQueue(mark *model.QueueMark, now model.QueueView) bool {
	return leftSince(mark, now) && exitOf(*now.Left) == exitMerged
}

// LandedSince says that the pull request left the queue since a request went in, and is merged: GitHub does not always say why it
// left.
func LandedSince(mark *model.QueueMark, now model.QueueView) bool {
	return ByQueue(mark, now) || leftSince(mark, now) && now.State == model.PullMerged
}

// exit is a kind of exit from the merge queue.
type exit int

const (
	exitOther exit = iota
	exitMerged
	exitConflict
	exitChecks
	exitRules
	exitManual
)

// exitOf reads GitHub's word for an exit, of which there is no list. Events have been seen with "merged", "failed_checks" and
// "manual"; webhooks document MERGE, ALREADY_MERGED, CI_FAILURE, CI_TIMEOUT, MERGE_CONFLICT, BRANCH_PROTECTIONS and others:
// https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request
func exitOf(left model.QueueExit) exit {
	word := strings.ToLower(left.Reason)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(word, part) })
	}
	switch {
	case word == "merged", word == "merge", word == "already_merged":
		return exitMerged
	case word == "manual":
		return exitManual
	case has("conflict"):
		return exitConflict
	case has("fail", "timeout", "timed_out"):
		return exitChecks
	case has("protection"):
		return exitRules
	}
	return exitOther
}

// QueueFailure is why a request failed that GitHub took out of the merge queue.
func QueueFailure(left model.QueueExit) Failure {
	word := cmp.Or(left.Reason, "no reason given")
	f := Failure{Code: model.CodeDequeued, Detail: fmt.Sprintf("taken out by %s (%s)", left.By.Login, word)}
	switch exitOf(left) {
	case exitConflict:
		f.Code, f.Detail = model.CodeConflict, "GitHub's merge queue could not merge it with what is ahead of it ("+word+")"
	case exitRules:
		f.Code = model.CodeProtected
	case exitChecks:
		f.Code, f.Detail = model.CodeChecksFailed, "the required checks of the merge queue's commit did not pass ("+word+")"
		if left.SHA != "" {
			f.Detail += ": " + left.SHA
		}
		for _, c := range left.Checks {
			if c.State != model.CheckPassed {
				f.Checks = append(f.Checks, c)
			}
		}
	}
	return f
}

// QueueText says where a request stands in the merge queue; a view without an entry is of one that is about to go in, or whose
// end GitHub does not show yet.
func QueueText(p model.Pull, m model.MergeMarker, now model.QueueView) string {
	in := m.Queue != nil && m.Queue.In
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s%s\n\n", either(in || now.Entry != nil, "In GitHub's merge queue:", "Joining GitHub's merge queue:"), what(p, m), markdown.Run(m.RunURL))
	switch {
	case now.Entry != nil:
		fmt.Fprintf(&b, "It is at position %d, %s.", now.Entry.Position, QueueState(*now.Entry))
	case in && now.Left != nil:
		b.WriteString("GitHub does not show it in the queue, and does not show a result yet.")
	default:
		fmt.Fprintf(&b, "GitHub tests it together with what is ahead of it, and merges it into `%s` once the required checks have passed.", markdown.Code(m.Base))
	}
	b.WriteString(" `/mergexo merge cancel` takes it out again.")
	return b.String()
}

// queueStates are the states of an entry in words.
var queueStates = map[string]string{
	"QUEUED": "waiting for its turn", "AWAITING_CHECKS": "waiting for its checks", "MERGEABLE": "about to be merged", "UNMERGEABLE": "but GitHub cannot merge it", "LOCKED": "being merged",
}

// QueueState is the state of an entry in words.
func QueueState(e model.QueueEntry) string {
	return cmp.Or(queueStates[e.State], "in the state "+markdown.Plain(e.State))
}

// queueProblem is why a pull request cannot go through the merge queue of its base; "" if it can.
func queueProblem(c Case) string {
	p := c.Snapshot.Pull
	switch {
	case c.Queue != nil && !c.Queue.Enabled:
		return fmt.Sprintf("branch %q has no merge queue", p.BaseRef)
	case c.Snapshot.Viewer.Login == actionsBot:
		return "the workflow's own token starts no workflow in the merge queue, so the checks would never run: give MergeXO the token of a GitHub App"
	}
	return ""
}

// actionsBot is the account of a workflow's own token.
const actionsBot = "github-actions[bot]"
