package trainsim

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// trainRun is one run of the program on one event, with what it knows.
type trainRun struct {
	*world
	id      int
	beside  bool // it runs in the middle of another one
	look    uint64
	swaps   int // of the record that it read
	record  train.Manifest
	known   train.Facts // of the last fold
	results []train.Result
	tried   map[string]bool
	untold  bool // it has found that no workflow runs on train branches
	dead    bool // in the middle of a landing
}

// instant is the time as the program sees it, which is never 0.
func (w *world) instant() time.Time { return time.Unix(w.now+1, 0) }

// handle runs the program on an event.
func (w *world) handle(asked ...train.Request) {
	r := trainRun{world: w}
	r.whole(asked)
}

// whole takes the train further until nothing is left to do, or dies. It says whether it ended.
func (r *trainRun) whole(asked []train.Request) bool {
	r.world.began++
	r.id, r.tried = r.world.began, map[string]bool{}
	r.alive[r.id] = true
	defer delete(r.alive, r.id)
	r.read()
	for range 200 {
		next, effects := r.fold(asked)
		if r.built(next, effects) {
			continue
		}
		if !r.interlude() {
			return false
		}
		if err := next.Take(r.holder(), r.instant(), r.over); err != nil || !r.write(next) {
			r.read()
			r.results, r.tried, r.untold = nil, map[string]bool{}, false
			continue
		}
		r.record, r.results = next, nil
		done, alive := r.carryOut(effects)
		if !alive {
			return false
		}
		if !done {
			return true
		}
	}
	r.complain("a run does not end")
	return true
}

// fold folds what this run knows.
func (r *trainRun) fold(asked []train.Request) (train.Manifest, []train.Effect) {
	facts := r.facts(asked)
	facts.Asked, facts.Results = asked, r.results
	if r.untold {
		facts.Trouble = "no workflow runs on train branches"
	}
	r.known = facts
	next, effects := train.Fold(r.record, facts, r.settings, r.instant())
	r.again(next, facts, effects)
	for _, c := range next.Cars {
		if c.State == train.Moving && r.frozen && !slices.ContainsFunc(r.record.Cars, func(o train.Car) bool { return o.State == train.Moving }) {
			r.complain("car %d lands in a freeze", c.Number)
		}
	}
	return next, effects
}

// holder is the name of a run.
func (r *trainRun) holder() string { return fmt.Sprint("run ", r.id) }

// over says whether a run is over, as GitHub tells, which does not know of all: some are somebody's at a terminal.
func (r *trainRun) over(holder string) (bool, error) {
	var id int
	if _, err := fmt.Sscanf(holder, "run %d", &id); err != nil {
		return false, err
	}
	return id%5 != 0 && !r.alive[id], nil
}

// again looks whether a fold of what a fold gave changes nothing.
func (r *trainRun) again(m train.Manifest, facts train.Facts, effects []train.Effect) {
	if r.day.Faults == (Faults{}) {
		return
	}
	next, same := train.Fold(m, facts, r.settings, r.instant())
	if !equal(m, next) || !reflect.DeepEqual(effects, same) {
		r.complain("a second fold changes %+v to %+v, and the effects %+v to %+v", m, next, effects, same)
	}
}

// read reads the record, or makes one of the requests where it is lost.
func (r *trainRun) read() {
	if r.day.Faults.Blind > 0 {
		r.look = r.rng.Uint64()
	}
	r.swaps, r.record = r.world.swaps, r.world.record
	if r.lost {
		r.record = train.Rebuild("main", open(r.world), 1)
	}
}

// open are the requests that have not ended, as their comments tell them.
func open(w *world) []train.Request {
	var open []train.Request
	for n := 1; n <= w.day.Requests; n++ {
		if p := w.pulls[n]; p != nil && p.ended != p.token() && p.waits == "" && p.held == "" { // one that waits is in no train
			open = append(open, p.asked())
		}
	}
	return open
}

// built carries out the builds of a fold, which changes nothing outside. It says whether there were any.
func (r *trainRun) built(next train.Manifest, effects []train.Effect) bool {
	some := false
	for _, e := range effects {
		b, is := e.(train.Build)
		if key := name(e); !is || r.tried[key] {
			continue
		} else {
			r.tried[key], some = true, true
		}
		for _, q := range b.Members {
			if by := mergesByGitHub(r.world, q.Number); by != q.ByGitHub {
				r.results = append(r.results, train.Merges{Number: q.Number, ByGitHub: by})
			}
		}
		if r.deaf {
			r.untold = true
		} else if result := r.build(b); result != nil {
			r.results = append(r.results, result)
		}
	}
	if some {
		r.record = next
	}
	return some
}

// name tells effects apart.
func name(e train.Effect) string { return fmt.Sprintf("%T %+v", e, e) }

// interlude lets another run do all of its work, or this one die.
func (r *trainRun) interlude() bool {
	if !r.beside && r.fault(r.day.Faults.Beside) {
		other := trainRun{world: r.world, beside: true}
		other.whole(nil)
	}
	return !r.fault(r.day.Faults.Crash)
}

// write swaps the record, if nobody else did since it was read.
func (r *trainRun) write(next train.Manifest) bool {
	if r.swaps != r.world.swaps {
		return false
	}
	if !r.lost && equal(next, r.world.record) {
		return true
	}
	r.world.record, r.lost = r.stored(next), false
	r.world.swaps++
	r.swaps = r.world.swaps
	for _, q := range next.Queue {
		if p := r.pulls[q.Number]; p.queued == 0 {
			p.queued = r.now + 1
		}
	}
	return true
}

// stored is what a reader gets of a manifest that was written.
func (r *trainRun) stored(m train.Manifest) train.Manifest {
	if r.day.Faults == (Faults{}) {
		return m
	}
	raw, err := m.Encode()
	if err == nil {
		m, err = train.Decode(raw, "main")
	}
	if err != nil {
		r.complain("the manifest is not read: %v", err)
	}
	return m
}

func equal(a, b train.Manifest) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := a.Encode()
	y, errY := b.Encode()
	return errX == nil && errY == nil && string(x) == string(y)
}

// carryOut carries out effects that this run has not tried. done says that there were any.
func (r *trainRun) carryOut(effects []train.Effect) (done, alive bool) {
	for _, e := range effects {
		key := name(e)
		if r.tried[key] {
			continue
		}
		r.tried[key], done = true, true
		if !r.interlude() {
			return done, false
		}
		if results := r.apply(e); !r.fault(r.day.Faults.Crash) {
			r.results = append(r.results, results...)
		}
		if r.dead {
			return done, false
		}
	}
	return done, true
}

// apply carries out an effect; nothing: it was not taken, or says nothing.
func (r *trainRun) apply(e train.Effect) []train.Result {
	switch e := e.(type) {
	case train.Push:
		return r.pushCar(e)
	case train.DeleteBranch:
		if r.deleteBranch(e) {
			return []train.Result{train.Deleted{Car: e.Car}}
		}
	case train.Land:
		switch {
		case !r.record.Claim.By(r.holder()): // another run is at it
		case r.known.Checks[e.To].State != model.CheckPassed:
			return []train.Result{train.Untested{Car: e.Car, Tip: e.To}}
		default:
			return r.land(e)
		}
	case train.Rerun:
		if !r.rerun(e) {
			return []train.Result{train.NotRerun{Car: e.Car, Tip: e.Tip}}
		}
	case train.Finish:
		return []train.Result{r.finish(e.Request, e.Request.End.Outcome)}
	case train.Tell:
		r.pulls[e.Request.Number].comment = e.Key
		return []train.Result{train.Told{Number: e.Request.Number, Key: e.Key}}
	}
	return nil
}

func (r *trainRun) pushCar(e train.Push) []train.Result {
	if by := r.commits[e.Tip].run; by != 0 && by != r.id {
		return []train.Result{train.Stale{Car: e.Car, Tip: e.Tip, Why: train.WhyLost}}
	}
	if r.fault(r.day.Faults.Refuse) {
		return []train.Result{train.PushRefused{Car: e.Car, Why: "GitHub refuses"}}
	}
	if r.push(e) {
		return []train.Result{train.Pushed{Car: e.Car, Tip: e.Tip}}
	}
	return nil
}

// finish has the comment of a request show how it ended.
func (r *trainRun) finish(q train.Request, outcome train.Outcome) train.Result {
	p := r.pulls[q.Number]
	done := train.Finished{Number: q.Number, Token: q.Token}
	if q.Try && !p.wish.Try {
		p.tried = q.Token
	}
	if p.ended == q.Token || p.token() != q.Token {
		return done
	}
	p.ended, p.outcome = q.Token, outcome
	switch {
	case !p.wish.Try && (outcome == train.Passed || outcome == train.Refuted):
		r.complain("#%d was only tried", q.Number)
	case outcome == train.Landed && p.landings == 0:
		r.complain("#%d is told that it landed", q.Number)
	case outcome == train.Landed:
	case q.End.Code == model.CodeChecksFailed && p.bad:
		r.tally.failed++
	case q.End.Code == model.CodeChecksFailed:
		r.tally.wronged++
		r.at(r.now, func() { ask(r.world, p) })
	}
	return done
}
