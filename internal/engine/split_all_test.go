//go:build all

package engine_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

func TestWhatChangesBetweenThePhases(t *testing.T) {
	t.Parallel()
	t.Run("somebody pushes", func(t *testing.T) {
		t.Parallel()
		w, ev, dir := answerOver(t)
		w.write("bob", w.head, "by-bob.txt", "bob\n")
		rep := w.phase(thread.ApplyPhase, ev, dir)
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		w.settled(1, 1, 2)
		assert.Zero(t, w.calls(), "beyond the one that was handed over")
	})
	t.Run("somebody says more", func(t *testing.T) {
		t.Parallel()
		w, ev, dir := answerOver(t)
		w.review("bob", "And me.")
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
		assert.Contains(t, rep.Reason, "wait for an agent phase")
		w.settled(1, 1, 1)
	})
	t.Run("an operator pauses", func(t *testing.T) {
		t.Parallel()
		w, ev, dir := answerOver(t)
		w.talk("carol", "/mergexo pause")
		w.phase(thread.ApplyPhase, ev, dir)
		assert.Len(t, w.marked("command", ""), 1)
		w.settled(0, 0, 0)
	})
	t.Run("nothing was handed over", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.review("alice", "Answer me.")
		ev := w.delivery("pull_request_review_comment")
		rep := w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none"))
		assert.Equal(t, model.ResultFailed, rep.Result, rep.Reason)
		assert.Contains(t, rep.Reason, "attempt 1 of 3: the agent's job handed over nothing")
		require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, w.prepared(ev)).Result)
		w.settled(1, 1, 1)
	})
	t.Run("no agent was needed, and then one is", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.talk("eve", "Nobody hears me.")
		ev := w.delivery("issue_comment")
		dir := filepath.Join(t.TempDir(), "handoff")
		assert.Equal(t, model.ResultNothing, w.phase(thread.AgentPhase, ev, dir).Result)
		w.review("alice", "Answer me.")
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
		w.settled(0, 0, 0)
	})
	t.Run("the agent says more than can be handed over", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.agent = "answer+huge+session"
		w.review("alice", "Answer me.")
		ev := w.delivery("pull_request_review_comment")
		rep := w.phase(thread.ApplyPhase, ev, w.prepared(ev))
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		w.settled(1, 1, 1)
		assert.Contains(t, w.receipt(), "*(cut here: what the agent says is longer)*")
		assert.Contains(t, w.receipt(), "the agent's session handle has 80000 bytes")
	})
	t.Run("somebody pushes while it is applied", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, `required_tests = ["true"]`)
		w.review("alice", "Answer me.")
		ev := w.delivery("pull_request_review_comment")
		dir := w.prepared(ev)
		w.gate.revive()
		w.gate.at = func(n int, r *http.Request) fate {
			if n == writePlan { // the work is staged
				w.write("bob", w.head, "by-bob.txt", "bob\n")
			}
			return passes
		}
		rep := w.phase(thread.ApplyPhase, ev, dir)
		assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
		assert.Contains(t, rep.Reason, "continues the turn there")
		w.gate.revive()
		require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, w.prepared(ev)).Result)
		assert.Len(t, w.replies(), 1)
		assert.Equal(t, 2, w.calls(), "what was tested on another head is not pushed untested")
	})
}

func TestATamperedHandoffIsRefusedByName(t *testing.T) {
	t.Parallel()
	for name, c := range tampering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ev, dir := answerOver(t)
			before := w.tip()
			c.with(t, w, dir)
			rep := w.phase(thread.ApplyPhase, ev, dir)
			assert.Equal(t, c.result, rep.Result, rep.Reason)
			assert.Contains(t, rep.Reason, c.says)
			assert.Equal(t, before, w.tip())
			assert.Empty(t, w.replies())
			if name == "a workflow in its commits" { // a hidden ref keeps a bundle, as of a whole run
				kept := w.stages()
				require.Len(t, kept, 2)
				assert.Contains(t, kept[1], "refs/mergexo/kept/1/")
				w.bare("update-ref", "-d", kept[1])
			}
			assert.Empty(t, w.stages())
			if name != "a reply to nobody" { // there the work itself is sound
				assert.Empty(t, w.checkpoints())
			}

			if c.result == model.ResultBlocked {
				w.talk("carol", "/mergexo unblock")
				ev = w.delivery("issue_comment")
				assert.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result, "a first job answers the command, and another one works")
			}
			require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, w.prepared(ev)).Result)
			w.settled(1, 1, 1)
		})
	}
}
