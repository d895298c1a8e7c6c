package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// A conversation among people starts nothing with listen = "mention": nothing is said, no sweep is due, and why names the reason. A
// comment that names MergeXO gets its turn, and so do commands.
func TestOnlyAMentionWakesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "[feedback]\nlisten = \"mention\"\nnames = [\"crew\"]")
	w.talk("alice", "Shall we rename it?")
	rep := w.handle(w.delivery("issue_comment"))
	assert.Equal(t, model.ResultNothing, rep.Result, rep.Reason)
	w.talk("carol", "@alice yes.")
	rep = w.handle(w.delivery("issue_comment"))
	assert.Equal(t, model.ResultNothing, rep.Result, rep.Reason)
	assert.Zero(t, w.calls())
	w.sweep()
	w.quiet()
	w.talk("carol", "/mergexo why")
	w.handle(w.delivery("issue_comment"))
	w.answered("applied", `Ignored: alice (it does not name MergeXO, and [feedback] listen is "mention"), carol (it does not name MergeXO`)

	w.talk("alice", "Rename it, @crew.")
	rep = w.handle(w.delivery("issue_comment"))
	assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, 1, w.calls())
	assert.Contains(t, w.receipt(), "**Answered 1 comment**")
}
