package engine_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// beforeWriting lets something happen when the next run has read all that it needs and is about to write.
func (w *world) beforeWriting(do func()) {
	w.gate.revive()
	w.before(always, do)
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
	w := worked(t, smallJob)
	ev := w.say("bob", "What about Gemran?")
	w.beforeWriting(func() { w.handle(ev) })
	w.handle(ev)
	w.gate.at = nil
	w.handle(ev)
	w.gives(model.ResultNothing, w.handle(w.reword("bob", ev.CommentID, "What about German?")))
	assert.Len(t, w.comments(), 3)
	assert.Equal(t, 1, strings.Count(w.talkOn(2), "continues in [#3]"))
}

func TestASpentBudgetIsSaidOnceWhoeverAsks(t *testing.T) {
	w, _ := stuckIssue(t, "", "[feedback]\nturns_per_day = 1")
	ev := w.say("bob", "Formal")
	w.beforeWriting(func() { w.handle(ev) })
	w.handle(ev)
	w.gate.revive()
	for _, text := range []string{"And short", "And loud"} {
		w.blocked(model.ReasonBudget, w.handle(w.say("bob", text)))
	}
	assert.Zero(t, w.gate.writes)
	stops := w.marked("issue", "awaiting_issue_followup")
	require.Len(t, stops, 2, "the agent's question, and the budget")
	assert.Contains(t, stops[1]["body"], "budget_spent")
	assert.Contains(t, stops[1]["body"], w.linkOf(branch), "the work is where it was")
}

func TestARunThatStallsBeforeItsClaimLeavesTheIssueToAnother(t *testing.T) {
	w, ev := labelled(t, design)
	w.beforeWriting(func() { w.handle(w.label("alice", bugfix)) })
	w.ended(model.ResultNothing, "pull request 3 was opened", w.handle(ev))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, "agent/bugfix/2-greet-in-french", w.pulls()[0].at("head", "ref"))
	assert.Len(t, w.branches(), 1)
	assert.Len(t, w.comments(), 1, "its claim is taken back")
	assert.Equal(t, 1, w.calls())
}

func TestABranchThatIsMadeWhileTheAgentGetsStuckIsNotItsCheckpoint(t *testing.T) {
	w := newIssue(t)
	main := w.at("main")
	w.agent = "meanwhile+ask"
	ev := w.label("alice", smallJob)
	w.meanwhile(deed{"octo", "POST", w.path("/git/refs"), fmt.Sprintf(`{"ref": "refs/heads/%s", "sha": %q}`, branch, main)})
	w.gives(model.ResultBlocked, w.handle(ev))
	assert.Contains(t, w.attemptBody(), w.linkOf(branch+"-2"))
	w.agent = "told"
	w.done(w.handle(w.say("bob", "Formal")))
	assert.Equal(t, main, w.branches()[branch], "it is octo's")
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nsalut?\nFormal\ndone 2\n", w.fileOf(branch+"-2", "greeting.txt"))
}

func TestAnIssueWaitsWhereEveryNameIsTaken(t *testing.T) {
	w := newIssue(t)
	w.branch(branch)
	last := ""
	for i := 2; i <= 20; i++ {
		last = fmt.Sprintf("%s-%d", branch, i)
		w.branch(last)
	}
	w.blocked(model.ReasonBranch, w.handle(w.label("alice", smallJob)))
	assert.Contains(t, w.lastSaid(), last)
	assert.Zero(t, w.calls())
	w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil)
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	assert.Equal(t, branch, w.pulls()[0].at("head", "ref"))
	assert.Equal(t, w.at("main"), w.branches()[last], "it is octo's")
	assert.Len(t, w.branches(), 20)
}

func TestDeathsBeforeAnythingIsSaidDoNotHideTheCheckpoint(t *testing.T) {
	w, _ := stuckIssue(t)
	kept := w.branches()[branch]
	w.agent = "told"
	ev := w.say("bob", "Formal")
	for range 3 {
		w.diesPushing(always)
		w.handle(ev)
		require.True(t, w.gate.died())
	}
	w.gate.revive()
	w.blocked(model.ReasonAttempts, w.handle(ev))
	assert.Equal(t, kept, w.attemptMarker(model.PhaseWaiting).LastCheckpoint)
	assert.Contains(t, w.attemptBody(), w.linkOf(branch))
	assert.Empty(t, w.marked("issue", "started"), "one status comment")
}

func TestADesignThatIsTrackedBeforeItsRunComesBackIsImplemented(t *testing.T) {
	w := newIssue(t)
	w.agentSetting(`track = ["agent/*"]`, `track = ["agent/**"]`)
	ev := w.label("alice", design)
	w.gate.when(diesAfter, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/pulls") })
	w.dies(ev)
	require.Len(t, w.pulls(), 1)
	w.recover(model.Event{Name: "pull_request", Action: "opened", Repo: repo, Number: 3, IsPull: true}) // as an App's token makes GitHub send it
	require.Contains(t, w.talkOn(3), "[pr]")
	w.done(w.handle(ev))
	w.done(w.handle(w.merged(3)))
	require.Len(t, w.pulls(), 2)
	assert.Equal(t, "agent/impl/2-greet-in-french", w.pulls()[1].at("head", "ref"))
}

func TestADeathBetweenPlanAndPushLeavesNoSavedWorkBehind(t *testing.T) {
	w := newIssue(t).whoseAgent("quiet+waits+job")
	w.saves()
	ev := w.label("alice", smallJob)
	w.diesPushing(func(r *http.Request) bool { return r.Method == http.MethodPatch }) // the plan
	w.handle(ev)
	require.True(t, w.gate.died())
	assert.Len(t, w.checkpoints(), 1)
	w.gate.revive()
	w.done(w.recover(ev))
	assert.Equal(t, "hello\nquiet\nbonjour\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, []string{branch}, slices.Collect(maps.Keys(w.branches())))
	assert.Equal(t, 1, w.calls())
}
