// Package needs lists what waits for a person. It derives the list from the status of pull requests and issues alone, so every
// place shows the same list.
package needs

import (
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// task is what somebody has to do.
type task struct{ headline, who, next string }

const (
	operator    = "an operator"
	author      = "the author"
	writer      = "anybody with write access"
	maintainer  = "a maintainer"
	reviewer    = "the reviewer"
	contributor = "the contributor"

	unblock = "/mergexo unblock"
	retry   = "/mergexo retry"
	again   = "/mergexo merge"

	comment        = "a comment"
	commentOrRetry = comment + ", or " + retry
)

// blocks are the tasks of blocked pull requests.
var blocks = map[string]task{
	model.ReasonRewrite:       {"restore the old history, or accept the new one", operator, unblock},
	model.ReasonMarkerEdited:  {"look at the comment that somebody edited", operator, unblock},
	model.ReasonMarkerDeleted: {"check what a deleted comment can have held", operator, unblock},
	model.ReasonAttempts:      {"find out why the agent keeps failing", operator, unblock},
	model.ReasonAgent:         {"answer the agent's question", writer, "a comment with the answer"},
	model.ReasonRefused:       {"rephrase it, because the model refused", operator, unblock},
	model.ReasonSession:       {"start a new agent session", operator, unblock},
	model.ReasonOutcome:       {"find out why the agent's answer is invalid", operator, unblock},
	model.ReasonForbidden:     {"look at the agent's changes that are not allowed", operator, unblock},
	model.ReasonSecret:        {"look for a secret in the agent's commits", operator, unblock},
	model.ReasonTests:         {"fix the required tests, or say how", operator, unblock},
	model.ReasonPush:          {"let the token push to the branch", operator, unblock},
	model.ReasonConflict:      {"resolve the conflict with the newly pushed commits", operator, unblock},
	model.ReasonBudget:        {"raise today's budget, or wait", operator, unblock},
	model.ReasonFlaky:         {"fix the flaky test", operator, unblock},
}

// issues are the tasks of issues that wait, as their comments tell them.
var issues = map[string]task{
	model.ReasonRewrite:       {"accept the branch as it is now, or restore the work", operator, retry},
	model.ReasonMarkerEdited:  {"look at the comment that somebody edited", operator, retry},
	model.ReasonMarkerDeleted: {"check what a deleted comment can have held", operator, retry},
	model.ReasonAttempts:      {"find out why the agent keeps failing", writer, commentOrRetry},
	model.ReasonAgent:         {"answer the agent's question", writer, "a comment with the answer"},
	model.ReasonRefused:       {"rephrase the task, because the model refused", writer, comment},
	model.ReasonSession:       {"start a new agent session", operator, retry},
	model.ReasonOutcome:       {"find out why the agent's answer is invalid", writer, commentOrRetry},
	model.ReasonForbidden:     {"look at the agent's changes that are not allowed", writer, commentOrRetry},
	model.ReasonSecret:        {"look for a secret in the agent's work", writer, commentOrRetry},
	model.ReasonTests:         {"say how to fix the failing tests", writer, commentOrRetry},
	model.ReasonPush:          {"let the token push to the branch", operator, retry},
	model.ReasonConflict:      {"say how to resolve the conflict with the newly pushed commits", writer, commentOrRetry},
	model.ReasonBudget:        {"raise today's budget, or wait", operator, retry},
	model.ReasonFlaky:         {"fix the flaky test", operator, retry},
	model.ReasonTimeout:       {"allow the agent more time, or ask for less", writer, commentOrRetry},
	model.ReasonCancelled:     {"decide whether to continue after the run was cancelled", writer, commentOrRetry},
	model.ReasonNoTest:        {"say how to test the bug", writer, commentOrRetry},
	model.ReasonNoChange:      {"say what to change", writer, comment},
	model.ReasonClosed:        {"reopen the issue", operator, retry},
	model.ReasonNoPull:        {"allow workflows to open pull requests", maintainer, retry},
	model.ReasonNoDesign:      {"restore the design document, or merge another one", writer, comment},
	model.ReasonBranch:        {"delete or rename the branches that are in the way", operator, retry},
}

// merges are the tasks of requests to merge, refused and waiting ones.
var merges = map[model.MergeCode]task{
	model.CodeApproval:      {"approve it", writer, "an approving review"},
	model.CodeStale:         {"approve it as it is now", writer, "an approving review"},
	model.CodeChanges:       {"resolve the review that requests changes", reviewer, "an approving review, or a dismissal"},
	model.CodeChecksFailed:  {"fix the failed checks", author, "a commit, or a rerun"},
	model.CodeDraft:         {"mark it as ready for review", author, "the button \"Ready for review\""},
	model.CodeFrozen:        {"change the labels that hold it", maintainer, "a label"},
	model.CodeReviewers:     {"give the requested review", reviewer, "a review"},
	model.CodeBlocked:       {"decide about the block", operator, unblock},
	model.CodeMember:        {"get the rest of its group ready", author, again},
	model.CodeConflict:      {"resolve the conflict with the base", author, again},
	model.CodeSquash:        {"resolve the conflict with the base", author, again},
	model.CodeTests:         {"fix the tests that fail on what would land", author, again},
	model.CodeNoTests:       {"set a test command (or none) in [merge] tests", maintainer, again},
	model.CodeSetup:         {"set the command that prepares the tests in [merge] setup", maintainer, again},
	model.CodeNoCheckout:    {"have the workflow check out the whole repository, or set tests_in = \"fresh\"", maintainer, again},
	model.CodeRewound:       {"rebase its own commits onto the current base", author, again},
	model.CodeProtected:     {"let the token push, or merge it by hand", maintainer, again},
	model.CodeForbidden:     {"allow the token to merge", maintainer, again},
	model.CodeAttempts:      {"find out why every attempt failed", operator, again},
	model.CodeStrategy:      {"choose another strategy", operator, again + " strategy=NAME"},
	model.CodeRoadmap:       {"fix the roadmap in the pull request", author, again},
	model.CodeSettings:      {"fix the settings in the pull request", author, again},
	model.CodeDiff:          {"rebase it: what would land differs from what was reviewed", author, again},
	model.CodeFrontmatter:   {"fix the front matter", author, again},
	model.CodeLockBroken:    {"remove the lock that cannot be read", operator, again},
	model.CodeUnrelated:     {"move its commits to a branch that starts at the base", author, "another pull request"},
	model.CodeTooMany:       {"choose another strategy, because it has too many commits to rebase", operator, again + " strategy=squash, or " + again + " strategy=no-ff"},
	model.CodeBaseMissing:   {"choose another base", author, again},
	model.CodeBaseMerged:    {"choose another base, because this one was merged itself", author, again},
	model.CodeBranchMissing: {"restore the branch", author, again},
	model.CodeDequeued:      {"put it back into the merge queue", operator, again},
	model.CodeDepends:       {"merge what it depends on first, or change its Depends-on line", author, again},
	model.CodeNeeds:         {"reopen what it depends on, or change its Depends-on line", author, again},
}

// forks are the tasks of the pull requests of forks.
var forks = map[model.ExternalState]task{
	model.ExternalFailed:  {"find out why the evaluation failed", maintainer, "the label again"},
	model.ExternalWanting: {"change what the evaluation asks for", contributor, "a push to the fork"},
	model.ExternalVoid:    {"review its head as it is now", maintainer, "the label again"},
}

// settled are the ends of a merge request that leave nothing to do.
var settled = map[model.MergeCode]bool{
	model.CodeCancelled: true, model.CodeReplaced: true, model.CodeClosed: true, model.CodeEmpty: true, model.CodeWrongHead: true,
	model.CodeRetargeted: true, model.CodeHeadMoved: true, model.CodeTried: true,
}

// OfPull returns what a pull request waits for; nil if it waits for nobody. fork is the newest marker of a fork's pull request.
func OfPull(s model.Status, fork *model.Posted[model.ExternalMarker]) *model.Need {
	n := model.Need{Number: s.Number, Issue: s.Issue, Title: s.Title}
	switch {
	case s.Block != nil && s.State != model.StatusReleased: // what was given back to people is theirs
		b := s.Block
		n.Kind, n.Reason, n.Expected, n.Observed, n.Since, n.URL = model.NeedBlock, b.Reason, b.Expected, b.Observed, b.Since, b.URL
		return todo(n, stranded(s.Bundle, ofBlock(*b)))
	case s.State == model.StatusTaken, s.State == model.StatusPaused:
		return nil
	case s.State == model.StatusFailed && s.Bundle != "":
		n.Kind, n.Reason, n.Observed, n.Since, n.URL = model.NeedBlock, model.ReasonPush, s.Head, s.LastTurn.At, s.LastTurn.URL
		return todo(n, stranded(s.Bundle, task{"let the next attempt start", operator, retry}))
	}
	if m := s.Merge; m != nil {
		if t, waits := ofMerge(*m, s.Head); waits {
			n.Kind, n.Reason, n.Observed, n.Since, n.URL = model.NeedMerge, string(m.Reason), m.Head, m.Since, m.URL
			return todo(n, t)
		}
	}
	if fork != nil && s.State != model.StatusReleased && ofHead(fork.Marker, s.Head) {
		if t, waits := forks[fork.Marker.State]; waits {
			n.Kind, n.Reason, n.Observed, n.Since, n.URL = model.NeedFork, string(fork.Marker.State), s.Head, fork.UpdatedAt, fork.URL
			return todo(n, t)
		}
	}
	return nil
}

// ofHead reports whether what a fork's marker asks for is still to be done at a head. A void one asks for a review of whatever
// the head is, unless a person removed the label.
func ofHead(m model.ExternalMarker, head string) bool {
	if m.State == model.ExternalVoid {
		return m.Reason != model.ExternalUnlabelled
	}
	return m.Head == head
}

func todo(n model.Need, t task) *model.Need {
	n.Headline, n.Who, n.Next = t.headline, t.who, t.next
	return &n
}

// ofBlock is what to do about a block.
func ofBlock(b model.Blocked) task {
	t, known := blocks[b.Reason]
	if !known {
		t = task{"decide about the block", operator, unblock}
	}
	accept := unblock + " head_sha=" + b.Observed
	switch {
	case b.Reason == model.ReasonRewrite && b.Local: // nothing was pushed, so there is no new history
		t.headline = "find out why the agent rewrote history in its checkout"
	case b.Reason == model.ReasonRewrite && b.Observed != "":
		t.next = unblock + ", or " + accept
	case model.MarkerSpoilt(b.Reason) && b.Expected == "" && b.Observed != "": // no other head can be accepted
		t.next = accept
	}
	return t
}

// ofMerge returns what to do about the newest merge request; false if nobody has to act. Some requests only need time, and
// nobody has asked yet to merge a head that was pushed since.
func ofMerge(m model.MergeRequest, head string) (task, bool) {
	t, known := merges[m.Reason]
	switch {
	case m.State == model.MergeWaiting:
		return t, known
	case m.State != model.MergeFailed || m.Head != head && m.Tip != head || settled[m.Reason]:
		return task{}, false
	case !known:
		t = task{"find out why it was not merged", operator, again}
	}
	return t, true
}

// OfIssue returns what an issue waits for; nil if it waits for nobody. m is the newest attempt.
func OfIssue(title string, m model.Posted[model.IssueMarker]) *model.Need {
	why := m.Marker.Waiting
	t, known := issues[why]
	if !known {
		t = task{"say how to continue", writer, "a comment, or " + retry}
	}
	n := model.Need{
		Kind: model.NeedIssue, Number: m.Marker.Number, Issue: m.Marker.Number, Title: title, Reason: why, Observed: m.Marker.LastCheckpoint, Since: m.UpdatedAt, URL: m.URL,
	}
	return todo(n, stranded(m.Marker.Kept.Bundle, t))
}

// stranded is a task where the agent's work has to be got from the runner first.
func stranded(bundle string, t task) task {
	if bundle != "" {
		t.headline = "push the agent's work, which is only on the runner, in the git bundle " + bundle + "; then " + t.headline
	}
	return t
}

// OfRoadmap returns what a stopped item of a roadmap needs; nil where none has stopped.
func OfRoadmap(title string, m model.Posted[model.RoadmapMarker]) *model.Need {
	t := model.TallyOf(m.Marker.Items)
	if len(t.Stopped) == 0 {
		return nil
	}
	var refs []string
	for _, one := range t.Stopped {
		refs = append(refs, one.Ref())
	}
	n := model.Need{Kind: model.NeedIssue, Number: m.Marker.Number, Issue: m.Marker.Number, Title: title, Reason: model.ReasonItem, Since: m.UpdatedAt, URL: m.URL}
	return todo(n, task{"decide how the roadmap continues without " + strings.Join(refs, ", "), writer, "reopen what was closed, or change the plan"})
}
