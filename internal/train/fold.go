package train

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Fold takes a train one step further: it gives the manifest as it has to be by what is known now, and the effects that the
// facts do not show yet, in the order in which they are to be carried out. Without anything to do it gives m as it was. The
// manifest has to be written before an effect other than a Build is carried out.
func Fold(m Manifest, facts Facts, s Settings, now time.Time) (Manifest, []Effect) {
	f := folded(m, facts, s, now)
	return f.Manifest, effects(f)
}

func folded(m Manifest, facts Facts, s Settings, now time.Time) *fold {
	f := fold{Manifest: m.clone(), facts: facts, settings: s.effective(), now: now.Unix(), looked: facts.Branches != nil}
	f.Trouble = facts.Trouble
	f.facts.Branches = map[int]string{} // which results change
	maps.Copy(f.facts.Branches, facts.Branches)
	straighten(&f)
	for _, r := range facts.Results {
		r.learn(&f)
	}
	f.join()
	f.moveOn()
	f.settle()
	for left := 100 + 8*(len(f.Queue)+len(f.Cars)); left > 0 && f.step(); left-- { // far more than there are steps
		f.steps++
	}
	forget(&f)
	if len(f.Queue) == 0 { // nobody has to be told any more
		f.Halt = nil
	}
	return &f
}

// fold is one fold under way.
type fold struct {
	Manifest
	facts    Facts
	settings Settings
	now      int64
	arrived  *Arrived // the landing that this run has seen
	looked   bool     // the branches were read
	steps    int      // that have changed something
	left     string   // why the newest car left the line that others stood on
}

// straighten takes back what no fold writes and somebody else may have written: only the first car of the line lands, and its
// members know the commits that they are moved to.
func straighten(f *fold) {
	first := true
	for i := range f.Cars {
		c := &f.Cars[i]
		switch {
		case c.State != Moving:
		case c.Try || !first:
			c.State, c.Since = Testing, f.now
		default:
			remember(f, *c)
		}
		first = first && c.Try
	}
}

// step applies the first rule that changes something; false: none does.
func (f *fold) step() bool {
	f.look()
	return f.letGo() || f.relink() || f.leave() || f.land() || resume(f) || f.search() || makeRoom(f) || conclude(f) || board(f) || boardTry(f)
}

// Order are the requests in the order in which they board: what operators want now, then by priority, then the one first that
// was both asked for and approved first.
func (m Manifest) Order() []Request {
	all, now := slices.Clone(m.Queue), urgent(m)
	slices.SortStableFunc(all, func(a, b Request) int {
		if now[a.Number] != now[b.Number] {
			if now[a.Number] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// urgent are the requests that go before all others: what operators want now, and what that depends on.
func urgent(m Manifest) map[int]bool {
	out := map[int]bool{}
	for _, r := range m.Queue {
		if r.Now {
			out[r.Number] = true
		}
	}
	for grows := len(out) > 0; grows; {
		grows = false
		for _, r := range m.Queue {
			if !out[r.Number] || r.Try || r.End != nil || r.Held != "" {
				continue
			}
			for _, n := range r.Needs {
				grows = grows || !out[n]
				out[n] = true
			}
		}
	}
	return out
}

// request is the place of a request in the queue; -1: it is not there.
func (f *fold) request(number int) int {
	return slices.IndexFunc(f.Queue, func(r Request) bool { return r.Number == number })
}

// letGo takes out of the queue what is over and told.
func (f *fold) letGo() bool {
	count := len(f.Queue)
	f.Queue = slices.DeleteFunc(f.Queue, func(r Request) bool {
		return f.facts.Requests[r.Number].Ended == r.Token && r.Token != "" && (r.End != nil || !f.moving(r.Number))
	})
	return len(f.Queue) < count
}

// join takes up what people ask for.
func (f *fold) join() {
	for _, r := range f.facts.Asked {
		if f.facts.Requests[r.Number].Ended == r.Token {
			continue
		}
		i := f.request(r.Number)
		switch {
		case i < 0:
			f.Queue = append(f.Queue, r)
		case f.Queue[i].Token == r.Token:
			if f.Queue[i].End == nil && !unready(f, r) {
				f.Queue[i].Held, f.Queue[i].Needs = "", r.Needs
			}
		case r.Try && !f.Queue[i].Try && f.facts.Requests[r.Number].Ended != f.Queue[i].Token: // its car tests the same
		case f.Queue[i].End != nil:
			f.Queue[i] = r
		default:
			f.Queue[i] = f.Queue[i].renewed(r)
		}
	}
	for i, r := range f.Queue {
		if r.Try {
			f.Queue[i].Needs = nil // it stands on the base alone
		}
	}
}

// unready says that this run has learned that a request must not land as things are.
func unready(f *fold, r Request) bool {
	return slices.ContainsFunc(f.facts.Results, func(result Result) bool {
		u, is := result.(Unready)
		return is && u.Number == r.Number && u.Token == r.Token
	})
}

// renewed is a request that was asked for again, which keeps its place if it is about the same head.
func (r Request) renewed(by Request) Request {
	if by.Head == r.Head && by.Try == r.Try {
		by.At, by.Made, by.Conflicts, by.ConflictOn = r.At, r.Made, r.Conflicts, r.ConflictOn
	}
	if by.Comment = cmp.Or(by.Comment, r.Comment); by.Comment == r.Comment {
		by.Told = r.Told
	}
	return by
}

// moving says whether a request is in the car that is landing.
func (f *fold) moving(number int) bool {
	return slices.ContainsFunc(f.Cars, func(c Car) bool { return c.State == Moving && c.has(number) })
}

// moveOn follows the base: to the car that landed, or to where somebody else has moved it.
func (f *fold) moveOn() {
	if f.facts.Gone {
		f.Cars = nil
		for i, r := range f.Queue {
			if known(f, r.Number) { // another one may have been merged before
				f.end(i, End{Outcome: Failed, Code: model.CodeBaseMissing, Why: "the base branch is gone"})
			}
		}
		return
	}
	for i, c := range f.Cars {
		if c.State != Moving {
			continue
		}
		at := c.Tip
		if f.arrived != nil && f.arrived.Car == c.Number {
			at = f.arrived.SHA
		} else if f.facts.Base != c.Tip && !f.facts.Reached[c.Tip] {
			break
		}
		f.Cars = slices.Delete(f.Cars, i, i+1)
		f.SHA = at
		f.landed(c, at)
		break
	}
	if f.facts.Base != "" {
		f.SHA = f.facts.Base
	}
}

// landed ends the requests of a car that the base has.
func (f *fold) landed(c Car, sha string) {
	for _, m := range c.Members {
		if i := f.request(m.Number); i >= 0 && f.Queue[i].End == nil {
			took := int64(0)
			if c.Pushed > 0 {
				took = f.now - c.Pushed
			}
			f.Landed = append(f.Landed, Landing{Number: m.Number, SHA: sha, From: f.Queue[i].At, At: f.now, Took: took})
			f.end(i, End{Outcome: Landed, SHA: sha})
		}
	}
	f.Landed = f.Landed[max(0, len(f.Landed)-mostLanded):]
	for i := range f.Queue {
		f.Queue[i].Late = false
	}
}

// end ends a request that has not ended.
func (f *fold) end(i int, e End) {
	if r := &f.Queue[i]; r.End == nil {
		e.At = f.now
		r.End, r.Made, r.Needs = &e, nil, nil
	}
}

// settle ends the requests that are over by what GitHub shows of them. While a landing is under way, a person who takes a
// request back comes too late, for another run may be at it this very moment.
func (f *fold) settle() {
	for i, r := range f.Queue {
		now, known := f.facts.Requests[r.Number]
		if known && now.State == model.PullMerged && r.End != nil && r.End.Outcome == Failed {
			f.Queue[i].End, r.End = nil, nil // nobody was told of the other end yet
		}
		if !known || r.End != nil {
			continue
		}
		f.Queue[i].Waits = now.Waits != ""
		if now.Held != "" {
			f.Queue[i].Held = now.Held
		}
		switch {
		case now.State == model.PullMerged && r.Try:
			f.end(i, End{Outcome: Refuted, Code: model.CodeClosed, Why: "it was merged in the meantime"})
		case now.State == model.PullMerged:
			f.Landed = append(f.Landed, Landing{Number: r.Number, SHA: now.SHA, From: r.At, At: f.now})
			f.end(i, End{Outcome: Landed, SHA: now.SHA, Why: "it was merged by somebody else"})
		case f.moving(r.Number): // who is landing it sees what has changed, or has landed it by now
		case now.State == model.PullClosed:
			f.end(i, End{Outcome: Failed, Code: model.CodeClosed, Why: "it was closed"})
		case now.Cancelled != "":
			f.end(i, End{Outcome: Failed, Code: model.CodeCancelled, Why: "@" + now.Cancelled + " cancelled it"})
		case now.Off:
			f.end(i, End{Outcome: Failed, Code: model.CodeRetargeted, Why: "its base has changed"})
		case unlanded(f, r) != 0:
			f.end(i, End{Outcome: Failed, Code: model.CodeNeeds, Why: fmt.Sprintf("it depends on #%d, which is neither open nor merged", unlanded(f, r))})
		case now.Head != r.Head && !slices.Contains(r.Made, now.Head):
			f.end(i, End{Outcome: Failed, Code: model.CodeHeadMoved, Why: "it has a new head, which must be approved first"})
		}
	}
	f.Landed = f.Landed[max(0, len(f.Landed)-mostLanded):]
}

// unlanded is the first request that r depends on and that was closed unmerged; 0: none.
func unlanded(f *fold, r Request) int {
	for _, n := range r.Needs {
		if f.facts.Requests[n].State == model.PullClosed && !slices.ContainsFunc(f.Landed, func(l Landing) bool { return l.Number == n }) {
			return n
		}
	}
	return 0
}

// known says whether the standing of a request was read.
func known(f *fold, number int) bool {
	_, known := f.facts.Requests[number]
	return known
}

// ready says whether all conditions of a request are known to hold.
func (f *fold) ready(number int) bool {
	now, known := f.facts.Requests[number]
	i := f.request(number)
	return known && now.State == model.PullOpen && now.Waits == "" && i >= 0 && f.Queue[i].End == nil && f.Queue[i].Held == ""
}

// stays says whether a member may stay in a car: nothing is known against it.
func stays(f *fold, c Car, m Member) bool {
	i := f.request(m.Number)
	if i < 0 || f.Queue[i].End != nil || f.Queue[i].Head != m.Head || f.Queue[i].Try != c.Try {
		return false
	}
	now, known := f.facts.Requests[m.Number]
	return c.State == Moving || (!known || now.Waits == "") && f.Queue[i].Held == "" && missing(f, f.Queue[i], aboard(f)) == 0
}

// has says whether a request is in a car.
func (c Car) has(number int) bool {
	return slices.ContainsFunc(c.Members, func(m Member) bool { return m.Number == number })
}

// aboard are the requests in cars.
func aboard(f *fold) map[int]bool { return f.riders(func(Car) bool { return true }) }

// riders are the requests in the cars that count.
func (f *fold) riders(counts func(Car) bool) map[int]bool {
	in := map[int]bool{}
	for _, c := range f.Cars {
		for _, m := range c.Members {
			in[m.Number] = in[m.Number] || counts(c)
		}
	}
	return in
}

// nextNumber takes the number of a new car. There may be branches of cars that a lost manifest knew.
func nextNumber(f *fold) int {
	for n := range f.facts.Branches {
		f.Next = max(f.Next, n+1)
	}
	f.Next++
	return f.Next - 1
}
