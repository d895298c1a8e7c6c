package train_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// yard is what tests know of GitHub: it builds, pushes and lands what a train asks for, and CI says what a test says.
type yard struct {
	t        *testing.T
	settings train.Settings
	record   train.Manifest
	facts    train.Facts
	now      time.Time
	clashes  map[string]bool // "onto #n" that do not merge
	refuse   string          // what GitHub says to landings
	unready  *train.Unready  // what the last look before the next landing finds
	outdated bool            // the next landing finds that its car was built in another way
	log      []string        // effects that were carried out
	tells    []string        // comments of the last run

	checkRuns int // that have failed
}

func newYard(t *testing.T) *yard {
	return &yard{
		t: t, settings: train.Defaults(), record: train.New("main"), now: noon, clashes: map[string]bool{},
		facts: train.Facts{Base: "m0", Requests: map[int]train.Standing{}, Checks: map[string]train.Checks{}, Branches: map[int]string{}, Reached: map[string]bool{}},
	}
}

// asked is a yard in which people have asked for requests, and a run has followed.
func asked(t *testing.T, numbers ...int) *yard { return cars{}.asked(t, numbers...) }

// cars are limits on the requests in a car, and on the cars under test at once; 0 is the setting's own default.
type cars struct{ of, atOnce int }

func (c cars) asked(t *testing.T, numbers ...int) *yard {
	y := newYard(t)
	y.settings.Batch, y.settings.Speculate = cmp.Or(c.of, y.settings.Batch), cmp.Or(c.atOnce, y.settings.Speculate)
	y.ask(requests(numbers...)...)
	y.run()
	return y
}

// ask has people ask for requests, one second after the other.
func (y *yard) ask(all ...train.Request) {
	for _, r := range all {
		y.now = y.now.Add(time.Second)
		if r.Head == "" {
			r.Head = fmt.Sprintf("h%d", r.Number)
		}
		r.Token, r.At = fmt.Sprintf("ask %d at %s", r.Number, r.Head), y.now.Unix()
		y.facts.Requests[r.Number] = train.Standing{State: model.PullOpen, Head: r.Head}
		y.facts.Asked = append(y.facts.Asked, r)
	}
}

func requests(numbers ...int) (all []train.Request) {
	for _, n := range numbers {
		all = append(all, train.Request{Number: n})
	}
	return all
}

// run folds until nothing is left to do, as a run does.
func (y *yard) run() {
	y.t.Helper()
	tried := map[string]bool{}
	y.tells = nil
	for range 100 {
		next, effects := train.Fold(y.record, y.facts, y.settings, y.now)
		again, same := train.Fold(next, y.facts, y.settings, y.now)
		require.Equal(y.t, next, again, "a second fold changes nothing")
		require.Equal(y.t, effects, same)
		raw := must.Get(next.Encode())(y.t)
		read := must.Get(train.Decode(raw, "main"))(y.t)
		require.Equal(y.t, string(raw), string(must.Get(read.Encode())(y.t)))
		y.record, y.facts.Results, y.facts.Asked = next, nil, nil
		if builds := slices.DeleteFunc(slices.Clone(effects), func(e train.Effect) bool { _, is := e.(train.Build); return !is }); len(builds) > 0 {
			effects = builds // first, since they change nothing outside
		}
		fresh := false
		for _, e := range effects {
			if key := fmt.Sprintf("%T %v", e, e); !tried[key] {
				tried[key], fresh = true, true
				y.carryOut(e)
			}
		}
		if !fresh {
			return
		}
	}
	y.t.Fatal("a run does not end")
}

func (y *yard) carryOut(e train.Effect) {
	var result train.Result
	switch e := e.(type) {
	case train.Build:
		result = y.build(e)
	case train.Push:
		y.facts.Branches[e.Car], result = e.Tip, train.Pushed{Car: e.Car, Tip: e.Tip}
		y.note("push %d %s", e.Car, e.Tip)
	case train.DeleteBranch:
		delete(y.facts.Branches, e.Car)
		y.note("delete %d", e.Car)
	case train.Rerun:
		y.note("rerun %s", e.Tip)
	case train.Land:
		y.note("land %s", e.To)
		if y.unready != nil {
			result, y.unready = *y.unready, nil
			break
		}
		if y.outdated {
			result, y.outdated = train.Stale{Car: e.Car, Tip: e.To, Why: train.WhyOutdated}, false
			break
		}
		if y.refuse != "" {
			result = train.LandRefused{Car: e.Car, Attempt: e.Attempt, Why: y.refuse}
			break
		}
		if y.facts.Checks[e.To].State != model.CheckPassed {
			result = train.Untested{Car: e.Car, Tip: e.To}
			break
		}
		require.Equal(y.t, y.facts.Base, e.From)
		require.Equal(y.t, model.CheckPassed, y.facts.Checks[e.To].State, "only green commits land")
		y.facts.Base = e.To
		for _, m := range e.Members {
			y.facts.Requests[m.Number] = train.Standing{State: model.PullMerged, Head: m.Tip, SHA: e.To}
		}
	case train.Finish:
		if end := e.Request.End; end.Outcome == train.Failed {
			y.note("fail #%d %s: %s %v", e.Request.Number, end.Code, end.Why, named(end.Checks))
		} else {
			y.note("done #%d %s %s", e.Request.Number, end.Outcome, end.SHA)
		}
		result = train.Finished{Number: e.Request.Number, Token: e.Request.Token}
	case train.Tell:
		y.tells = append(y.tells, fmt.Sprintf("tell #%d", e.Request.Number))
		result = train.Told{Number: e.Request.Number, Key: e.Key}
	}
	if result != nil {
		y.facts.Results = append(y.facts.Results, result)
	}
}

// named are checks by name and link.
func named(checks []train.Check) []string {
	out := []string{}
	for _, c := range checks {
		out = append(out, c.Name+" "+c.URL)
	}
	return out
}

func (y *yard) note(format string, args ...any) { y.log = append(y.log, fmt.Sprintf(format, args...)) }

// build names each commit by what it holds.
func (y *yard) build(b train.Build) train.Result {
	built := train.Built{Car: b.Car, On: b.Onto}
	on := b.Onto
	for _, r := range b.Members {
		if y.clashes[fmt.Sprintf("%s #%d", on, r.Number)] {
			return train.Conflict{Car: b.Car, Number: r.Number, On: b.Onto, Paths: []string{"a.go"}}
		}
		on = fmt.Sprintf("%s+%d", on, r.Number)
		if r.Head != fmt.Sprintf("h%d", r.Number) {
			on += "'"
		}
		built.Members = append(built.Members, train.Member{Number: r.Number, Head: r.Head, Tip: on})
	}
	return built
}

// ci has the checks of a commit report, and a run follow.
func (y *yard) ci(tip string, state model.CheckState) {
	y.t.Helper()
	y.report(tip, state)
	y.run()
}

func (y *yard) report(tip string, state model.CheckState) {
	c := train.Checks{State: state}
	if state == model.CheckFailed {
		y.checkRuns++ // a re-run is of the same workflow run, and makes another check run
		c.Failed = []train.Check{{Name: "build", URL: "https://ci/" + tip, ID: 1, Run: fmt.Sprint("CR_", y.checkRuns), At: y.now.Unix()}}
	}
	if state == model.CheckPending {
		c.Open = []string{"build"}
	}
	y.facts.Checks[tip] = c
	y.now = y.now.Add(time.Minute)
}

// passed is what has happened since it was asked last.
func (y *yard) passed() string {
	out := strings.Join(y.log, "; ")
	y.log = nil
	return out
}

// line draws the cars.
func (y *yard) line() string {
	var out []string
	for _, c := range y.record.Cars {
		s := fmt.Sprintf("%s %s", c.Tip, c.State)
		if c.Try {
			s = "try " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// waiting are the requests that are not aboard, with what they wait for.
func (y *yard) waiting() string {
	var out []string
	for _, p := range train.Positions(y.record, y.facts, y.settings, y.now) {
		if p.Car == 0 {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("#%d: %s", p.Request.Number, p.Why), ": "))
		}
	}
	return strings.Join(out, ", ")
}

// underTest is how many commits CI is at work on.
func (y *yard) underTest() (count int) {
	for _, tip := range y.facts.Branches {
		if state := y.facts.Checks[tip].State; state == "" || state == model.CheckPending {
			count++
		}
	}
	return count
}
