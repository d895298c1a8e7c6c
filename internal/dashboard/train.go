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
)

// line is a merge train as it is drawn.
type line struct {
	ID, Base, Trouble string
	Cars              []car
	Waiting           []waiting
	Landed            []landing
	CarsLeft, Left    int    // cars and requests that are left out
	Today             string // how many landed on the day of the page
}

type car struct {
	Number  int
	State   badge
	Members []pullName
	Since   stamp
	Checks  string // address; "": none is known
	Failed  []checkName
	Why     string
	ETA     stamp // when it lands, if all goes well
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
	l := line{ID: id, Base: clean(t.Base), Trouble: clean(t.Trouble), CarsLeft: max(0, len(t.Cars)-mostCars), Today: d.landedToday(t)}
	etas := map[int]stamp{} // by cars
	for _, q := range t.Queue {
		if q.Car != 0 && etas[q.Car].Machine == "" {
			etas[q.Car] = d.stamp(q.ETA)
		}
	}
	for _, c := range t.Cars[:min(len(t.Cars), mostCars)] {
		one := car{Number: c.Number, Since: d.stamp(c.Since), ETA: etas[c.Number], Why: clean(c.Why), State: badge{words(c.State), "quiet", "grey"}}
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
			one.Failed = append(one.Failed, checkName{clean(f.Name), d.link(f.URL)})
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
		if !k.Asked.IsZero() && k.At.After(k.Asked) {
			one.Took = span(k.At.Sub(k.Asked).Truncate(time.Second))
		}
		l.Landed = append(l.Landed, one)
	}
	return l
}

// landedToday counts what landed on the day of the page. A record that is full may have forgotten earlier ones.
func (d drawer) landedToday(t model.Train) string {
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	n := 0
	for _, k := range t.Landed {
		if day(k.At) == day(d.now) {
			n++
		}
	}
	if n == len(t.Landed) && n >= model.TrainLandings {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}
