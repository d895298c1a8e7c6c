package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// longAgo is a world in which a comment on a line is answered and a review is drafted, with more reviews after them than a reading
// takes, and a turn after those.
func longAgo(t *testing.T, more ...string) *world {
	t.Helper()
	return begin(t, fmt.Sprint("reviews are long ago", more), func() *world {
		w := newWorld(t, more...)
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "One.")).Result)
		w.draft("bob", "Drafted.")
		for i := range 60 {
			w.later(time.Second)
			w.api("eve", "POST", w.pull("/reviews"), object{"event": "COMMENT", "body": fmt.Sprintf("Chatter %d.", i)})
		}
		w.later(5 * time.Minute)
		require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Two.")).Result)
		w.later(5 * time.Minute)
		return w
	})
}

// rephrase has somebody edit the first comment on a line.
func (w *world) rephrase(login string) {
	w.t.Helper()
	first := w.list("octo", w.pull("/comments"))[0].id()
	w.api(login, "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", first)), object{"body": "One, and more."})
}

// Their own events are lost, as those of runs whose place in the queue another one took.
func TestWhatChangesOnALineLongAgoIsHeard(t *testing.T) {
	each(t, map[string]func(w *world){
		"by the next event": func(w *world) {
			ev := w.say("alice", "Three.")
			w.gate.revive()
			w.done(w.handle(ev))
			api, _ := w.gate.counted()
			assert.LessOrEqual(w.t, api, 8+1+2+1, "a turn of two replies, and two calls for what changed\n%v", w.gate.seen)
			w.sweep()
		},
		"by a sweep": func(w *world) { w.sweep() },
	}, func(t *testing.T, _ string, run func(w *world)) {
		w := longAgo(t)
		reviews := w.list("bob", w.pull("/reviews"))
		drafted := reviews[slices.IndexFunc(reviews, func(o object) bool { return o["state"] == "PENDING" })].id()
		w.rephrase("alice")
		w.submit("bob", drafted, "Submitted late.")
		w.later(time.Minute)
		run(w)
		done := w.marked("turn", "done")
		require.Len(t, done, 3)
		assert.Contains(t, done[2]["body"], "by alice")
		assert.Contains(t, done[2]["body"], "by bob")
		assert.Len(t, w.replies(), 3, "to the comment before and after its edit, and to the drafted one")
		w.quiet()
	})
}

// A run looks for such edits once. What its later readings see, and answer, does not settle those.
func TestAnEditLongAgoThatComesDuringARunIsTheNextOnes(t *testing.T) {
	w := longAgo(t, `required_tests = ["sh", "-c", "echo tests are running"]`)
	w.printed.At("tests are running", func() {
		w.later(time.Minute)
		w.rephrase("alice")
		w.later(time.Minute)
		w.talk("bob", "Four.")
		w.later(time.Minute)
	})
	w.talk("alice", "Three.")
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.handle(w.delivery("issue_comment")).Result)
	api, _ := w.gate.counted()
	t.Logf("%d calls: %v", api, w.gate.seen)
	require.Len(t, w.marked("turn", "done"), 4, "bob's is taken up in the same run")
	w.later(5 * time.Minute)
	w.sweep()
	done := w.marked("turn", "done")
	require.Len(t, done, 5)
	assert.Contains(t, done[4]["body"], "by alice")
	w.quiet()
}
