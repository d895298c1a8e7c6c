package trainsim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

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
			p := &pull{change: c, state: model.PullOpen, byGitHub: w.byGitHub}
			p.head = p.approvedHead()
			w.pulls[c.number] = p
			w.handle(p.asked())
		})
		plague(w, c)
	}
	if w.day.Faults != (Faults{}) { // what a dead run left is taken up by a sweep
		for at := int64(900); at < last+8*3600; at += 900 {
			w.at(at, func() { w.handle(open(w)...) })
		}
	}
}

// plague plans what people and accidents do around a request.
func plague(w *world, c change) {
	f := w.day.Faults
	for _, p := range []struct {
		probability float64
		do          func()
	}{
		{f.Push, func() {
			if !w.gone {
				w.pushed("somebody", 0)
			}
		}},
		{f.Change, func() { upset(w, w.pulls[c.number]) }},
		{f.Again, func() { askOtherwise(w, w.pulls[c.number]) }},
		{f.Meddle, func() { meddle(w) }},
		{f.Forge, func() { forge(w) }},
		{f.Recheck, func() { recheck(w) }},
		{f.Settings, func() { w.byGitHub = !w.byGitHub }},
		{f.Stop, func() { halt(w) }},
		{f.Lose, func() { w.lost = true; w.swaps++ }},
	} {
		if w.fault(p.probability) {
			w.at(c.approved+w.rng.Int64N(2*3600), p.do)
		}
	}
}

// halt stops everything for a while, in one of the ways that there are.
func halt(w *world) {
	switch w.rng.IntN(5) {
	case 0:
		w.frozen = true
	case 1:
		w.trouble = "the checks cannot be read"
	case 2:
		w.deaf = true
	case 3:
		w.gone = true
	case 4:
		w.down = true
		w.at(w.now+5*3600, func() { w.down = false })
		return
	}
	w.at(w.now+1800, func() { w.frozen, w.trouble, w.deaf, w.gone = false, "", false, false })
}

// forge has somebody who may push write the manifest: that a car is landing, or a commit of their own in the place of its last one,
// which is on its branch, too.
func forge(w *world) {
	cars := slices.DeleteFunc(slices.Clone(w.record.Cars), func(c train.Car) bool { return c.Tip == "" || w.branches[c.Number] != c.Tip })
	if len(cars) == 0 || w.lost {
		return
	}
	c := cars[w.rng.IntN(len(cars))]
	i := slices.IndexFunc(w.record.Cars, func(o train.Car) bool { return o.Number == c.Number })
	w.record.Cars = slices.Clone(w.record.Cars)
	if w.rng.IntN(2) == 0 {
		w.record.Cars[i].State = train.Moving
		w.swaps++
		return
	}
	evil, was := w.sha("evil"), w.commits[c.Tip]
	w.commits[evil] = commit{parent: was.parent, number: was.number, tree: was.tree ^ content(evil), forged: true}
	c.Members = slices.Clone(c.Members)
	c.Tip, c.Members[len(c.Members)-1].Tip = evil, evil
	w.record.Cars[i] = c
	w.swaps++
	w.push(train.Push{Car: c.Number, Tip: evil, From: w.branches[c.Number]})
}

// recheck has somebody run the checks of a commit again.
func recheck(w *world) {
	tips := tipsOf(w)
	if len(tips) == 0 {
		return
	}
	slices.Sort(tips)
	tip := tips[w.rng.IntN(len(tips))]
	if was := w.checks[tip]; was != nil && was.over {
		r := w.start(tip, was.bad)
		r.attempts = was.attempts + 1
		w.checks[tip] = r
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
func upset(w *world, p *pull) {
	if p.state != model.PullOpen || p.ended == p.token() {
		return
	}
	p.upset = true
	switch w.rng.IntN(7) {
	case 0:
		p.cancelled = "olga"
	case 1:
		p.state = model.PullClosed
	case 2: // approved again at once
		ask(w, p)
	case 3:
		p.waits = "frozen"
		w.at(w.now+1800, func() { p.waits = "" })
	case 4:
		if !w.gone {
			w.merge(p.number, w.pushed("hand", p.number))
		}
	case 5:
		p.off = true
	case 6:
		p.hidden = "the approval is gone"
		w.at(w.now+1800, func() { p.hidden, p.held = "", "" })
	}
}

// ask has a new head approved and asked for.
func ask(w *world, p *pull) {
	p.revision++
	p.upset, p.byGitHub, p.held = true, w.byGitHub, ""
	p.head = p.approvedHead()
	w.handle(p.asked())
}

// askOtherwise has somebody ask for the merge of what is only tried, or try what is in the train.
func askOtherwise(w *world, p *pull) {
	switch {
	case p.state != model.PullOpen || p.ended == p.token():
	case p.wish.Try:
		p.asks, p.upset = p.asks+1, true
		p.wish.Try = false
		w.handle(p.asked())
	case slices.ContainsFunc(w.record.Queue, func(r train.Request) bool { return r.Number == p.number }):
		try := p.asked()
		try.Token, try.Try = try.Token+"/try", true
		w.handle(try)
	}
}

// settleDay looks whether everything ended.
func settleDay(w *world) {
	w.day.Faults = Faults{Conflict: w.day.Faults.Conflict}
	w.hang, w.mute, w.late, w.down = 0, 0, 0, false
	for range 50 {
		if w.handle(open(w)...); w.next() {
			w.handle()
		} else if len(open(w)) == 0 {
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
