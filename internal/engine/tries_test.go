package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
)

// interrupted lets a process take an event, and cancels it once the agent was called so often.
func (w *world) interrupted(e *engine.Engine, ev model.Event, calls int) model.Report {
	w.t.Helper()
	return w.cancelled(e, ev, func() bool { return w.calls() >= calls }, "the agent is at work")
}

// cancelled lets a process take an event, and cancels it once something is so.
func (w *world) cancelled(e *engine.Engine, ev model.Event, is func() bool, what string) model.Report {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan model.Report)
	go func() {
		rep, _ := e.Handle(ctx, ev)
		done <- rep
	}()
	clocktest.Until(w.t, is, what)
	cancel()
	return <-done
}

// cancels is interrupted as soon as the agent has done what it does before it hangs, and its run is over.
func (w *world) cancels(ev model.Event) model.Report {
	w.t.Helper()
	rep := w.interrupted(w.engine(), ev, w.calls()+2)
	w.over(w.runs)
	return rep
}

func (w *world) runURL(n int64) string { return fmt.Sprintf("/octo/widgets/actions/runs/%d)", n) }

func TestEveryCancelledAttemptLeavesItsCauseItsRunAndItsBranch(t *testing.T) {
	w, ev := commented(t, "counts+hangs") // something else each time
	for range 3 {
		require.Equal(t, model.ResultRetry, w.cancels(ev).Result)
	}
	branches := w.checkpoints()
	require.Len(t, branches, 3)
	assert.Contains(t, w.blocked("agent_failed", w.handle(ev)).Reason, "cancelled", "the last error")
	body := w.saidOnce("block", "")
	assert.GreaterOrEqual(t, strings.Count(body, "the workflow run was cancelled"), 3)
	for i, branch := range branches {
		assert.Contains(t, body, w.linkOf(branch))
		assert.Contains(t, body, w.runURL(int64(i+1)))
	}
	assert.Contains(t, w.saidOnce("turn", "failed"), "the next comment says how to continue")
	assert.Empty(t, w.marked("turn", "started"))
	assert.ElementsMatch(t, branches, w.checkpoints())
}

func TestTheSameWorkIsKeptOnce(t *testing.T) {
	every(t, []string{"commits+dirty+fail", "dated+commits+dirty+fail"}, func(t *testing.T, does string) { // at its times, or the very same commits
		w, ev := commented(t, does)
		for range 2 {
			assert.Equal(t, model.ResultFailed, w.handle(ev).Result)
		}
		assert.Equal(t, "agent_failed", w.handle(ev).BlockedReason)
		all := w.checkpoints()
		require.Len(t, all, 1)
		body := w.marked("block", "")[0]["body"].(string)
		assert.Contains(t, body, w.linkOf(all[0]))
		assert.Contains(t, body, "no model today", "the last error")
		for n := int64(1); n <= 3; n++ {
			assert.Contains(t, body, w.runURL(n))
		}
	})
}

func TestABranchGoesOnceAnotherAttemptHasItsWork(t *testing.T) {
	each(t, map[string]int{"commits+hangs": 3, "line+hangs": 2}, func(t *testing.T, how string, commits int) {
		w, ev := commented(t, how)
		w.cancels(ev)
		assert.Contains(t, w.saidOnce("turn", "started"), "cancelled")
		branches := w.checkpoints()
		require.Len(t, branches, 1)

		w.agent = "answer"
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, commits)
		assert.Contains(t, w.receipt(), w.runURL(1))
		assert.Contains(t, w.receipt(), "its work is also in [`"+w.tip()[:10])
		assert.NotContains(t, w.receipt(), branches[0])
		assert.Empty(t, w.checkpoints(), "the branch of the pull request holds the same")
	})
}

// A run that dies once it has removed a branch has not said so yet.
func TestAReceiptLinksNoBranchThatIsGone(t *testing.T) {
	w, ev := commented(t, "line+hangs")
	w.cancels(ev)
	branches := w.checkpoints()
	require.Len(t, branches, 1)
	link := w.linkOf(branches[0])
	w.agent = "answer"
	w.gate.revive()
	w.gate.pushes(diesAfter, func(n int) bool { return n == 2 }) // the stage, and then the branch, without what is kept twice
	w.dies(ev)
	require.Empty(t, w.checkpoints())
	require.Equal(t, model.ResultDone, w.recover(ev).Result)
	w.settled(1, 1, 2)
	assert.Contains(t, w.receipt(), w.runURL(1))
	assert.NotContains(t, w.receipt(), link)
}

func TestEveryFailedAttemptOnAnIssueLeavesItsCauseAndItsRun(t *testing.T) {
	w, ev := labelled(t, smallJob, "quiet+fail")
	for range 2 {
		w.handle(ev)
	}
	body := w.marked("issue", "failed")[0]["body"].(string)
	assert.Contains(t, body, w.runURL(1))
	assert.Equal(t, 2, strings.Count(body[:strings.Index(body, "<!--")], "no model today"))
	w.diesAt(1, ev) // the claim
	assert.Contains(t, w.blocked(model.ReasonAttempts, w.handle(ev)).Reason, "without a result")
	body = w.lastSaid()
	for n := int64(1); n <= 3; n++ {
		assert.Contains(t, body, w.runURL(n))
	}
	assert.Contains(t, body, "no model today")
}

func TestARunThatEndsBeforeItsAgentBeginsSaysWhy(t *testing.T) {
	w, ev := commented(t)
	again := w.gate.answers(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/info/refs") }, func(rw http.ResponseWriter) {
		http.Error(rw, "no", http.StatusServiceUnavailable)
	})
	require.Equal(t, model.ResultRetry, w.handle(ev).Result)
	assert.Zero(t, w.calls())
	assert.Contains(t, w.saidOnce("turn", "started"), "503")
	again()
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.settled(1, 1, 1)
	assert.Contains(t, w.receipt(), w.runURL(1))
}
