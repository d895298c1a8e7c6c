//go:build all

package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

func TestWhatChangesBetweenThePhases(t *testing.T) {
	t.Parallel()
	t.Run("somebody says more", func(t *testing.T) {
		w, ev, dir := answerOver(t)
		w.review("bob", "And me.")
		w.ended(model.ResultRetry, "wait for an agent phase", w.phase(thread.ApplyPhase, ev, dir))
		w.settled(1, 1, 1)
	})
	t.Run("an operator pauses", func(t *testing.T) {
		w, ev, dir := answerOver(t)
		w.talk("carol", "/mergexo pause")
		w.phase(thread.ApplyPhase, ev, dir)
		assert.Len(t, w.marked("command", ""), 1)
		w.settled(0, 0, 0)
	})
	t.Run("no agent was needed, and then one is", func(t *testing.T) {
		w := newWorld(t)
		ev := w.say("eve", "Nobody hears me.")
		dir := filepath.Join(t.TempDir(), "handoff")
		assert.Equal(t, model.ResultNothing, w.phase(thread.AgentPhase, ev, dir).Result)
		w.review("alice", "Answer me.")
		w.gives(model.ResultRetry, w.phase(thread.ApplyPhase, ev, dir))
		w.settled(0, 0, 0)
	})
	t.Run("somebody pushes while it is applied", func(t *testing.T) {
		w := newWorld(t, `required_tests = ["true"]`)
		ev := w.remark("alice", "Answer me.")
		dir := w.prepared(ev)
		w.gate.revive()
		w.beforeWrite(writePlan, func() { // the work is staged
			w.write("bob", w.head, "by-bob.txt", "bob\n")
		})
		w.ended(model.ResultRetry, "continues the turn there", w.phase(thread.ApplyPhase, ev, dir))
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
				ev = w.say("carol", "/mergexo unblock")
				assert.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result, "a first job answers the command, and another one works")
			}
			require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, w.prepared(ev)).Result)
			w.settled(1, 1, 1)
		})
	}
}
