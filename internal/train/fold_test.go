package train_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

const (
	green   = model.CheckPassed
	red     = model.CheckFailed
	pending = model.CheckPending
)

func TestCarsAreTestedAtOnceAndLandInTheirOrder(t *testing.T) {
	y := cars{of: 2}.asked(t, 1, 2, 3, 4, 5, 6, 7)
	assert.Equal(t, "m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", y.line())
	assert.Equal(t, "#7", y.waiting())
	y.passed()

	y.ci("m0+1+2+3+4", green)
	assert.Equal(t, "push 4 m0+1+2+3+4+5+6+7", y.passed(), "what is before it has not landed")
	assert.Equal(t, "m0+1+2 testing, m0+1+2+3+4 green, m0+1+2+3+4+5+6 testing, m0+1+2+3+4+5+6+7 testing", y.line())
	y.ci("m0+1+2", green)
	assert.Equal(t, "land m0+1+2+3+4; delete 1; done #1 landed m0+1+2+3+4; done #2 landed m0+1+2+3+4; done #3 landed m0+1+2+3+4; "+
		"done #4 landed m0+1+2+3+4; delete 2", y.passed())
	assert.Equal(t, "m0+1+2+3+4+5+6 testing, m0+1+2+3+4+5+6+7 testing", y.line(), "what stands behind goes on")
}

// A red car of four with nobody behind: two runs find who it is, as few as there can be.
func TestACulpritIsFoundInTheFewestRuns(t *testing.T) {
	for _, c := range []struct {
		culprit int
		probes  []string
	}{
		{1, []string{"m0+1+2", "m0+1"}},
		{2, []string{"m0+1+2", "m0+1"}},
		{3, []string{"m0+1+2", "m0+1+2+3"}},
		{4, []string{"m0+1+2", "m0+1+2+3"}},
	} {
		t.Run(fmt.Sprint(c.culprit), func(t *testing.T) {
			y := asked(t, 1, 2, 3, 4)
			y.ci("m0+1+2+3+4", red)
			for i, probe := range c.probes {
				require.Contains(t, y.passed(), "push "+strconv.Itoa(i+2)+" "+probe)
				require.Equal(t, 1, y.underTest(), "one run at a time")
				state := green
				if strings.Contains(probe, fmt.Sprintf("+%d", c.culprit)) {
					state = red
				}
				y.ci(probe, state)
			}
			if c.culprit == 4 { // there is only one red result for which it alone is to blame
				assert.Contains(t, y.passed(), "rerun m0+1+2+3+4")
				y.ci("m0+1+2+3+4", red)
			}
			assert.Contains(t, y.passed(), fmt.Sprintf("fail #%d CHECKS_FAILED: the checks failed on what would land [build https://ci/", c.culprit))
			for _, r := range y.record.Queue {
				assert.Nil(t, r.End, "nobody else")
			}
		})
	}
}

func TestWhileOthersWaitACulpritIsFoundAtOnce(t *testing.T) {
	y := asked(t, 1, 2, 3, 4, 5, 6)
	assert.Equal(t, "m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", y.line())
	y.ci("m0+1+2+3+4", red)
	assert.Equal(t, "m0+1 testing, m0+1+2 testing, m0+1+2+3 testing, m0+1+2+3+4 red", y.line())
	y.passed()
	y.report("m0+1", green)
	y.report("m0+1+2", red)
	y.ci("m0+1+2+3", red)
	assert.Equal(t, "land m0+1; push 6 m0+1+3+4+5+6; fail #2 CHECKS_FAILED: the checks failed on what would land [build https://ci/m0+1+2]; "+
		"delete 1; delete 4; delete 5; done #1 landed m0+1; delete 3", y.passed())
	assert.Equal(t, "m0+1+3+4+5+6 testing", y.line())
	y.ci("m0+1+3+4+5+6", green)
	assert.Empty(t, y.line())
	assert.Empty(t, y.record.Queue)
}

func TestARedResultByChance(t *testing.T) {
	t.Run("is tried again", func(t *testing.T) {
		y := asked(t, 1)
		y.ci("m0+1", red)
		y.run()
		assert.Equal(t, "push 1 m0+1; rerun m0+1; rerun m0+1", y.passed(), "until it has begun: the carrier looks first")
		y.ci("m0+1", pending)
		assert.Empty(t, y.passed())
		y.ci("m0+1", green)
		assert.Equal(t, "land m0+1; done #1 landed m0+1; delete 1", y.passed())
	})
	t.Run("and twice is no chance", func(t *testing.T) {
		y := asked(t, 1)
		y.ci("m0+1", red)
		y.ci("m0+1", red)
		assert.Contains(t, y.passed(), "fail #1 CHECKS_FAILED: the checks failed on what would land [build https://ci/m0+1]")
	})
	t.Run("of another service is not", func(t *testing.T) {
		y := asked(t, 1)
		y.facts.Checks["m0+1"] = train.Checks{State: red, Failed: []train.Check{{Name: "slow"}}}
		y.run()
		assert.Contains(t, y.passed(), "fail #1 CHECKS_FAILED: the checks failed on what would land; ci_retries reruns only jobs of GitHub Actions, not slow")
	})
	t.Run("is not looked into where the settings say so", func(t *testing.T) {
		y := newYard(t)
		y.settings.Retries = 0
		y.ask(requests(1)...)
		y.run()
		y.ci("m0+1", red)
		assert.Contains(t, y.passed(), "fail #1")
	})
	t.Run("shows by what stands on it", func(t *testing.T) {
		y := cars{of: 1}.asked(t, 1, 2)
		y.ci("m0+1", red)
		y.passed()
		y.ci("m0+1+2", green)
		assert.Equal(t, "land m0+1+2; delete 1; done #1 landed m0+1+2; done #2 landed m0+1+2; delete 2", y.passed())
	})
	t.Run("while the others are tested beside it", func(t *testing.T) {
		y := cars{of: 1}.asked(t, 1, 2)
		y.ci("m0+1", red)
		assert.Equal(t, "m0+1 testing, m0+1+2 testing", y.line())
		y.ci("m0+1+2", red)
		assert.Equal(t, "m0+1 testing, m0+2 testing", y.line())
		y.ci("m0+2", green)
		assert.Equal(t, "m0+1 testing, m0+2 green", y.line(), "it keeps its turn")
		y.ci("m0+1", red)
		assert.Equal(t, "m0+2", y.facts.Base)
		assert.Empty(t, y.record.Queue)
	})
}

func TestOnlyWhatStandsBehindIsBuiltAgain(t *testing.T) {
	type row struct {
		change func(y *yard)
		line   string
		log    string
	}
	must.Each(t, map[string]row{
		"the base moves": {func(y *yard) { y.facts.Base = "m1" }, "m1+1+2 testing, m1+1+2+3+4 testing, m1+1+2+3+4+5+6 testing", "push"},
		"a new head": {func(y *yard) { y.facts.Requests[4] = train.Standing{State: model.PullOpen, Head: "h4x"} },
			"m0+1+2 testing, m0+1+2+3 testing, m0+1+2+3+5+6 testing", "fail #4 HEAD_MOVED"},
		"and it is asked for": {func(y *yard) { y.ask(train.Request{Number: 4, Head: "h4x"}) },
			"m0+1+2 testing, m0+1+2+3 testing, m0+1+2+3+5+6 testing, m0+1+2+3+5+6+4' testing", "push"},
		"a freeze": {func(y *yard) {
			y.facts.Requests[3] = train.Standing{State: model.PullOpen, Head: "h3", Waits: "label freeze"}
		},
			"m0+1+2 testing, m0+1+2+4+5 testing, m0+1+2+4+5+6 testing", "push"},
		"a cancel": {func(y *yard) {
			y.facts.Requests[5] = train.Standing{State: model.PullOpen, Head: "h5", Cancelled: "olga"}
		},
			"m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+6 testing", "fail #5 CANCELLED: @olga cancelled it"},
		"closed": {func(y *yard) { y.facts.Requests[6] = train.Standing{State: model.PullClosed, Head: "h6"} },
			"m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5 testing", "fail #6 CLOSED"},
		"it goes elsewhere": {func(y *yard) { y.facts.Requests[6] = train.Standing{State: model.PullOpen, Head: "h6", Off: true} },
			"m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5 testing", "fail #6 RETARGETED"},
		"merged by hand": {func(y *yard) {
			y.facts.Base = "m1"
			y.facts.Requests[3] = train.Standing{State: model.PullMerged, Head: "h3", SHA: "m1"}
		}, "m1+1+2 testing, m1+1+2+4+5 testing, m1+1+2+4+5+6 testing", "done #3 landed m1"},
		"a branch moves":            {func(y *yard) { y.facts.Branches[2] = "evil" }, "m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", "delete 2; delete 3"},
		"a branch is gone":          {func(y *yard) { delete(y.facts.Branches, 3) }, "m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", "push 4 m0+1+2+3+4+5+6"},
		"nobody reads the branches": {func(y *yard) { y.facts.Branches = nil }, "m0+1+2 testing, m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", ""},
		"nobody reads the requests": {func(y *yard) { y.facts.Requests = nil; y.report("m0+1+2", green) },
			"m0+1+2 green, m0+1+2+3+4 testing, m0+1+2+3+4+5+6 testing", ""},
		"no base": {func(y *yard) { y.facts.Base, y.facts.Gone = "", true }, "", "fail #1 BASE_MISSING: the base branch is gone"},
	}, func(t *testing.T, c row) {
		y := cars{of: 2, atOnce: 4}.asked(t, 1, 2, 3, 4, 5, 6)
		y.passed()
		c.change(y)
		y.run()
		assert.Equal(t, c.line, y.line())
		if log := y.passed(); c.log == "" {
			assert.Empty(t, log)
		} else {
			assert.Contains(t, log, c.log)
		}
	})
}

func TestBranchesOfRunsThatKnowMoreStay(t *testing.T) {
	y := newYard(t)
	y.facts.Branches[1] = "of a faster run"
	y.run()
	assert.Empty(t, y.passed())
	y.ask(requests(1)...)
	y.run()
	assert.Equal(t, "push 2 m0+1; delete 1", y.passed(), "this one is the faster run, and the record is its own")
}

func TestAPushThatIsRefused(t *testing.T) {
	y := newYard(t)
	y.ask(requests(1)...)
	y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
	y.facts.Results = []train.Result{train.Built{Car: 1, On: "m0", Members: []train.Member{{Number: 1, Head: "h1", Tip: "m0+1"}}}}
	var effects []train.Effect
	y.record, effects = train.Fold(y.record, y.facts, y.settings, y.now)
	require.Equal(t, train.Push{Car: 1, Branch: "mergexo/train/main/1", Tip: "m0+1"}, effects[0])
	y.facts.Results = []train.Result{train.PushRefused{Car: 1, Why: "the App may not push"}}
	y.run()
	assert.Empty(t, y.line())
	assert.Equal(t, "#1: the App may not push", y.waiting())
	y.now = y.now.Add(10 * time.Minute)
	y.run()
	assert.Equal(t, "m0+1 testing", y.line())
	assert.Nil(t, y.record.Halt)
}

func TestARunThatDied(t *testing.T) {
	t.Run("between the build and the push", func(t *testing.T) {
		y := newYard(t)
		y.ask(requests(1)...)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Results = []train.Result{train.Built{Car: 1, On: "m0", Members: []train.Member{{Number: 1, Head: "h1", Tip: "lost"}}}}
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Results = []train.Result{train.Stale{Car: 1, Tip: "lost", Why: train.WhyLost}}
		y.run()
		assert.Equal(t, "push 2 m0+1", y.passed())
	})
	t.Run("after the landing, and somebody has pushed since", func(t *testing.T) {
		y := cars{of: 1}.asked(t, 1, 2)
		y.report("m0+1", green)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		require.Equal(t, "m0+1 landing, m0+1+2 testing", y.line())
		y.facts.Base, y.facts.Reached["m0+1"] = "m9", true
		y.passed()
		y.run()
		assert.Contains(t, y.passed(), "done #1 landed m0+1")
		assert.Equal(t, "m9+2 testing", y.line())
	})
	t.Run("while a commit of what is pushed cannot be fetched", func(t *testing.T) {
		y := cars{of: 1}.asked(t, 1, 2)
		y.report("m0+1", green)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Results = []train.Result{train.Stale{Car: 1, Tip: "m0+1", Why: train.WhyLost}, train.Stale{Car: 2, Tip: "m0+1+2", Why: train.WhyLost}}
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		assert.Equal(t, "m0+1 landing, m0+1+2 testing", y.line())
	})
	t.Run("before it, and somebody has pushed since", func(t *testing.T) {
		y := asked(t, 1)
		y.report("m0+1", green)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Base = "m9"
		y.run()
		assert.Equal(t, "m9+1 testing", y.line())
	})
}

func TestTheRecordIsLost(t *testing.T) {
	y := newYard(t)
	y.ask(requests(1, 2)...)
	asked := y.facts.Asked
	y.run()
	y.passed()
	y.record = train.Rebuild("main", append(asked, asked[0]), 0)
	y.run()
	assert.Equal(t, "push 2 m0+1+2; delete 1", y.passed())
	assert.Len(t, y.record.Queue, 2)
}

// The settings have GitHub merge what was to land in a batch: each gets a car of its own.
func TestABatchThatGitHubMerges(t *testing.T) {
	y := cars{atOnce: 1}.asked(t, 1, 2)
	assert.Equal(t, "m0+1+2 testing", y.line())
	y.facts.Results = []train.Result{train.Merges{Number: 1, ByGitHub: true}, train.Merges{Number: 2, ByGitHub: true}}
	y.run()
	assert.Equal(t, "m0+1 testing", y.line())
	assert.True(t, y.record.Queue[1].ByGitHub)
}
