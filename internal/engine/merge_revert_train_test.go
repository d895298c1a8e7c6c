package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// landedByTrain is a pull request that the merge train has landed, in a repository whose tests only its CI knows.
func landedByTrain(t *testing.T, more ...string) *world {
	t.Helper()
	w := newTrain(t, more...)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.settings("main"), "tests = \"none\"\n", "", 1))
	w.command("carol", "/mergexo merge")
	w.wholeTrain()
	require.Equal(t, "merged", w.badge())
	return w
}

// A revert is tested by what tests every merge: it waits for its approval, boards, and lands.
func TestARevertBoardsTheTrain(t *testing.T) {
	w := landedByTrain(t)
	w.done(w.command("carol", "/mergexo revert because it breaks"))
	open := w.opened()
	require.Len(t, open, 1, w.said())
	assert.Contains(t, open[0]["body"], "No tests were run: the repository's checks test it before it lands.")
	assert.Contains(t, w.lastSaid(), "Its merge is requested, too. Nothing changes until it is merged.")
	w.number, w.head = int(open[0]["number"].(float64)), "mergexo/revert-1"
	assert.Equal(t, []string{"in_approval APPROVAL_MISSING"}, w.merges())
	w.passed("ci")
	w.endorsed("alice")
	require.Len(t, w.trains(), 1, w.request())
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, "hello\n", w.fileOf("main", "greeting.txt"))
}

// A run may die at any write. The next one opens no second pull request, and does not ask twice. If CI has passed on the head by then,
// the revert boards in that run.
func TestARevertThatBoardsOutlivesItsRun(t *testing.T) {
	w := landedByTrain(t, "approvals = 0")
	ev := w.say("carol", "/mergexo revert")
	dead := w.wrecks(func() { w.done(w.handle(ev)) })
	last := w.gate.writes
	dead.each(t, writes(1, last, 2, last-2, last-1), func(t *testing.T, w *world, _ int) {
		if len(w.opened()) > 0 {
			w.head = "mergexo/revert-1"
			w.passed("ci")
		}
		w.recover(ev)
		assert.Len(t, w.list("octo", w.path("/pulls?state=all")), 2)
		assert.Len(t, w.marked("command", ""), 1)
		w.number, w.head = 2, "mergexo/revert-1"
		if w.at(w.head) != "" {
			w.passed("ci")
			w.sweep()
			w.wholeTrain()
		}
		w.requested("done")
		assert.Equal(t, "hello\n", w.fileOf("main", "greeting.txt"))
	})
}

// With now, a revert goes before all others. Without a train, there are no others.
func TestARevertGoesNow(t *testing.T) {
	w := landedByTrain(t, "approvals = 0", "speculate = 1")
	numbers := w.ready("car", "one\n")
	w.aboard(numbers, "")
	w.on(1).command("carol", "/mergexo revert now because it breaks")
	w.number, w.head = 3, "mergexo/revert-1"
	w.passed("ci")
	w.sweep()
	assert.Equal(t, "merged open", w.badges(3, 2), "its head was tested, and stands on the base")

	w = merged(t)
	w.command("carol", "/mergexo revert now")
	assert.Empty(t, w.opened())
	assert.Contains(t, w.lastSaid(), "are for the merge train")
}
