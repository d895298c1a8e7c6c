package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// car is the car with a number; nil: there is none.
func (f *fold) car(number int) *Car {
	i := slices.IndexFunc(f.Cars, func(c Car) bool { return c.Number == number })
	if i < 0 {
		return nil
	}
	return &f.Cars[i]
}

// numbers are the requests of members.
func numbers(members []Member) []int {
	var out []int
	for _, m := range members {
		out = append(out, m.Number)
	}
	return out
}

func (r Built) learn(f *fold) {
	c := f.car(r.Car)
	if c == nil || c.Tip != "" || c.On != r.On || !slices.Equal(numbers(c.Members), numbers(r.Members)) {
		return
	}
	for i, m := range r.Members {
		if m.Head != c.Members[i].Head || m.Tip == "" {
			return
		}
	}
	c.Members = slices.Clone(r.Members)
	c.Tip, c.State = r.Members[len(r.Members)-1].Tip, Pushing
}

func (r Conflict) learn(f *fold) {
	c := f.car(r.Car)
	i := f.request(r.Number)
	if c == nil || c.Tip != "" || c.On != r.On || i < 0 || !c.has(r.Number) {
		return
	}
	first := c.Members[0].Number == r.Number
	why := "it conflicts with the base in " + strings.Join(r.Paths, ", ")
	switch {
	case first && c.Try:
		f.end(i, End{Outcome: Refuted, Code: model.CodeConflict, Why: why})
	case first && c.On == f.SHA:
		f.end(i, End{Outcome: Failed, Code: model.CodeConflict, Why: why})
	default:
		f.Queue[i].Conflicts++
		f.Queue[i].ConflictOn = abbreviated(f.SHA)
	}
	f.discard(r.Car, r.Number)
}

// abbreviated is a commit as it is compared only, where the record has to stay small.
func abbreviated(sha string) string { return sha[:min(len(sha), 16)] }

func (r Unfit) learn(f *fold) {
	c := f.car(r.Car)
	if c == nil || c.Pushed != 0 || !slices.ContainsFunc(r.Numbers, c.has) { // which this run has told before
		return
	}
	built, outcome := c.Tip != "", Failed
	if c.Try {
		outcome = Refuted
	}
	for _, n := range r.Numbers {
		if i := f.request(n); i >= 0 && c.has(n) {
			f.end(i, End{Outcome: outcome, Code: r.Code, Why: r.Why})
		}
	}
	if built {
		f.dropNumber(r.Car, "its branch could not be pushed")
		return
	}
	f.discard(r.Car, r.Numbers...)
}

func (r Merges) learn(f *fold) {
	if i := f.request(r.Number); i >= 0 {
		f.Queue[i].ByGitHub = r.ByGitHub
	}
}

// discard takes members out of a car that is not built, and those after them that depend on them.
func (f *fold) discard(car int, gone ...int) {
	c := f.car(car)
	c.Members = slices.DeleteFunc(c.Members, func(m Member) bool {
		i := f.request(m.Number)
		if i >= 0 && slices.ContainsFunc(f.Queue[i].Needs, func(n int) bool { return slices.Contains(gone, n) }) {
			gone = append(gone, m.Number)
		}
		return slices.Contains(gone, m.Number)
	})
	f.Cars = slices.DeleteFunc(f.Cars, func(c Car) bool { return len(c.Members) == 0 })
}

func (r Pushed) learn(f *fold) {
	f.facts.Branches[r.Car] = r.Tip
	if c := f.car(r.Car); c != nil && c.Tip == r.Tip && c.Pushed == 0 {
		f.Halt = nil
	}
}

func (r PushRefused) learn(f *fold) {
	if c := f.car(r.Car); c != nil && c.Pushed == 0 {
		f.Halt = &Halt{Why: r.Why, At: f.now}
		f.dropNumber(r.Car, "its branch could not be pushed")
	}
}

func (r Stale) learn(f *fold) {
	if c := f.car(r.Car); c != nil && c.Tip == r.Tip && (r.Why != WhyLost || c.Pushed == 0) { // what is pushed is on the server
		f.dropNumber(r.Car, r.Why)
	}
}

func (r Foreign) learn(f *fold) {
	c := f.car(r.Car)
	if c == nil || c.Tip != r.Tip {
		return
	}
	f.Losses = append(f.Losses, Loss{
		Record: r.Tip, Car: r.Car, Tell: numbers(c.Members),
		Why: fmt.Sprintf("as car %d it names commit %s, which the approved pull requests do not make", r.Car, r.Tip[:min(len(r.Tip), 12)]),
	})
	for _, m := range c.Members {
		if i := f.request(m.Number); i >= 0 {
			f.Queue[i].Made = slices.DeleteFunc(slices.Clone(f.Queue[i].Made), func(sha string) bool { return sha == m.Tip })
		}
	}
	f.dropNumber(r.Car, "somebody else changed the record of the train")
}

func (r Untested) learn(f *fold) {
	if c := f.car(r.Car); c != nil && c.Tip == r.Tip && c.State == Moving {
		c.State, c.Since = Testing, f.now
	}
}

// dropNumber takes a car apart, and what stands behind it.
func (f *fold) dropNumber(car int, why string) {
	for k, i := range line(f) {
		if f.Cars[i].Number == car {
			f.drop(k, why)
			return
		}
	}
	f.Cars = slices.DeleteFunc(f.Cars, func(c Car) bool { return c.Number == car })
}

func (r Arrived) learn(f *fold) {
	f.arrived = &r
	if f.facts.Base == r.From || f.facts.Base == "" { // it was read before
		f.facts.Base = r.SHA
	}
}

func (r LandRefused) learn(f *fold) {
	c := f.car(r.Car)
	if c == nil || c.State != Moving || r.Attempt != c.Refused+1 {
		return
	}
	c.State, c.Why, c.Since = Green, r.Why, f.now
	if c.Refused++; c.Refused < f.settings.Attempts {
		return
	}
	for _, m := range c.Members {
		if i := f.request(m.Number); i >= 0 {
			f.end(i, End{Outcome: Failed, Code: model.CodeRejected, Why: r.Why})
		}
	}
}

func (r NotRerun) learn(f *fold) {
	if c := f.car(r.Car); c != nil && c.Tip == r.Tip {
		c.Rerun, c.Again, c.After = nil, nil, 0
		c.Reruns = max(c.Reruns, f.settings.Retries)
	}
}

func (r Unready) learn(f *fold) {
	if c := f.car(r.Car); c != nil && c.State == Moving && c.has(r.Number) {
		c.State, c.Since = Green, f.now
	}
	i := f.request(r.Number)
	switch {
	case i < 0 || f.Queue[i].Token != r.Token:
	case r.Over && r.Code == "":
		f.Queue = slices.Delete(f.Queue, i, i+1)
	case r.Over:
		f.end(i, End{Outcome: Failed, Code: r.Code, Why: r.Why})
	default:
		f.Queue[i].Held = r.Why
	}
}

func (r Deleted) learn(f *fold) { delete(f.facts.Branches, r.Car) }

func (r Told) learn(f *fold) {
	if i := f.request(r.Number); i >= 0 {
		f.Queue[i].Told = r.Key
	}
}

func (r Finished) learn(f *fold) {
	f.Queue = slices.DeleteFunc(f.Queue, func(q Request) bool { return q.Number == r.Number && q.Token == r.Token && q.End != nil })
}
