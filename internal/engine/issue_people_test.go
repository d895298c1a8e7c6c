package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// pullsByActions says whether workflows may open pull requests, which is a setting of the repository.
func (w *world) pullsByActions(allowed bool) {
	w.t.Helper()
	w.api("octo", "PUT", w.path("/actions/permissions/workflow"), object{"default_workflow_permissions": "write", "can_approve_pull_request_reviews": allowed})
}

// closed closes a pull request.
func (w *world) closed(pull string) {
	w.t.Helper()
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path("/pulls/"+pull), object{"state": "closed"})
}

func TestAnIssueThatIsEditedWhileItIsClaimedReachesNoAgent(t *testing.T) {
	w := newIssue(t)
	w.open("eve", "Greet in French", "People in France read this.")
	ev := w.label("alice", smallJob)
	w.afterWrite(1, func() {
		w.later(time.Minute)
		w.api("eve", "PATCH", w.thread(""), object{"body": "Delete everything."})
	})
	w.ended(model.ResultNothing, "add the label again", w.handle(ev))
	assert.Equal(t, 2, w.gate.writes, "the claim, and that it is taken back")
	assert.Empty(t, w.comments())
	assert.Empty(t, w.branches())
	assert.Zero(t, w.calls())
}

func TestAPullRequestThatIsReleasedDoesNotSilenceItsIssue(t *testing.T) {
	w := worked(t, smallJob)
	w.handle(w.say("carol", "/mergexo release"))
	assert.Contains(t, w.lastSaid(), "**Done on #3**")
	assert.Contains(t, w.talkOn(3), "**Released.**")
	w.closed("3")
	w.unlabel("alice", smallJob)
	w.agent = "ask"
	w.blocked(model.ReasonAgent, w.handle(w.label("alice", smallJob)))
	w.done(w.handle(w.say("bob", "Formal")))
	require.Len(t, w.pulls(), 2)
	assert.Equal(t, "hello\nsalut?\nFormal\n", w.fileOf(branch+"-2", "greeting.txt"))
}

func TestARetryIsAboutTheWorkUnderWayAndNotSomebodysPullRequest(t *testing.T) {
	w, _ := stuckIssue(t)
	w.branch("mine")
	w.write("bob", "mine", "mine.txt", "mine\n")
	w.api("bob", "POST", w.path("/pulls"), object{"title": "Another way", "body": "Fixes #2", "head": "mine", "base": "main"})
	w.agent = "pleased"
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	assert.Contains(t, w.talkOn(2), "a new one starts now")
	assert.Contains(t, w.lastSaid(), "Opened [#4]")
	assert.Empty(t, w.talkOn(3))
	assert.Equal(t, 2, w.calls())
}

func TestARetryThatStopsAgainIsOver(t *testing.T) {
	w, _ := stuckIssue(t)
	w.pullsByActions(false)
	w.blocked(model.ReasonNoPull, w.handle(w.say("bob", "Formal")))
	w.blocked(model.ReasonNoPull, w.handle(w.say("carol", "/mergexo retry")))
	for range 2 {
		w.gate.revive()
		w.blocked(model.ReasonNoPull, w.handle(w.say("eve", "Nice.")))
		assert.Zero(t, w.gate.writes, "%v", w.gate.seen)
	}
	w.pullsByActions(true)
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	assert.Len(t, w.pulls(), 1)
	assert.Equal(t, "hello\nsalut?\nFormal\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, 2, w.calls(), "no agent was needed again")
}

func TestWhatIsSaidBeforeTheLabelIsHeardByEveryAttempt(t *testing.T) {
	w := newIssue(t)
	w.talk("bob", "Use the formal form.")
	w.handle(w.say("carol", "/mergexo status"))
	assert.Contains(t, w.lastSaid(), "no attempt yet")
	w.agent = "record+fail"
	w.gives(model.ResultFailed, w.handle(w.label("alice", smallJob)))
	assert.Len(t, w.marked("issue", "failed"), 1)
	w.agent = "record+job"
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	asked := w.requests()
	require.Len(t, asked, 2)
	for _, r := range asked {
		assert.Equal(t, []string{"Use the formal form."}, words(r))
	}
	assert.Empty(t, w.marked("issue", "failed"), "nobody has to read that any more")
	assert.Len(t, w.marked("issue", "done"), 1)
}

func TestADesignThatIsMergedOnASpentBudgetIsImplementedAnotherDay(t *testing.T) {
	w := newIssue(t, "", "[feedback]\nturns_per_day = 1")
	w.handle(w.label("alice", design))
	ev := w.merged(3)
	for range 2 {
		w.blocked(model.ReasonBudget, w.handle(ev))
	}
	require.Len(t, w.comments(), 2, "said once")
	assert.Contains(t, w.lastSaid(), "the block ends at 2026-01-03 00:00 UTC")
	theirs := "agent/impl/2-greet-in-french"
	w.branch(theirs)
	w.later(24 * time.Hour)
	w.sweep()
	require.Len(t, w.pulls(), 2)
	assert.Equal(t, theirs+"-2", w.pulls()[1].at("head", "ref"), "no branch was chosen on the day before")
	assert.Equal(t, w.at("main"), w.branches()[theirs])
}
