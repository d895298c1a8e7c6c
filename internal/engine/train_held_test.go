package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// landing is a train with two cars of one, of which the first is green, and the event of that.
func landing(t *testing.T) (w *world, ev model.Event, numbers []int) {
	t.Helper()
	w, numbers = boarded(t, []string{"ci_retries = 0"}, "one\n", "two\n")
	tip := w.trains()["mergexo/train/main/1"]
	return w, w.tests("mergexo/train/main/1", tip), numbers
}

// disapprove takes the approvals of a pull request back, of which no run hears: only the look before a landing sees it.
func (w *world) disapprove() {
	w.t.Helper()
	for _, r := range w.list("octo", w.pull("/reviews")) {
		if r["state"] == "APPROVED" {
			w.api("octo", "PUT", w.pull(fmt.Sprintf("/reviews/%d/dismissals", r.id())), object{"message": "on second thought"})
		}
	}
}

// What must not land as things are waits, the others land without it, and it boards again once it may.
func TestALandingThatMustWaitMakesRoom(t *testing.T) {
	w, ev, numbers := landing(t)
	w.on(numbers[0]).disapprove()
	w.handle(ev)
	assert.Equal(t, "open open", w.badges(numbers...), w.logged.String())
	w.on(numbers[0]).requested("in_approval APPROVAL_MISSING")
	assert.Equal(t, 1, w.ciRuns(), "of the other one, by itself")
	w.sweep() // it is not tested over and over
	w.arrives("open merged", numbers...)
	w.on(numbers[0]).requested("in_approval APPROVAL_MISSING")

	w.later(time.Minute)
	w.head = "agent/car0"
	w.approve("alice")
	w.sweep()
	assert.Equal(t, 1, w.wholeTrain(), w.logged.String())
	w.arrives("merged merged", numbers...)
}

// A run dies while it lands a request, and somebody takes that back before the next one: the train goes on without it.
func TestARequestIsTakenBackInTheMiddleOfItsLanding(t *testing.T) {
	w, ev, numbers := landing(t)
	w.gate.revive()
	w.gate.only(2, diesFirst) // the record says that it lands, and nothing has moved
	w.dies(ev)
	require.Contains(t, w.bare("show", trainRecord+":content"), `"landing"`)
	w.on(numbers[0]).command("carol", "/mergexo merge cancel")
	w.later(time.Hour)
	w.sweep()
	assert.Equal(t, 1, w.wholeTrain(), w.logged.String())
	w.arrives("open merged", numbers...)
	require.NotContains(t, w.bare("show", trainRecord+":content"), `"queue"`)
}

// A try that conflicts says where, as a request does.
func TestATryThatConflictsSaysWhere(t *testing.T) {
	w := newTrain(t)
	w.number = w.ready("car", "one\n")[0]
	w.write("octo", "main", "car0.txt", "as the base has it\n")
	w.command("carol", "/mergexo try")
	w.wholeTrain()
	assert.Contains(t, w.request(), "The try failed", w.logged.String())
	assert.Contains(t, w.request(), "<<<<<<< base\nas the base has it\n=======\none\n>>>>>>> branch")
}
