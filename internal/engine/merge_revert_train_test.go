package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
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
	w.approve("alice")
	w.handle(w.delivery("pull_request_review"))
	require.Len(t, w.trains(), 1, w.request())
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, "hello\n", w.fileOf("main", "greeting.txt"))
}

// reverted ends what a command to revert has begun, and gives the pull requests that it has opened.
func (w *world) reverted() (opened int, merges []string) {
	w.t.Helper()
	opened = len(w.list("octo", w.path("/pulls?state=all"))) - 1
	w.number, w.head = 2, "mergexo/revert-1"
	if w.at(w.head) != "" {
		w.passed("ci")
		w.sweep()
		w.wholeTrain()
	}
	return opened, w.merges()
}

// A run may die at any write. The next one opens no second pull request, and does not ask twice. If CI has passed on the head by then,
// the revert boards in that run.
func TestARevertThatBoardsOutlivesItsRun(t *testing.T) {
	w := landedByTrain(t, "approvals = 0")
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo revert").Result)
	last := w.gate.writes
	for _, n := range writes(1, last, 2, last-2, last-1) {
		t.Run(fmt.Sprintf("write %d of %d", n, last), func(t *testing.T) {
			w := landedByTrain(t, "approvals = 0")
			w.gate.revive()
			w.gate.only(n, diesAfter)
			ev := w.say("carol", "/mergexo revert")
			w.handle(ev)
			w.gate.revive()
			if len(w.opened()) > 0 {
				w.head = "mergexo/revert-1"
				w.passed("ci")
			}
			w.recover(ev)
			opened, merges := w.reverted()
			assert.Equal(t, 1, opened)
			assert.Equal(t, []string{"done"}, merges)
			assert.Equal(t, "hello\n", w.fileOf("main", "greeting.txt"))
			w.number = 1
			assert.Len(t, w.marked("command", ""), 1)
		})
	}
}

// With now, a revert goes before all others. Without a train, there are no others.
func TestARevertGoesNow(t *testing.T) {
	w := landedByTrain(t, "approvals = 0", "speculate = 1")
	numbers := w.ready("car", "one\n")
	w.aboard(numbers, "")
	w.number = 1
	w.command("carol", "/mergexo revert now because it breaks")
	w.number, w.head = 3, "mergexo/revert-1"
	w.passed("ci")
	w.sweep()
	assert.Equal(t, "merged open", w.badges(3, 2), "its head was tested, and stands on the base")

	w = merged(t)
	w.command("carol", "/mergexo revert now")
	assert.Empty(t, w.opened())
	assert.Contains(t, w.lastSaid(), "are for the merge train")
}
