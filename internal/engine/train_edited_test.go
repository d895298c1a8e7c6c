package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What people may edit while a car is tested forges no record: what was tested lands, by the title that the train took the request
// up with.
func TestATitleThatIsEditedInTheTrainLandsWhatWasTested(t *testing.T) {
	w, numbers := boarded(t, []string{`strategy = "no-ff"`}, "one\n")
	w.number = numbers[0]
	_, tip := w.only()
	w.api("octo", "PATCH", w.pull(""), object{"title": "Quite another title", "body": "Quite another text"})
	w.handle(w.delivery("pull_request"))
	assert.Equal(t, 1, w.wholeTrain(), "one test is enough")
	w.arrives("merged", numbers...)
	assert.Equal(t, tip, w.at("main"), "what landed is what was tested")
	assert.Contains(t, w.bare("log", "-1", "--format=%s", "main"), "Another")
	w.unforged(numbers)
}

// A request that leaves the train and joins it again is still named as it was when the train took it up: a car of before may be on
// its way.
func TestACarThatIsBuiltAgainHasTheTitleOfBefore(t *testing.T) {
	w, numbers := boarded(t, []string{`strategy = "squash"`}, "one\n")
	w.on(numbers[0]).api("octo", "PATCH", w.pull(""), object{"title": "Quite another title"})
	w.write("octo", "main", "moved.txt", "moved\n") // so that it is built again
	w.handle(w.delivery("pull_request"))
	w.wholeTrain()
	w.sweep()
	w.arrives("merged", numbers...)
	assert.Contains(t, w.bare("log", "-1", "--format=%s", "main"), "Another")
	assert.Empty(t, w.losses(numbers[0]))
}

// Who asks again for what is under test, after the title was edited or for another strategy, forges no record either.
func TestAskingAgainForWhatIsUnderTestForgesNoRecord(t *testing.T) {
	type row struct {
		strategy, again string
		tests           int
	}
	each(t, map[string]row{
		"another title":    {"squash", "/mergexo merge priority=high", 1},
		"another strategy": {"rebase", "/mergexo merge strategy=squash", 2},
	}, func(t *testing.T, _ string, c row) {
		w, numbers := boarded(t, []string{"strategy = \"" + c.strategy + "\""}, "one\n")
		w.number = numbers[0]
		if c.tests == 1 {
			w.api("octo", "PATCH", w.pull(""), object{"title": "Quite another title"})
		}
		w.command("carol", c.again)
		assert.Equal(t, c.tests, w.wholeTrain())
		w.arrives("merged", numbers...)
		assert.Contains(t, w.bare("log", "-1", "--format=%s", "main"), "Another (#2)")
		w.unforged(numbers)
	})
}
