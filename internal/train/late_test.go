package train_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// silent has CI say nothing of all cars that there are, for a while.
func (y *yard) silent(d time.Duration) {
	y.t.Helper()
	y.now = y.now.Add(d)
	for _, tip := range y.facts.Branches {
		if y.facts.Checks[tip].State == "" {
			y.facts.Checks[tip] = train.Checks{State: pending, Open: []string{"build"}}
		}
	}
	y.run()
}

// all has CI pass on all cars but those that hold one of some requests, until there is nothing left to say.
func (y *yard) all(but ...int) {
	y.t.Helper()
	for more := true; more; {
		more = false
		for _, tip := range y.facts.Branches {
			holds := false
			for _, n := range but {
				holds = holds || strings.Contains(tip+"+", fmt.Sprintf("+%d+", n))
			}
			if !holds && y.facts.Checks[tip].State != green {
				y.ci(tip, green)
				more = true
			}
		}
	}
}

const late = "required check build did not report within 2h"

// A check that begins late is waited for, and so is one that never reports: nobody is to blame, and the train tells why it waits.
func TestAnOutageOfCIEjectsNobody(t *testing.T) {
	y := cars{of: 2, atOnce: 2}.asked(t, 1, 2, 3, 4, 5)
	y.passed()
	y.silent(119 * time.Minute)
	assert.Equal(t, "#5", y.waiting())
	y.silent(time.Minute)
	assert.Equal(t, "m0+1+2 testing, m0+1+2+3+4 testing", y.line(), "they may still report")
	assert.Equal(t, "#5: the train is paused, since "+late+" on car 1", y.waiting())
	assert.Equal(t, "the train is paused, since "+late+" on car 1", train.Show(y.record, y.facts, y.settings, y.now).Trouble)
	for _, p := range train.Positions(y.record, y.facts, y.settings, y.now) {
		assert.Zero(t, p.ETA, "nobody knows when #%d lands", p.Request.Number)
	}
	for range 20 {
		y.silent(time.Hour)
	}
	assert.NotContains(t, y.passed(), "fail")
	y.all()
	assert.Equal(t, "done #1 done #2 done #3 done #4 done #5", strings.Join(ends(y), " "))
}

// ends are how requests have ended since it was asked last.
func ends(y *yard) (out []string) {
	for _, e := range strings.Split(y.passed(), "; ") {
		if words := strings.Fields(e); words[0] == "done" || words[0] == "fail" {
			out = append(out, words[0]+" "+words[1])
		}
	}
	return out
}

// Whoever keeps CI from reporting stops nobody for good: the others are tested beside it, and what they report shows that it is to
// blame. It fails with the name of the check.
func TestWhoKeepsCIFromReportingFailsAlone(t *testing.T) {
	for _, culprit := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(culprit), func(t *testing.T) {
			y := cars{of: 2, atOnce: 3}.asked(t, 1, 2, 3, 4)
			for range 12 {
				y.all(culprit)
				y.silent(time.Hour)
			}
			log := y.passed()
			assert.Contains(t, log, fmt.Sprintf("fail #%d CHECKS_FAILED: %s", culprit, late))
			assert.Equal(t, 1, strings.Count(log, "fail #"), log)
			assert.Equal(t, 3, strings.Count(log, "done #"), log)
			assert.Empty(t, y.line())
		})
	}
}

// Who is alone and never reports is built again once, and then fails: nobody else would show anything new.
func TestWhoIsAloneAndNeverReportsFails(t *testing.T) {
	for _, all := range [][]int{{1}, {1, 2}} {
		y := newYard(t)
		y.ask(requests(all...)...)
		y.run()
		for range 7 {
			y.silent(time.Hour)
		}
		assert.NotContains(t, y.passed(), "fail")
		assert.Equal(t, "the train is paused, since "+late+" on car 2", train.Show(y.record, y.facts, y.settings, y.now).Trouble)
		y.silent(time.Hour)
		log := y.passed()
		assert.Equal(t, len(all), strings.Count(log, "fail"))
		assert.Contains(t, log, "fail #1 CHECKS_FAILED: "+late+", also when it was built again")
		assert.Empty(t, y.line())
	}
}

// CI that is back reports on one car after the other. The first report blames nobody.
func TestCIThatIsBackBlamesNobody(t *testing.T) {
	y := cars{of: 1, atOnce: 2}.asked(t, 1, 2)
	for range 7 {
		y.silent(time.Hour)
	}
	assert.Equal(t, "m0+1 testing, m0+2 testing", y.line())
	y.passed()
	y.ci("m0+2", green)
	y.ci("m0+1", green)
	y.all()
	assert.Equal(t, "done #1 done #2", strings.Join(ends(y), " "))
}

// What has begun and does not end in time has failed. The time counts from its beginning.
func TestAHangingCheckFails(t *testing.T) {
	y := asked(t, 1)
	y.silent(110 * time.Minute)
	y.facts.Checks["m0+1"] = train.Checks{State: pending, Open: []string{"build"}, Begun: y.now.Unix()}
	y.silent(119 * time.Minute)
	assert.Equal(t, "m0+1 testing", y.line())
	assert.NotContains(t, y.passed(), "fail")
	y.silent(time.Minute)
	assert.Contains(t, y.passed(), "fail #1 CHECKS_FAILED: "+late)
}

func TestWhatReportsAfterAllLands(t *testing.T) {
	y := cars{of: 1, atOnce: 2}.asked(t, 1, 2)
	y.ci("m0+1+2", green)
	assert.NotContains(t, y.passed(), "land")
	y.silent(2 * time.Hour)
	assert.Contains(t, y.passed(), "land m0+1+2", "the second one holds the first")

	y.ask(requests(3)...)
	y.run()
	y.silent(3 * time.Hour)
	y.passed()
	y.ci("m0+1+2+3", green)
	assert.Contains(t, y.passed(), "land m0+1+2+3")
}

// A try waits for nobody, and nobody for it.
func TestATryWhoseChecksNeverReport(t *testing.T) {
	y := newYard(t)
	y.ask(train.Request{Number: 1, Try: true})
	y.run()
	y.silent(2 * time.Hour)
	assert.Contains(t, y.passed(), "done #1 refuted")
	assert.Empty(t, y.waiting())
}

// A try stands on the base alone, so that it needs nobody to land before it.
func TestATryNeedsNobody(t *testing.T) {
	y := newYard(t)
	y.ask(train.Request{Number: 1, Try: true, Needs: []int{9}})
	y.facts.Requests[9] = train.Standing{State: model.PullClosed}
	y.run()
	assert.Equal(t, "try m0+1 testing", y.line())
	y.ci("m0+1", green)
	assert.Contains(t, y.passed(), "done #1 passed")
}
