package dashboard

import (
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// How much of a merge train is shown.
const (
	mostCars    = 20
	mostWaiting = 30
	mostLanded  = 5
)

// line is a merge train as it is drawn.
type line struct {
	ID, Base, Trouble string
	Cars              []car
	Waiting           []waiting
	Landed            []landing
	CarsLeft, Left    int // cars and requests that are left out
}

type car struct {
	Number  int
	State   badge
	Members []pullName
	Since   stamp
	Checks  string // address; "": none is known
	Failed  []failedCheck
	Why     string
}

type failedCheck struct{ Name, URL string }

type waiting struct {
	Pull pullName
	Why  string
}

type landing struct {
	Pull   pullName
	Commit commit
	At     stamp
	Took   string // from asking to landing
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
	l := line{ID: id, Base: clean(t.Base), Trouble: clean(t.Trouble), CarsLeft: max(0, len(t.Cars)-mostCars)}
	for _, c := range t.Cars[:min(len(t.Cars), mostCars)] {
		one := car{Number: c.Number, Since: d.stamp(c.Since), Why: clean(c.Why), State: badge{words(c.State), "quiet", "grey"}}
		if look, known := carStates[c.State]; known {
			one.State = look
		}
		if c.Try {
			one.State.Word = "only tried, " + one.State.Word
		}
		for _, n := range c.Members {
			one.Members = append(one.Members, name(n))
		}
		if at := d.commit(c.Tip); at.URL != "" && c.Branch != "" {
			one.Checks = at.URL + "/checks"
		}
		for _, f := range c.Failed {
			one.Failed = append(one.Failed, failedCheck{clean(f.Name), d.link(f.URL)})
		}
		l.Cars = append(l.Cars, one)
	}
	for _, q := range t.Queue {
		switch {
		case q.Car != 0:
		case len(l.Waiting) == mostWaiting:
			l.Left++
		case q.Why == "":
			l.Waiting = append(l.Waiting, waiting{name(q.Number), "for a place in a car"})
		default:
			l.Waiting = append(l.Waiting, waiting{name(q.Number), clean(q.Why)})
		}
	}
	for _, k := range t.Landed[:min(len(t.Landed), mostLanded)] {
		one := landing{Pull: name(k.Number), Commit: d.commit(k.SHA), At: d.stamp(k.At)}
		if !k.Asked.IsZero() && k.At.After(k.Asked) {
			one.Took = span(k.At.Sub(k.Asked).Truncate(time.Second))
		}
		l.Landed = append(l.Landed, one)
	}
	return l
}
