package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// mainTip is the head of the default branch.
func (w *world) mainTip() string {
	w.t.Helper()
	return w.api("octo", "GET", w.path("/git/ref/heads/main"), nil).at("object", "sha").(string)
}

// beforeWriting lets something happen when the next run has read all that it needs and is about to write.
func (w *world) beforeWriting(do func()) {
	w.gate.revive()
	done := false
	w.gate.at = func(int, *http.Request) fate {
		if !done {
			done = true
			do()
		}
		return passes
	}
}

// diesPushing kills the next run when it pushes, once ready says so.
func (w *world) diesPushing(ready func(*http.Request) bool) {
	w.gate.revive()
	due := false
	w.gate.at = func(_ int, r *http.Request) fate {
		due = due || ready(r)
		if due && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			return diesFirst
		}
		return passes
	}
}

func always(*http.Request) bool { return true }

func TestTwoRunsRedirectACommentOnceHoweverOftenItIsEdited(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.handle(w.label("alice", smallJob))
	id := w.talk("bob", "What about Gemran?")
	ev := w.delivery("issue_comment")
	w.beforeWriting(func() { w.handle(ev) })
	w.handle(ev)
	w.gate.at = nil
	w.handle(ev)
	w.later(time.Minute)
	w.api("bob", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": "What about German?"})
	rep := w.handle(w.delivery("issue_comment"))
	assert.Equal(t, model.ResultNothing, rep.Result, rep.Reason)
	assert.Len(t, w.comments(), 3)
	assert.Equal(t, 1, strings.Count(w.talkOn(2), "continues in [#3]"))
}

func TestASpentBudgetIsSaidOnceWhoeverAsks(t *testing.T) {
	t.Parallel()
	w := newIssue(t, "", "[feedback]\nturns_per_day = 1")
	w.agent = "ask"
	w.handle(w.label("alice", smallJob))
	ev := w.say("bob", "Formal")
	w.beforeWriting(func() { w.handle(ev) })
	w.handle(ev)
	w.gate.revive()
	for _, text := range []string{"And short", "And loud"} {
		rep := w.handle(w.say("bob", text))
		assert.Equal(t, model.ReasonBudget, rep.BlockedReason, rep.Reason)
	}
	assert.Zero(t, w.gate.writes)
	stops := w.marked("issue", "awaiting_issue_followup")
	require.Len(t, stops, 2, "the agent's question, and the budget")
	assert.Contains(t, stops[1]["body"], "budget_spent")
	assert.Contains(t, stops[1]["body"], w.linkOf(branch), "the work is where it was")
}

func TestARunThatStallsBeforeItsClaimLeavesTheIssueToAnother(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	ev := w.label("alice", design)
	w.beforeWriting(func() { w.handle(w.label("alice", bugfix)) })
	rep := w.handle(ev)
	assert.Equal(t, model.ResultNothing, rep.Result)
	assert.Contains(t, rep.Reason, "pull request 3 was opened")
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, "agent/bugfix/2-greet-in-french", w.pulls()[0].at("head", "ref"))
	assert.Len(t, w.branches(), 1)
	assert.Len(t, w.comments(), 1, "its claim is taken back")
	assert.Equal(t, 1, w.calls())
}

func TestABranchThatIsMadeWhileTheAgentGetsStuckIsNotItsCheckpoint(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	main := w.mainTip()
	w.agent = "meanwhile+ask"
	ev := w.label("alice", smallJob)
	w.meanwhile(deed{"octo", "POST", w.path("/git/refs"), fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, branch, main)})
	rep := w.handle(ev)
	require.Equal(t, model.ResultBlocked, rep.Result, rep.Reason)
	assert.Contains(t, w.attemptBody(), w.linkOf(branch+"-2"))
	w.agent = "told"
	rep = w.handle(w.say("bob", "Formal"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, main, w.branches()[branch], "it is octo's")
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nsalut?\nFormal\ndone 2\n", w.fileOf(branch+"-2", "greeting.txt"))
}

func TestAnIssueWaitsWhereEveryNameIsTaken(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	main := w.mainTip()
	last := ""
	for i := 1; i <= 20; i++ {
		last = branch
		if i > 1 {
			last += fmt.Sprintf("-%d", i)
		}
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + last, "sha": main})
	}
	rep := w.handle(w.label("alice", smallJob))
	require.Equal(t, model.ReasonBranch, rep.BlockedReason, rep.Reason)
	assert.Contains(t, w.lastWords(), last)
	assert.Zero(t, w.calls())
	w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil)
	rep = w.handle(w.say("carol", "/mergexo retry"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, branch, w.pulls()[0].at("head", "ref"))
	assert.Equal(t, main, w.branches()[last], "it is octo's")
	assert.Len(t, w.branches(), 20)
}

func TestDeathsBeforeAnythingIsSaidDoNotHideTheCheckpoint(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agent = "ask"
	w.handle(w.label("alice", smallJob))
	kept := w.branches()[branch]
	w.agent = "told"
	ev := w.say("bob", "Formal")
	for range 3 {
		w.diesPushing(always)
		w.handle(ev)
		require.True(t, w.gate.died())
	}
	w.gate.revive()
	rep := w.handle(ev)
	require.Equal(t, model.ReasonAttempts, rep.BlockedReason, rep.Reason)
	assert.Equal(t, kept, w.attemptMarker(model.PhaseWaiting).LastCheckpoint)
	assert.Contains(t, w.attemptBody(), w.linkOf(branch))
	assert.Empty(t, w.marked("issue", "started"), "one status comment")
}

func TestADesignThatIsTrackedBeforeItsRunComesBackIsImplemented(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agentSetting(`track = ["agent/*"]`, `track = ["agent/**"]`)
	ev := w.label("alice", design)
	w.gate.at = func(_ int, r *http.Request) fate {
		if strings.HasSuffix(r.URL.Path, "/pulls") {
			return diesAfter
		}
		return passes
	}
	w.handle(ev)
	require.True(t, w.gate.died())
	w.gate.revive()
	require.Len(t, w.pulls(), 1)
	w.recover(model.Event{Name: "pull_request", Action: "opened", Repo: repo, Number: 3, IsPull: true}) // as an App's token makes GitHub send it
	require.Contains(t, w.talkOn(3), "[pr]")
	rep := w.handle(ev)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.later(time.Minute)
	w.api("octo", "PUT", w.path("/pulls/3/merge"), object{})
	rep = w.handle(w.delivery("pull_request"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	require.Len(t, w.pulls(), 2)
	assert.Equal(t, "agent/impl/2-greet-in-french", w.pulls()[1].at("head", "ref"))
}

func TestADeathBetweenPlanAndPushLeavesNoSavedWorkBehind(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.saves()
	w.agent = "quiet+waits+job"
	ev := w.label("alice", smallJob)
	w.diesPushing(func(r *http.Request) bool { return r.Method == http.MethodPatch }) // the plan
	w.handle(ev)
	require.True(t, w.gate.died())
	assert.Len(t, w.checkpoints(), 1)
	w.gate.revive()
	rep := w.recover(ev)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, "hello\nquiet\nbonjour\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, []string{branch}, keys(w.branches()))
	assert.Equal(t, 1, w.calls())
}
