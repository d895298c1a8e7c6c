package dashboard

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// How much of a merge train is shown.
const (
	mostCars    = 20
	mostWaiting = 30
	mostLanded  = 5
	carChecks   = 20
)

// line is a merge train as it is drawn.
type line struct {
	ID, Base, Trouble string
	Cars              []car
	Waiting           []waiting
	Landed            []landing
	CarsLeft, Left    int    // cars and requests that are left out
	Today             string // how many landed on the day of the page
	Took              string // the median from approval to landing; "": unknown
}

type car struct {
	Number  int
	State   badge
	Members []pullName
	Since   stamp
	Behind  int // the car that lands before; 0: none
	Try     bool
	All     string // address of all checks; "": none is known
	Checks  []carCheck
	Why     string
	ETA     stamp // when it lands, if all goes well
}

// carCheck is a check of a car.
type carCheck struct {
	checkName
	Look badge
}

// checkLooks are how the states of checks look.
var checkLooks = map[model.CheckState]badge{
	model.CheckExpected: {"not reported", "wait", "grey"}, model.CheckPending: {"pending", "run", "blue"}, model.CheckPassed: {"passed", "head", "green"}, model.CheckFailed: {"failed", "fail", "red"},
}

type waiting struct {
	Pull pullName
	Why  string
	ETA  stamp
}

type landing struct {
	Pull   pullName
	Commit commit
	At     stamp
	Took   string // from approval to landing
}

// carStates are how the states of cars look.
var carStates = map[string]badge{
	"building": {"being built", "start", "grey"}, "pushing": {"being tested", "run", "blue"}, "testing": {"being tested", "run", "blue"},
	"green": {"passed", "head", "green"}, "red": {"failed", "fail", "red"}, "landing": {"landing", "merge", "violet"},
}

// trains are the merge trains of a board.
func (d drawer) trains(b model.Board) []line {
	titles := map[int]model.BoardPull{}
	for _, p := range b.Pulls {
		titles[p.Number] = p
	}
	name := func(n int) pullName {
		out := pullName{Number: n, Title: clean(titles[n].Title)}
		if d.repo != "" {
			out.URL = d.link(fmt.Sprintf("%s/pull/%d", d.repo, n))
		}
		return out
	}
	var out []line
	for i, t := range b.Trains {
		out = append(out, d.train(t, fmt.Sprintf("train-%d", i+1), name))
	}
	return out
}

func (d drawer) train(t model.Train, id string, name func(int) pullName) line {
	l := line{ID: id, Base: clean(t.Base), Trouble: clean(t.Trouble), CarsLeft: max(0, len(t.Cars)-mostCars), Today: t.Today.Count()}
	if took := t.Today.Median(); took > 0 {
		l.Took = span(took)
	}
	for _, c := range t.Cars[:min(len(t.Cars), mostCars)] {
		one := d.car(c, name)
		if c.Why == t.Trouble { // which is told of the whole train
			one.Why = ""
		}
		l.Cars = append(l.Cars, one)
	}
	for _, q := range t.Queue {
		switch {
		case q.Car != 0:
		case len(l.Waiting) == mostWaiting:
			l.Left++
		default:
			l.Waiting = append(l.Waiting, waiting{name(q.Number), cmp.Or(clean(q.Why), "waits for a place in a car"), d.stamp(q.ETA)})
		}
	}
	for _, k := range t.Landed[:min(len(t.Landed), mostLanded)] {
		one := landing{Pull: name(k.Number), Commit: d.commit(k.SHA), At: d.stamp(k.At)}
		if took := k.Took(); took > 0 {
			one.Took = span(took.Truncate(time.Second))
		}
		l.Landed = append(l.Landed, one)
	}
	return l
}

func (d drawer) car(c model.TrainCar, name func(int) pullName) car {
	one := car{Number: c.Number, Since: d.stamp(c.Since), ETA: d.stamp(c.ETA), Behind: c.Behind, Try: c.Try, Why: clean(c.Why), State: badge{words(c.State), "quiet", "grey"}}
	if look, known := carStates[c.State]; known {
		look.Word = c.Doing()
		one.State = look
	}
	for _, n := range c.Members {
		one.Members = append(one.Members, name(n))
	}
	if at := d.commit(c.Tip); at.URL != "" && c.Branch != "" {
		one.All = at.URL + "/checks"
	}
	for _, k := range c.Shown()[:min(len(c.Shown()), carChecks)] {
		look, known := checkLooks[k.State]
		if !known {
			look = badge{clean(k.Doing()), "fail", "red"}
		}
		one.Checks = append(one.Checks, carCheck{checkName{clean(k.Name), d.link(k.URL)}, look})
	}
	return one
}
