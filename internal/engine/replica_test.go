package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// passedOver is a world after a turn, and somebody has said something just before the turn read, which no replica showed it. The event of
// that is lost, as that of a run whose place in the queue another one took.
func passedOver(t *testing.T, login, text string) *world {
	t.Helper()
	w := newWorld(t)
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "One.")).Result)
	w.later(-90 * time.Second)
	w.talk(login, text)
	w.later(5 * time.Minute)
	return w
}

func TestWhatAReplicaHidFromATurnIsHeardByTheNext(t *testing.T) {
	each(t, map[string]func(w *world){
		"an event": func(w *world) { w.handle(w.remark("alice", "Three.")) },
		"a sweep":  func(w *world) { w.sweep() },
	}, func(t *testing.T, _ string, run func(w *world)) {
		w := passedOver(t, "bob", "Two.")
		run(w)
		done := w.marked("turn", "done")
		require.Len(t, done, 2)
		assert.Contains(t, done[1]["body"], "by bob")
		w.rests()

		w = passedOver(t, "carol", "/mergexo pause")
		run(w)
		w.answered("applied", "**Paused.**")
		w.rests()
	})
}
