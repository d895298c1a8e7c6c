package trainsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// entry is a request in a merge queue, with the run on the commit that holds the base, all entries before it and it.
type entry struct {
	change
	run *run
}

// queue is a merge queue as GitHub publishes it: each entry is tested on top of those before it, as many at once as it may
// build; one that is red is thrown out, and all behind it restart.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
type queue struct {
	*farm
	builds  int // at once
	entries []entry
	tally   tally
	// settled is called when something landed or was thrown out, with how many landed.
	settled func(landed int)
}

// Queue lets GitHub's merge queue live through a day. Whoever is thrown out by chance is put back at the end at once.
func Queue(d Day, builds int) Figures {
	q := newQueue(d, builds)
	q.settled = func(int) {}
	for _, c := range d.changes(rand.New(rand.NewPCG(d.Seed, 1))) {
		q.at(c.approved, func() { q.entries = append(q.entries, entry{change: c}) })
	}
	for q.next() {
		q.settle()
	}
	name := fmt.Sprintf("GitHub's merge queue, %d builds at once", builds)
	if builds == 1 {
		name = "one after the other"
	}
	return q.tally.figures(name, q.farm)
}

func newQueue(d Day, builds int) *queue {
	q := &queue{farm: d.farm(rand.New(rand.NewPCG(d.Seed, 2))), builds: builds}
	q.done = func(*run) {}
	return q
}

// settle lands what is green at the front, throws out what is red there, and tests what has room.
func (q *queue) settle() {
	landed := 0
	for len(q.entries) > 0 && q.entries[0].run != nil && q.entries[0].run.over {
		first := q.entries[0]
		q.entries = q.entries[1:]
		if !first.run.red {
			q.tally.land(first.change, q.now)
			landed++
			continue
		}
		q.restart()
		if first.bad {
			q.tally.failed++
		} else {
			q.tally.wronged++
			q.entries = append(q.entries, entry{change: first.change})
		}
		break
	}
	q.settled(landed)
	for i := range q.entries[:min(q.builds, len(q.entries))] {
		if q.entries[i].run == nil {
			bad := slices.ContainsFunc(q.entries[:i+1], func(e entry) bool { return e.bad })
			q.entries[i].run = q.start("", bad)
		}
	}
}

// restart stops all runs.
func (q *queue) restart() {
	for i := range q.entries {
		if q.entries[i].run != nil {
			q.stop(q.entries[i].run)
			q.entries[i].run = nil
		}
	}
}

// Published are the figures of sonos/github-merge-queue-simulator, which the queue here has to give for its days.
// https://github.com/sonos/github-merge-queue-simulator
type Published struct {
	PerHour, Mean, Median float64 // landed; minutes from entering a full queue to landing, by Little's law
	Lost                  float64 // builds an hour that have to be done again
}

// Saturated lets the queue here live through hours in which it is always full and gives what that simulator prints: at each end
// of the runs at which something lands, the time in which as many land as stand in line. With a probability, waiting more
// stand in line.
func Saturated(seed uint64, hours, builds int, d Day, waiting int, probability float64) Published {
	d.Seed = seed
	q := newQueue(d, builds)
	rng := rand.New(rand.NewPCG(seed, 3))
	var waits []float64
	lost := 0
	fill := func() {
		for len(q.entries) < builds {
			q.entries = append(q.entries, entry{change: change{approved: q.now, bad: rng.Float64() < d.Red}})
		}
	}
	q.settled = func(landed int) {
		if q.now > 0 {
			lost += builds - landed
		}
		if landed > 0 {
			line := builds
			if rng.Float64() < probability {
				line += waiting
			}
			waits = append(waits, float64(line)*d.CI.Minutes()/float64(landed))
		}
		fill()
	}
	fill()
	for q.settle(); q.now < int64(hours)*3600 && q.next(); {
		q.settle()
	}
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	slices.Sort(waits)
	over := float64(q.now) / 3600
	return Published{PerHour: float64(len(q.tally.waits)) / over, Mean: sum / float64(len(waits)), Median: waits[len(waits)/2], Lost: float64(lost) / over}
}
