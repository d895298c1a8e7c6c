package engine_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// failing is a world whose merges fail in their tests. when is the setting that makes them feedback.
func failing(t *testing.T, when string) *world {
	t.Helper()
	w := newMerge(t, `tests = ["sh", "-c", "echo FAIL TestGreet; test -e fixed.txt"]`, "[feedback]", fmt.Sprintf("merge = %q", when))
	w.agent = "record+fixes"
	return w
}

func init() {
	// fixes does what the merge that failed needs.
	tricks["fixes"] = func(r model.Request, o *model.Outcome) {
		if r.Failed != nil {
			appendLine("fixed.txt", string(r.Failed.Code))
			o.CommitMessage = "Fix what the merge needs"
		}
	}
}

func TestAFailedMergeIsFeedbackByItself(t *testing.T) {
	w := failing(t, "first_fail")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"merge_failed PRE_MERGE_FAILED"}, w.merges())
	assert.Equal(t, []string{"Write greeting.txt", "Fix what the merge needs"}, w.commits())
	asked := w.requests()
	require.Len(t, asked, 1)
	failed := w.marked("merge", "")[0]
	require.Len(t, asked[0].Feedback, 1)
	assert.Equal(t, model.KindMerge, asked[0].Feedback[0].Kind)
	assert.Equal(t, failed.id(), asked[0].Feedback[0].ID)
	assert.Contains(t, w.receipt(), fmt.Sprintf("%d:merge:%d:%s", w.number, failed.id(), failed["created_at"]))
	assert.Contains(t, w.receipt(), "**Answered 1 failed merge** with commit ")
	w.rests()
	assert.Equal(t, 1, w.calls(), "once")
	assert.Equal(t, []string{"merge_failed PRE_MERGE_FAILED"}, w.merges(), "people ask for a merge")

	w.approve("alice")
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result)
	assert.Equal(t, "merged", w.badge())
}

// In two jobs, the turn begins with the next event, which has an agent's job.
func TestAFailedMergeIsFeedbackInTwoJobs(t *testing.T) {
	w := failing(t, "first_fail")
	ev := w.say("carol", "/mergexo merge")
	dir := filepath.Join(t.TempDir(), "handoff")
	w.phase(thread.AgentPhase, ev, dir) // a merge needs no agent
	w.gives(model.ResultBlocked, w.phase(thread.ApplyPhase, ev, dir))
	assert.Zero(t, w.calls())
	w.done(w.inTwo(ev))
	assert.Contains(t, w.receipt(), "**Answered 1 failed merge** with commit ")
	assert.Equal(t, 1, w.calls())
}

func TestADeathAtAnyWriteOfAFailedMergeAndItsTurnIsMadeGood(t *testing.T) {
	w := failing(t, "first_fail")
	ev := w.say("carol", "/mergexo merge")
	dead := w.wrecks(func() { require.Equal(t, model.ResultDone, w.handle(ev).Result) })
	last := w.gate.writes
	dead.each(t, writes(1, last, 3, last-4, last-1), func(t *testing.T, w *world, _ int) {
		w.recover(ev)
		assert.Equal(t, []string{"merge_failed PRE_MERGE_FAILED"}, w.merges())
		assert.Equal(t, []string{"Write greeting.txt", "Fix what the merge needs"}, w.commits())
		assert.Contains(t, w.receipt(), "**Answered 1 failed merge** with commit ")
		assert.Equal(t, "PRE_MERGE_FAILED\n", w.file("fixed.txt"))
		w.rests()
	})
}

func TestAFailedMergeWhoseRunEndedIsFoundByTheSweep(t *testing.T) {
	w := failing(t, "never")
	w.sweep() // which follows it
	w.command("carol", "/mergexo merge")
	w.quiet()
	require.Zero(t, w.calls())
	w.agentSetting(`merge = "never"`, `merge = "first_fail"`)
	assert.Contains(t, w.due(), "1 feedback")
	w.sweep()
	assert.Equal(t, 1, w.calls())
	assert.Contains(t, w.commits(), "Fix what the merge needs")
	w.quiet()
}

// No commit helps where the runner lacks what the tests need.
func TestTestsThatAreNotInstalledAreNoFeedback(t *testing.T) {
	w := newMerge(t, `tests = ["sh", "-c", "no-such-tool test"]`, "[feedback]", `merge = "first_fail"`)
	w.command("carol", "/mergexo merge")
	assert.Equal(t, []string{"merge_failed PRE_MERGE_FAILED"}, w.merges())
	assert.Contains(t, w.marked("merge", "")[0]["body"], "could not be started: no-such-tool is not installed: install it in .github/mergexo/setup/action.yml, or in a step before MergeXO's.")
	w.sweep()
	assert.Zero(t, w.calls())
	w.quiet()
}

// Of a failure that is no feedback, the next turn is told, and each one after it while the head stays.
func TestEveryTurnOnAHeadIsToldOfItsFailedMerge(t *testing.T) {
	w := newMerge(t, `tests = ["sh", "-c", "seq 3000; echo FAIL TestGreet; exit 3"]`).whoseAgent("record+talk")
	w.command("carol", "/mergexo merge")
	since := w.marked("merge", "")[0]["updated_at"].(string)
	for i := range 3 {
		w.later(time.Hour)
		require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Why was it not merged?")).Result)
		asked := w.requests()
		require.Len(t, asked, i+1)
		failed := asked[i].Failed
		require.NotNil(t, failed)
		assert.Equal(t, model.CodeTests, failed.Code)
		for _, text := range []string{failed.Text, asked[i].Prompt} {
			assert.Contains(t, text, "failed** on the merged result (exit code 3)")
			assert.Contains(t, text, "\n3000\nFAIL TestGreet\n")
			assert.Contains(t, text, "[...]", "it is cut")
			assert.NotContains(t, text, "repeat the command")
		}
	}
	for _, c := range w.marked("turn", "done") {
		assert.Contains(t, c["body"], fmt.Sprintf("%q:%q", "since", since), "however much is said, the next reading reaches that far")
	}
	w.write("bob", w.head, "more.txt", "more\n")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "And now?")).Result)
	assert.Nil(t, w.requests()[3].Failed, "it was another head's")
}
