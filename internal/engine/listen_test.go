package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// A conversation among people starts nothing with listen = "mention": nothing is said, no sweep is due, and why names the reason. A
// comment that names MergeXO gets its turn, and so do commands.
func TestOnlyAMentionWakesTheAgent(t *testing.T) {
	w := newWorld(t, "", "[feedback]\nlisten = \"mention\"\nnames = [\"crew\"]")
	w.gives(model.ResultNothing, w.handle(w.say("alice", "Shall we rename it?")))
	w.gives(model.ResultNothing, w.handle(w.say("carol", "@alice yes.")))
	assert.Zero(t, w.calls())
	w.rests()
	w.handle(w.say("carol", "/mergexo why"))
	w.answered("applied", `Ignored: alice (it does not name MergeXO, and [feedback] listen is "mention"), carol (it does not name MergeXO`)

	w.done(w.handle(w.say("alice", "Rename it, @crew.")))
	assert.Equal(t, 1, w.calls())
	assert.Contains(t, w.receipt(), "**Answered 1 comment**")
}
