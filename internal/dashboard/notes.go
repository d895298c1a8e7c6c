package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// note is a line that adds what the state does not show: a text, a time, further text, and the comment that says so.
type note struct {
	Text  string
	At    stamp
	Rest  string
	URL   string
	About string // what the comment is about
}

// checkName is a check with its page.
type checkName struct{ Name, URL string }

// checkList are the checks of one state.
type checkList struct {
	Word string
	Some []checkName
	More int
}

// forkWords are what happens to the pull request of a fork.
var forkWords = map[model.ExternalState]string{
	model.ExternalLinked: "is not accepted yet", model.ExternalLetIn: "is being evaluated", model.ExternalApproved: "will be merged",
	model.ExternalFix: "is being fixed", model.ExternalWanting: "needs changes by its contributor", model.ExternalRejected: "was rejected",
	model.ExternalLanded: "is already on the base", model.ExternalVoid: "needs a new review", model.ExternalFailed: "could not be evaluated",
}

// mergeWords are what requests to merge wait for.
var mergeWords = map[model.MergeCode]string{
	model.CodeApproval: "it needs an approval", model.CodeStale: "the approval is for an older commit or another base", model.CodeChanges: "a review requests changes",
	model.CodeChecks: "checks are running", model.CodeChecksFailed: "checks failed", model.CodeDraft: "it is a draft", model.CodeFrozen: "its labels hold it", model.CodeReviewers: "a requested review is missing",
	model.CodeTrain: "it is in the merge train", model.CodeQueue: "it is in GitHub's merge queue", model.CodeBusy: "a turn is running", model.CodeBlocked: "it is blocked",
	model.CodeMember: "another pull request of its group is not ready", model.CodeDepends: "it depends on another pull request",
}

func (d drawer) notes(p model.BoardPull) []note {
	var notes []note
	if b := p.Block; b != nil {
		n := note{Text: "Blocked since", At: d.stamp(b.Since), Rest: ": " + words(b.Reason), URL: d.link(b.URL), About: "the block"}
		if b.Expected != "" && b.Observed != "" {
			n.Rest += fmt.Sprintf(". Expected %s, found %s", short(b.Expected), short(b.Observed))
		}
		notes = append(notes, n)
	}
	if p.Pending > 0 {
		notes = append(notes, note{Text: markdown.Count(p.Pending, "comment") + " without an answer"})
	}
	if p.Failed > 0 {
		n := note{Text: markdown.Count(p.Failed, "attempt") + " failed"}
		if p.LastTurn != nil {
			n.URL, n.About = d.link(p.LastTurn.URL), "the last attempt"
		}
		notes = append(notes, n)
	}
	if m := p.Merge; m != nil {
		notes = append(notes, d.mergeNote(*m))
	}
	if e := p.External; e != nil {
		n := note{Text: "From a fork", URL: d.link(p.ExternalURL), About: "the fork"}
		if e.By != "" {
			n.Text += ", accepted by " + clean(e.By)
		}
		if said, known := forkWords[e.State]; known {
			n.Rest = ": it " + said
		} else {
			n.Rest = ": " + words(string(e.State))
		}
		if e.Reason != "" && e.State != model.ExternalVoid {
			n.Rest += ". The evaluation says: " + clean(e.Reason)
		}
		notes = append(notes, n)
	}
	return notes
}

// mergeNote tells of a request to merge.
func (d drawer) mergeNote(m model.MergeRequest) note {
	n := note{Text: "Merge requested", At: d.stamp(m.Since), URL: d.link(m.URL), About: "the merge"}
	if m.By != "" {
		n.Text += " by " + clean(m.By)
	}
	if !m.Since.IsZero() {
		n.Text += " on"
	}
	if why, known := mergeWords[m.Reason]; known && m.State == model.MergeWaiting {
		n.Rest = ": " + why
		return n
	}
	switch m.State {
	case model.MergeWaiting:
		n.Rest = ": it waits"
	case model.MergeRunning:
		n.Rest = ": it is running"
	case model.MergeDone:
		n.Rest = ": done"
	case model.MergeFailed:
		n.Rest = ": it failed"
	default:
		n.Rest = ": " + words(string(m.State))
	}
	if m.Reason != "" {
		n.Rest += ", " + strings.ToLower(words(string(m.Reason)))
	}
	return n
}

// checkLists are the checks that failed, and those that are not done.
func (d drawer) checkLists(p model.BoardPull) []checkList {
	lists := []checkList{{Word: "Failed"}, {Word: "Pending"}}
	for _, c := range p.Checks {
		l := &lists[0]
		if c.State != model.CheckFailed {
			l = &lists[1]
		}
		if len(l.Some) == mostChecks {
			l.More++
			continue
		}
		l.Some = append(l.Some, checkName{clean(c.Name), d.link(c.URL)})
	}
	return slices.DeleteFunc(lists, func(l checkList) bool { return len(l.Some) == 0 })
}
