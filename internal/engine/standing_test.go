package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhoOnlyLooksDeletesNothing: of two comments with one marker, which two runs posted in the same moment, a run deletes the
// second. status, why and train only read.
func TestWhoOnlyLooksDeletesNothing(t *testing.T) {
	w := newWorld(t).whoseAgent("answer")
	w.handle(w.remark("alice", "Answer me."))
	body := w.marked("pr", "")[0]["body"].(string)
	w.talk("actions", body)
	require.Len(t, w.marked("pr", ""), 2)
	w.gate.revive()
	for name, look := range map[string]func() error{
		"status": func() error { _, _, err := w.engine().Look(context.Background(), repo, w.number); return err },
		"why":    func() error { _, err := w.engine().Why(context.Background(), repo, w.number); return err },
		"board":  func() error { _, err := w.engine().Board(context.Background(), repo); return err },
	} {
		require.NoError(t, look(), name)
		assert.Zero(t, w.gate.writes, "%s: %v", name, w.gate.seen)
		assert.Len(t, w.marked("pr", ""), 2, name)
	}
	w.handle(w.remark("alice", "And now?"))
	assert.Len(t, w.marked("pr", ""), 1)
}
