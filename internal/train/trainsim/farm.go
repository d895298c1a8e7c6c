// Package trainsim simulates days of a busy base branch in virtual time, with merge trains, GitHub's merge queue or serial
// merges. It runs the real package train, and stands in for GitHub, CI and the runs around it.
package trainsim

import (
	"container/heap"
	"math/rand/v2"
)

// farm runs CI on as many commits at once as it has runners, the others in the order in which they came. Times are seconds.
type farm struct {
	now     int64
	runners int
	takes   int64   // of one run
	flaky   float64 // how probably a good commit is red
	hang    float64 // how probably a run ends only when CI stops it
	mute    float64 // how probably a run ends without a report
	late    float64 // how probably a run is not even queued for hours
	down    bool    // what is asked for is lost
	rng     *rand.Rand
	done    func(*run)

	waiting []*run
	running int
	spent   int64 // of runners
	runs    int   // begun
	calls   calendar
}

// run is a run of CI on one commit.
type run struct {
	tip      string
	bad      bool // the commit
	begun    int64
	over     bool
	stopped  bool
	red      bool
	mute     bool // it does not report
	attempts int
}

// green says that a run has passed.
func (r *run) green() bool { return r != nil && r.over && !r.red && !r.mute }

// start asks for a run.
func (f *farm) start(tip string, bad bool) *run {
	r := &run{tip: tip, bad: bad, begun: -1}
	queue := func() {
		f.waiting = append(f.waiting, r)
		f.fill()
	}
	switch {
	case f.down:
	case f.late > 0 && f.rng.Float64() < f.late:
		f.at(f.now+f.rng.Int64N(mostHours*3600), queue)
	default:
		queue()
	}
	return r
}

// stop cancels a run that is not over.
func (f *farm) stop(r *run) {
	if r.over || r.stopped {
		return
	}
	r.stopped = true
	if r.begun >= 0 {
		f.spent += f.now - r.begun
		f.running--
		f.fill()
	}
}

func (f *farm) fill() {
	for f.running < f.runners && len(f.waiting) > 0 {
		r := f.waiting[0]
		f.waiting = f.waiting[1:]
		if r.stopped {
			continue
		}
		f.running++
		f.runs++
		r.begun = f.now
		takes := f.takes
		if f.hang > 0 && f.rng.Float64() < f.hang {
			takes, r.bad = mostHours*3600, true
		}
		f.at(f.now+takes, func() { f.finish(r) })
	}
}

// mostHours is how long GitHub lets a job run.
const mostHours = 6

func (f *farm) finish(r *run) {
	if r.stopped {
		return
	}
	r.over, r.mute = true, f.mute > 0 && f.rng.Float64() < f.mute
	r.red = r.bad || f.rng.Float64() < f.flaky
	f.spent += f.now - r.begun
	f.running--
	f.fill()
	f.done(r)
}

// at has something happen at a time.
func (f *farm) at(when int64, do func()) {
	f.calls.count++
	heap.Push(&f.calls, call{when, f.calls.count, do})
}

// next lets everything happen that happens at the next time; false: nothing will.
func (f *farm) next() bool {
	if len(f.calls.all) == 0 {
		return false
	}
	f.now = f.calls.all[0].when
	for len(f.calls.all) > 0 && f.calls.all[0].when == f.now {
		heap.Pop(&f.calls).(call).do()
	}
	return true
}

type call struct {
	when  int64
	count int
	do    func()
}

// calendar is what will happen, the next first, and what was planned first of what happens at one time.
type calendar struct {
	all   []call
	count int
}

func (c *calendar) Len() int { return len(c.all) }
func (c *calendar) Less(i, j int) bool {
	a, b := c.all[i], c.all[j]
	return a.when < b.when || a.when == b.when && a.count < b.count
}
func (c *calendar) Swap(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] }
func (c *calendar) Push(x any)    { c.all = append(c.all, x.(call)) }
func (c *calendar) Pop() any {
	last := c.all[len(c.all)-1]
	c.all = c.all[:len(c.all)-1]
	return last
}
