package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// inTwo handles an event in two jobs, the first of which writes nothing.
func (w *world) inTwo(ev model.Event) model.Report {
	w.t.Helper()
	return w.phase(thread.ApplyPhase, ev, w.prepared(ev))
}

// jobs are the two ways in which a workflow can handle an event.
var jobs = map[string]func(*world, model.Event) model.Report{"in one job": (*world).handle, "in two jobs": (*world).inTwo}

func TestEachFlowGoesThroughTwoJobs(t *testing.T) {
	t.Parallel()
	for label, from := range map[string]string{smallJob: branch, bugfix: "agent/bugfix/2-greet-in-french", design: "agent/design/2-greet-in-french"} {
		if label == bugfix && !everyRow { // as a small job
			continue
		}
		t.Run(label, func(t *testing.T) {
			whole := newIssue(t, `required_tests = ["test", "-e", "greeting.txt"]`)
			require.Equal(t, model.ResultDone, whole.handle(whole.label("alice", label)).Result)

			w := newIssue(t, `required_tests = ["test", "-e", "greeting.txt"]`)
			ev := w.label("alice", label)
			dir := w.prepared(ev)
			assert.Empty(t, w.comments())
			w.done(w.phase(thread.ApplyPhase, ev, dir))
			assert.Equal(t, whole.showsIssue(), w.showsIssue(), "as a whole run leaves it")
			assert.Equal(t, from, w.pulls()[0].at("head", "ref"))
			assert.Equal(t, 1, w.calls(), "the apply phase runs no agent")
			assert.Equal(t, model.ResultNothing, w.phase(thread.ApplyPhase, ev, dir).Result, "the same handoff again")
			assert.Len(t, w.pulls(), 1)
		})
	}
}

// TestARepairThatSaysMoreIsHandedOver: to a repair an agent may answer as if there were a pull request already.
func TestARepairThatSaysMoreIsHandedOver(t *testing.T) {
	w := newIssue(t, `required_tests = ["test", "-e", "fixed.txt"]`).whoseAgent("job+repair+chats")
	w.done(w.inTwo(w.label("alice", smallJob)))
	assert.Equal(t, 2, w.calls())
	assert.Len(t, w.pulls(), 1)
}

func TestADesignThatIsStoppedKeepsItsDocument(t *testing.T) {
	w := newIssue(t, `required_tests = ["sh", "-c", "exit 1"]`, "[feedback]\nrepair_rounds = 0")
	require.Equal(t, model.ResultBlocked, w.inTwo(w.label("alice", design)).Result)
	doc := "docs/design/2-greet-in-french.md"
	assert.Equal(t, doc, w.attemptMarker(model.PhaseWaiting).Doc)
	w.agentSetting(`required_tests = ["sh", "-c", "exit 1"]`, "")
	w.done(w.inTwo(w.say("alice", "Try again")))
	files := w.list("octo", w.path("/pulls/3/files"))
	require.Len(t, files, 1)
	assert.Equal(t, doc, files[0]["filename"])
}

func TestACancelledAgentsJobHandsOverWhatWasDone(t *testing.T) {
	w := newIssue(t).whoseAgent("quiet+hangs")
	ev, dir := w.label("alice", smallJob), filepath.Join(t.TempDir(), "handoff")
	w.gate.revive()
	e := w.engine()
	e.Phase, e.Bundle = thread.AgentPhase, dir
	w.gives(model.ResultRetry, w.interrupted(e, ev, 2))
	assert.Zero(t, w.gate.writes)
	w.blocked(model.ReasonCancelled, w.phase(thread.ApplyPhase, ev, dir))
	assert.Equal(t, "hello\nquiet\n", w.fileOf(branch, "greeting.txt"))
	w.agent = "job"
	require.Equal(t, model.ResultDone, w.inTwo(w.say("alice", "Go on")).Result)
	assert.Equal(t, "hello\nquiet\nbonjour\n", w.fileOf(branch, "greeting.txt"))
}

// Every write has its turn in one job, and what both kinds of handoff do in TestADeathInTheApplyPhaseIsMadeGood.
func TestADeathWhileAnIssuesHandoffIsAppliedIsMadeGood(t *testing.T) {
	t.Parallel()
	step := 4 // claim, pull request, the end
	if everyRow {
		step = 1
	}
	for n := 1; ; n += step {
		w, ev, dir := handedOver(t, "a job that is handed over", "issues", func() *world {
			w := newIssue(t)
			w.label("alice", smallJob)
			return w
		})
		w.gate.only(n, diesAfter)
		w.phase(thread.ApplyPhase, ev, dir)
		if !w.gate.died() {
			require.Equal(t, 7, w.gate.writes, "claim, stage, plan, push, pull request, its marker, receipt")
			return
		}
		w.gate.revive()
		rep := w.recoverInPhase(thread.ApplyPhase, ev, dir)
		require.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, "died at write %d: %s", n, rep.Reason)
		assert.Len(t, w.pulls(), 1)
		assert.Len(t, w.comments(), 1)
		assert.Len(t, w.branches(), 1)
		assert.Zero(t, w.calls())
	}
}

func TestWhatNeedsNoAgentIsLeftToTheSecondJob(t *testing.T) {
	w := newIssue(t)
	idle := func(ev model.Event) {
		t.Helper()
		w.gate.revive()
		calls := w.calls()
		rep := w.phase(thread.AgentPhase, ev, filepath.Join(t.TempDir(), "handoff"))
		assert.Contains(t, []model.Result{model.ResultNothing, model.ResultBlocked}, rep.Result, rep.Reason)
		assert.NotContains(t, rep.Reason, "pull request 2")
		assert.Zero(t, w.gate.writes, "%v", w.gate.seen)
		assert.Equal(t, calls, w.calls())
	}
	idle(w.say("eve", "Nothing is labeled yet."))
	w.agent = "ask"
	ev := w.label("alice", smallJob)
	require.Equal(t, model.ResultBlocked, w.inTwo(ev).Result)
	idle(ev) // it waits
	w.agent = "told"
	require.Equal(t, model.ResultDone, w.inTwo(w.say("carol", "/mergexo retry")).Result, "the agent works on what the last job is told")
	ev = w.say("bob", "And in German?")
	idle(ev) // it is redirected
	require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result)
	assert.Contains(t, w.attemptBody(), "continues in [#3]")
}

func TestWhatIsPlannedNeedsNoAgent(t *testing.T) {
	w, ev := labelled(t, smallJob)
	dir := w.prepared(ev)
	w.gate.revive()
	w.gate.only(3, diesAfter) // after claim and stage
	w.phase(thread.ApplyPhase, ev, dir)
	require.True(t, w.gate.died())
	w.gate.revive()
	w.ended(model.ResultNothing, "issue 2 needs no agent now", w.phase(thread.AgentPhase, ev, filepath.Join(t.TempDir(), "handoff")))
	assert.Zero(t, w.gate.writes)
	require.Equal(t, model.ResultDone, w.recoverInPhase(thread.ApplyPhase, ev, "").Result)
	assert.Len(t, w.pulls(), 1)
	assert.Equal(t, 1, w.calls())
}

func TestAnApplyPhaseWithoutAnAgentPhase(t *testing.T) {
	w, ev := labelled(t, smallJob)
	w.gate.revive()
	rep := w.ended(model.ResultNothing, "issue 2 waits for an agent phase", w.phase(thread.ApplyPhase, ev, ""))
	assert.Zero(t, w.gate.writes)
	for i := 1; i <= 2; i++ {
		rep = w.ended(model.ResultFailed, "turn on issue 2 failed, attempt", w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none")))
		assert.Contains(t, rep.Reason, "the agent's job handed over nothing")
	}
	w.blocked(model.ReasonAttempts, w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none")))
	assert.Empty(t, w.branches())
	assert.Empty(t, w.pulls())
	assert.Zero(t, w.calls())
	w.done(w.inTwo(w.say("alice", "Once more")))
}

func TestADryRunOfAnIssuesAgentPhaseLeavesNothing(t *testing.T) {
	w := newIssue(t)
	ev, dir := w.label("alice", smallJob), filepath.Join(t.TempDir(), "handoff")
	w.gate.revive()
	e := w.engine()
	e.Phase, e.Bundle = thread.AgentPhase, dir
	e.DryRun(true)
	rep := w.by(e, ev)
	w.gives(model.ResultNothing, rep)
	assert.Empty(t, rep.Effects, "the next job makes the claim")
	entries, _ := os.ReadDir(dir)
	assert.Empty(t, entries)
	assert.Zero(t, w.gate.writes)
	assert.Zero(t, w.calls())
}
