package trainsim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/train"
)

// trainRun is one run of the program on one event, with what it knows.
type trainRun struct {
	*world
	id      int
	beside  bool // it runs in the middle of another one
	swaps   int  // of the record that it read
	record  train.Manifest
	results []train.Result
	tried   map[string]bool
}

// instant is the time as the program sees it, which is never 0.
func (w *world) instant() time.Time { return time.Unix(w.now+1, 0) }

// handle runs the program on an event.
func (w *world) handle(asked ...train.Request) {
	r := trainRun{world: w}
	r.whole(asked)
}

// whole takes the train further until nothing is left to do, or dies. It says whether it came to its end.
func (r *trainRun) whole(asked []train.Request) bool {
	r.world.began++
	r.id, r.tried = r.world.began, map[string]bool{}
	r.read()
	for range 200 {
		facts := r.facts(r.record)
		facts.Asked, facts.Results = asked, r.results
		for _, a := range asked {
			facts.Requests[a.Number] = r.pulls[a.Number].standing()
		}
		next, effects := train.Fold(r.record, facts, r.settings, r.instant())
		r.again(next, facts, effects)
		if r.built(next, effects) {
			continue
		}
		if !r.interlude() {
			return false
		}
		if !r.write(next) {
			r.read()
			r.results = nil
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
	r.swaps, r.record = r.world.swaps, r.world.record
	if r.lost {
		r.record = train.Rebuild("main", r.open(), 1)
	}
}

// open are the requests that have not ended, as their comments tell them.
func (w *world) open() []train.Request {
	var open []train.Request
	for n := 1; n <= w.day.Requests; n++ {
		if p := w.pulls[n]; p != nil && p.ended != p.token() && p.waits == "" { // one that waits is in no train
			open = append(open, p.asked())
		}
	}
	return open
}

// built carries out the builds of a fold, which changes nothing outside. It says whether there were any.
func (r *trainRun) built(next train.Manifest, effects []train.Effect) bool {
	some := false
	for _, e := range effects {
		if b, ok := e.(train.Build); ok {
			r.results = append(r.results, r.build(b, r.id))
			some = true
		}
	}
	if some {
		r.record = next
	}
	return some
}

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
	x, errX := a.Encode()
	y, errY := b.Encode()
	return errX == nil && errY == nil && string(x) == string(y)
}

// carryOut carries out effects that this run has not tried. done says that there were any.
func (r *trainRun) carryOut(effects []train.Effect) (done, alive bool) {
	for _, e := range effects {
		key := fmt.Sprintf("%T %+v", e, e)
		if r.tried[key] {
			continue
		}
		r.tried[key] = true
		done = true
		if !r.interlude() {
			return done, false
		}
		if result := r.apply(e); result != nil && !r.fault(r.day.Faults.Crash) {
			r.results = append(r.results, result)
		}
	}
	return done, true
}

// apply carries out an effect; nil: it was not taken, or says nothing.
func (r *trainRun) apply(e train.Effect) train.Result {
	switch e := e.(type) {
	case train.Push:
		if by := r.commits[e.Tip].run; by != 0 && by != r.id {
			return train.Lost{Car: e.Car, Tip: e.Tip}
		}
		if r.fault(r.day.Faults.Refuse) {
			return train.PushRefused{Car: e.Car, Why: "GitHub refuses"}
		}
		if r.push(e) {
			return train.Pushed{Car: e.Car, Tip: e.Tip}
		}
	case train.DeleteBranch:
		if r.deleteBranch(e) {
			return train.Deleted{Car: e.Car}
		}
	case train.Land:
		return r.land(e)
	case train.Rerun:
		r.rerun(e)
	case train.Fail:
		return r.finish(e.Request, train.Failed, e.Checks)
	case train.Done:
		return r.finish(e.Request, e.Outcome, e.Checks)
	case train.Tell:
		r.pulls[e.Request.Number].comment = e.Key
		return train.Told{Number: e.Request.Number, Key: e.Key}
	}
	return nil
}

// finish has the comment of a request show how it ended.
func (r *trainRun) finish(q train.Request, outcome train.Outcome, _ []train.Check) train.Result {
	p := r.pulls[q.Number]
	done := train.Finished{Number: q.Number, Token: q.Token}
	if p.ended == q.Token || p.token() != q.Token {
		return done
	}
	p.ended, p.outcome = q.Token, outcome
	switch {
	case outcome == train.Landed && p.landings == 0:
		r.complain("#%d is told that it landed", q.Number)
	case outcome == train.Landed:
	case q.End.Code == train.CodeChecks && p.bad:
		r.tally.failed++
	case q.End.Code == train.CodeChecks:
		r.tally.wronged++
		r.at(r.now, func() { r.ask(p) })
	}
	return done
}

// Train lets a merge train live through a day. An innocent that failed is asked for again at once, with its old place in the
// figures.
func Train(d Day, s train.Settings) (Figures, []string) {
	w := newWorld(d, s)
	plan(w)
	for w.next() {
		w.handle()
	}
	settleDay(w)
	name := fmt.Sprintf("merge train, batch %d, speculate %d", s.Batch, s.Speculate)
	return w.tally.figures(name, w.farm), w.wrong
}

// plan has requests come, and what else the day brings.
func plan(w *world) {
	last := int64(0)
	for _, c := range w.day.changes(rand.New(rand.NewPCG(w.day.Seed, 1))) {
		last = max(last, c.approved)
		w.at(c.approved, func() {
			p := &pull{change: c, state: train.Open}
			p.head = p.approvedHead()
			w.pulls[c.number] = p
			w.handle(p.asked())
		})
		plague(w, c)
	}
	if w.day.Faults != (Faults{}) { // what a dead run left is taken up by a sweep
		for at := int64(900); at < last+8*3600; at += 900 {
			w.at(at, func() { w.handle(w.open()...) })
		}
	}
}

// plague plans what people and accidents do around a request.
func plague(w *world, c change) {
	soon := func() int64 { return c.approved + w.rng.Int64N(2*3600) }
	f := w.day.Faults
	if w.fault(f.Push) {
		w.at(soon(), func() {
			sha := w.sha("somebody")
			w.commits[sha] = commit{parent: w.base, bad: w.commits[w.base].bad}
			w.base = sha
		})
	}
	if w.fault(f.Change) {
		w.at(soon(), func() { w.upset(w.pulls[c.number]) })
	}
	if w.fault(f.Meddle) {
		w.at(soon(), func() { meddle(w) })
	}
	if w.fault(f.Lose) {
		w.at(soon(), func() { w.lost = true; w.swaps++ })
	}
}

// meddle moves or deletes a train branch.
func meddle(w *world) {
	numbers := slices.Sorted(maps.Keys(w.branches))
	if len(numbers) == 0 {
		return
	}
	n := numbers[w.rng.IntN(len(numbers))]
	if w.branches[n] = w.base; w.rng.IntN(2) == 0 {
		delete(w.branches, n)
	}
}

// upset is what people do to a pull request that waits.
func (w *world) upset(p *pull) {
	if p.state != train.Open || p.ended == p.token() {
		return
	}
	p.upset = true
	switch w.rng.IntN(5) {
	case 0:
		p.cancelled = "olga"
	case 1:
		p.state = train.Closed
	case 2: // approved again at once
		w.ask(p)
	case 3:
		p.waits = "frozen"
		w.at(w.now+1800, func() { p.waits = "" })
	case 4:
		sha := w.sha("hand")
		w.commits[sha] = commit{parent: w.base, number: p.number, bad: w.commits[w.base].bad}
		w.base = sha
		w.merge(p.number, sha)
	}
}

// ask has a new head approved and asked for.
func (w *world) ask(p *pull) {
	p.revision++
	p.upset = true
	p.head = p.approvedHead()
	w.handle(p.asked())
}

// settleDay looks whether everything came to its end.
func settleDay(w *world) {
	w.day.Faults = Faults{Conflict: w.day.Faults.Conflict}
	w.hang = 0
	for range 50 {
		if w.handle(w.open()...); w.next() {
			w.handle()
		} else if len(w.open()) == 0 {
			break
		}
		for w.next() {
			w.handle()
		}
		w.now += 900
	}
	for n := 1; n <= len(w.pulls); n++ {
		p := w.pulls[n]
		switch {
		case len(p.wish.Needs) > 0 && w.pulls[p.wish.Needs[0]].landings == 0 && p.landings == 0: // it waits for that one
		case p.ended != p.token():
			w.complain("#%d is lost: %+v", n, *p)
		case p.landings == 0 && p.outcome == train.Landed:
			w.complain("#%d never landed", n)
		case p.landings > 0 && p.outcome != train.Landed && !p.wish.Try:
			w.complain("#%d landed and was told that it failed", n)
		}
	}
}
