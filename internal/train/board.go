package train

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// board forms the next car at the end of the line, if one more may be tested.
func board(f *fold) bool {
	if stopped(f) {
		return false
	}
	if hurry(f) {
		return true
	}
	first := firstAboard(f)
	if first == nil {
		return false
	}
	on, open := tail(f)
	if !open {
		return false
	}
	if first.Conflicts >= patience && len(line(f)) > 0 {
		return false
	}
	car := Car{Number: nextNumber(f), On: on, State: Building, Since: f.now, Late: first.Late}
	for next := first; next != nil; next = nextAboard(f, car) {
		car.Members = append(car.Members, Member{Number: next.Number, Head: next.Head})
	}
	f.Cars = append(f.Cars, car)
	return true
}

// patience is after how many conflicts with others a request is built on the base itself, for which the rest waits.
const patience = 2

// trouble says why no car is formed, as everybody is told; "": nothing is known of any reason.
func trouble(f *fold) string {
	switch {
	case f.facts.Gone:
		return "the base branch is gone"
	case f.Trouble != "":
		return f.Trouble
	case f.Halt != nil:
		return f.Halt.Why
	case f.SHA == "":
		return "the base has not been read yet"
	}
	return paused(f)
}

// carTrouble is why a car does not land, likewise.
func carTrouble(f *fold, c Car) string {
	if c.Overdue() {
		return paused(f)
	}
	return cmp.Or(c.Why, f.Trouble)
}

// stopped says that no car is formed now. Some time after a push was refused, the next one is tried.
func stopped(f *fold) bool {
	halt := f.Halt
	if halt != nil && f.now >= halt.At+int64(f.settings.Pause.Seconds()) {
		f.Halt = nil
	}
	is := trouble(f) != ""
	f.Halt = halt
	return is
}

// hurry takes the line apart for a request that goes now, but for what is landing and for others that go now. It says whether
// there was anything.
func hurry(f *fold) bool {
	at := line(f)
	k := 0
	for k < len(at) && (f.Cars[at[k]].State == Moving || goesNow(f, f.Cars[at[k]]) && len(f.Cars[at[k]].Members) == 1) {
		k++
	}
	first := firstAboard(f)
	waits := first != nil && urgent(f.Manifest)[first.Number]
	for _, i := range at[k:] {
		waits = waits || goesNow(f, f.Cars[i])
	}
	return waits && f.drop(k, "another request goes now")
}

// tail is the commit that the next car stands on, and whether there may be one: cars have room, all are built, nobody goes
// now, and no culprit is looked for among several.
func tail(f *fold) (on string, open bool) {
	on = f.SHA
	testing, at := 0, line(f)
	for k, i := range at {
		c := f.Cars[i]
		if c.Tip == "" || c.State == Red || c.State != Green && c.State != Moving && c.Doubts > 0 || goesNow(f, c) {
			return "", false
		}
		if c.State == Pushing || c.State == Testing {
			testing++
		}
		switch {
		case !c.suspect():
			on = c.Tip
		case k+1 < len(at) && f.Cars[at[k+1]].On == c.Tip: // what is under test on it may still clear it
			return "", false
		}
	}
	return on, testing < f.settings.Speculate
}

func goesNow(f *fold, c Car) bool {
	now := urgent(f.Manifest)
	return slices.ContainsFunc(c.Members, func(m Member) bool { return now[m.Number] && f.request(m.Number) >= 0 })
}

// firstAboard is the request that heads the next car of the line; nil: nobody may board.
func firstAboard(f *fold) *Request { return nextAboard(f, Car{}) }

// nextAboard is the request that boards a car that is being formed, behind its members; nil: nobody does.
func nextAboard(f *fold, car Car) *Request {
	now := urgent(f.Manifest)
	alone := func(r Request) bool { return now[r.Number] || r.alone() }
	if len(car.Members) >= f.settings.Batch || len(car.Members) > 0 && alone(f.rides(car.Members[0].Number)) {
		return nil
	}
	in, stands := aboard(f), standing(f)
	for _, m := range car.Members {
		in[m.Number], stands[m.Number] = true, true
	}
	empty := len(line(f)) == 0
	for _, r := range f.Order() {
		switch {
		case in[r.Number] || r.Try || r.End != nil || r.Held != "" || missing(f, r, stands) != 0:
			continue
		case r.conflicts(f.SHA) && !empty:
			continue
		case !known(f, r.Number):
			return nil // nobody overtakes one that may board
		case !f.ready(r.Number):
			continue
		case len(car.Members) > 0 && alone(r):
			return nil // the next car is its own
		}
		return &r
	}
	return nil
}

// rides is a request in the queue. A record that somebody wrote may have cars whose members are not there.
func (f *fold) rides(number int) Request {
	if i := f.request(number); i >= 0 {
		return f.Queue[i]
	}
	return Request{Number: number}
}

// alone says that a request shares no car.
func (r Request) alone() bool { return r.Solo || r.ByGitHub || r.Try || r.Conflicts > 0 || r.Late }

// conflicts says that a request did not merge with others while the base was at a commit. Older records have the whole SHA.
func (r Request) conflicts(base string) bool {
	return r.ConflictOn != "" && (r.ConflictOn == abbreviated(base) || r.ConflictOn == base)
}

// standing are the requests that the next car of the line stands on: those aboard, but for suspects, which it stands beside.
func standing(f *fold) map[int]bool {
	return f.riders(func(c Car) bool { return !c.Try && !c.suspect() })
}

// missing is the first request that r depends on and that has neither landed nor is among those that it would stand on; 0: none.
func missing(f *fold, r Request, in map[int]bool) int {
	for _, n := range r.Needs {
		landed := f.facts.Requests[n].State == model.PullMerged || slices.ContainsFunc(f.Landed, func(l Landing) bool { return l.Number == n })
		if !landed && !in[n] {
			return n
		}
	}
	return 0
}

// boardTry forms a car beside the line for the next request that only tries, one at a time.
func boardTry(f *fold) bool {
	if stopped(f) || slices.ContainsFunc(f.Cars, func(c Car) bool { return c.Try }) {
		return false
	}
	for _, r := range f.Order() {
		if r.Try && f.ready(r.Number) {
			f.Cars = append(f.Cars, Car{Number: nextNumber(f), On: f.SHA, State: Building, Since: f.now, Try: true,
				Members: []Member{{Number: r.Number, Head: r.Head}}})
			return true
		}
	}
	return false
}
