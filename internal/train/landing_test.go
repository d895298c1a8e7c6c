package train_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

func TestALandingThatIsRefused(t *testing.T) {
	y := asked(t, 1)
	y.refuse = "protected"
	y.ci("m0+1", green)
	assert.Equal(t, "push 1 m0+1; land m0+1", y.passed())
	y.run()
	assert.Empty(t, y.passed(), "not at once")
	for range 2 {
		y.now = y.now.Add(10 * time.Minute)
		y.run()
	}
	assert.Equal(t, "land m0+1; land m0+1; fail #1 PUSH_REJECTED: protected []; delete 1", y.passed())

	y.settings.Pause = 0
	y.ask(requests(2)...)
	y.run()
	y.ci("m0+2", green)
	assert.Equal(t, "push 2 m0+2; land m0+2; land m0+2; land m0+2; fail #2 PUSH_REJECTED: protected []; delete 2", y.passed())
}

// The first landing moves the head, and the base moves before each of many: the head is still the one that a landing of ours made.
func TestTheHeadOfManyLandingsThatComeToNothing(t *testing.T) {
	y := asked(t, 1)
	y.refuse = "the base has moved"
	for n := range 6 {
		y.ci(fmt.Sprintf("m%d+1", n), green)
		y.facts.Requests[1] = train.Standing{State: model.PullOpen, Head: "m0+1"}
		y.facts.Base = fmt.Sprintf("m%d", n+1)
		y.run()
	}
	y.refuse = ""
	y.passed()
	y.ci("m6+1", green)
	assert.Equal(t, "land m6+1; done #1 landed m6+1; delete 7", y.passed())
}

// The last look before a landing finds what nothing else shows: the train goes on without it.
func TestALandingThatMustNotBe(t *testing.T) {
	ask := "ask 1 at h1"
	type row struct {
		result         train.Unready
		line, log, how string
	}
	must.Each(t, map[string]row{
		"it waits":             {train.Unready{Why: "the approval is gone"}, "m0+2 testing", "; push 3 m0+2", "#1: the approval is gone"},
		"it never will":        {train.Unready{Over: true, Code: "CLOSED", Why: "no such strategy"}, "m0+2 testing", "; push 3 m0+2; fail #1 CLOSED: no such strategy []", ""},
		"it is over":           {train.Unready{Over: true}, "m0+2 testing", "; push 3 m0+2", ""},
		"another one is meant": {train.Unready{Over: true, Token: "ask 1 at h0"}, "m0+1 landing, m0+1+2 testing", "", ""},
	}, func(t *testing.T, c row) {
		y := cars{of: 1}.asked(t, 1, 2)
		y.report("m0+1", green)
		c.result.Car, c.result.Number, c.result.Token = 1, 1, cmp.Or(c.result.Token, ask)
		y.unready = &c.result
		y.passed()
		y.run()
		assert.Equal(t, c.line, y.line())
		assert.Contains(t, y.passed(), "land m0+1"+c.log)
		assert.Equal(t, c.how, y.waiting())
		y.run()
		assert.Equal(t, c.how, y.waiting(), "until it is asked for again")
		if c.how != "" {
			again := y.record.Queue[0]
			again.Held = ""
			y.facts.Asked = []train.Request{again}
			y.run()
			assert.Equal(t, "m0+2 testing, m0+2+1 testing", y.line())
		}
	})
}

// A car that was built in another way than its members land by now is built again, with what stands on it, and nobody hears of a
// loss.
func TestALandingThatIsOutdatedIsBuiltAgain(t *testing.T) {
	y := cars{of: 1}.asked(t, 1, 2)
	y.report("m0+1", green)
	y.outdated = true
	y.passed()
	y.run()
	assert.Equal(t, "land m0+1; push 3 m0+1; push 4 m0+1+2; delete 1; delete 2; land m0+1; done #1 landed m0+1; delete 3", y.passed())
	assert.Empty(t, y.record.Losses)
}

// Another run may be landing it at this moment.
// TestNothingEndsALandingUnderWay: whoever is landing it looks at all of that just before, and it may have landed by now.
func TestNothingEndsALandingUnderWay(t *testing.T) {
	for name, now := range map[string]train.Standing{
		"cancelled":  {State: model.PullOpen, Head: "m0+1", Cancelled: "olga", Waits: "label freeze"},
		"closed":     {State: model.PullClosed, Head: "m0+1"},
		"a new head": {State: model.PullOpen, Head: "another"},
		"retargeted": {State: model.PullOpen, Head: "m0+1", Off: true},
	} {
		y := asked(t, 1)
		y.report("m0+1", green)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		require.Equal(t, "m0+1 landing", y.line(), name)
		y.facts.Requests[1] = now
		y.passed()
		y.run()
		assert.Equal(t, "land m0+1; done #1 landed m0+1; delete 1", y.passed(), name)
	}
}

// Somebody writes into the record that a car is landing, one run begins to, and another one sees the head that it has moved.
func TestALandingThatSomebodyElseBegan(t *testing.T) {
	y := asked(t, 1)
	y.report("m0+1", green)
	y.record.Cars[0].State = train.Moving
	y.facts.Requests[1] = train.Standing{State: model.PullOpen, Head: "m0+1"}
	y.passed()
	y.run()
	assert.Equal(t, "land m0+1; done #1 landed m0+1; delete 1", y.passed())
}

// Somebody writes that a car in the middle of the line is landing: it waits for its turn.
func TestOnlyTheFirstCarLands(t *testing.T) {
	y := cars{of: 1}.asked(t, 1, 2)
	y.report("m0+1+2", green)
	y.record.Cars[1].State = train.Moving
	y.passed()
	y.run()
	assert.Empty(t, y.passed())
	assert.Equal(t, "m0+1 testing, m0+1+2 green", y.line())
}

// A run dies when it has moved the head. Before the next one a check is run again, or the branch is deleted.
func TestALandingThatIsNotGreenAnyMore(t *testing.T) {
	type row struct {
		change    func(y *yard)
		line, log string
	}
	must.Each(t, map[string]row{
		"a check is run again":  {func(y *yard) { y.report("m0+1", pending) }, "m0+1 testing", "land m0+1"},
		"a check is red":        {func(y *yard) { y.settings.Retries = 0; y.report("m0+1", red) }, "", "land m0+1; fail #1 CHECKS_FAILED: the checks failed on what would land [build https://ci/m0+1]; delete 1"},
		"the branch is deleted": {func(y *yard) { delete(y.facts.Branches, 1); delete(y.facts.Checks, "m0+1") }, "m0+1 testing", "land m0+1; push 2 m0+1"},
	}, func(t *testing.T, c row) {
		y := asked(t, 1)
		y.report("m0+1", green)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Requests[1] = train.Standing{State: model.PullOpen, Head: "m0+1"}
		c.change(y)
		y.passed()
		y.run()
		assert.Equal(t, c.line, y.line())
		assert.Equal(t, c.log, y.passed())
	})
}
