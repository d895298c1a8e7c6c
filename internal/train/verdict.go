package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// land has the base moved to the last green car of the line before which nothing is still open. A red car before it was red by
// chance, since the green one holds its commits: they land as one.
func (f *fold) land() bool {
	at := line(f)
	if len(at) == 0 || f.Cars[at[0]].State == Moving {
		return false
	}
	last, on := -1, f.SHA
	for k, i := range at {
		c := f.Cars[i]
		if c.On != on || c.State != Green && !c.doubtful() || slices.ContainsFunc(c.Members, func(m Member) bool { return !f.ready(m.Number) }) {
			break
		}
		alone := mergedByGitHub(f, c)
		if alone && k > 0 {
			break
		}
		if c.State == Green {
			last = k
		}
		if alone {
			break
		}
		on = c.Tip
	}
	if last < 0 || refused(f, f.Cars[at[last]]) {
		return false
	}
	whole := f.Cars[at[last]]
	whole.On, whole.Members, whole.State, whole.Why = f.SHA, nil, Moving, ""
	for _, i := range at[:last+1] {
		whole.Members = append(whole.Members, f.Cars[i].Members...)
	}
	remember(f, whole)
	f.Cars[at[last]] = whole
	for _, i := range slices.Backward(at[:last]) {
		f.Cars = slices.Delete(f.Cars, i, i+1)
	}
	return true
}

// mergedByGitHub says that GitHub itself merges the pull request of a car. It merges one at a time, so that the car lands alone.
func mergedByGitHub(f *fold, c Car) bool {
	return slices.ContainsFunc(c.Members, func(m Member) bool {
		at := f.request(m.Number)
		return at >= 0 && f.Queue[at].ByGitHub
	})
}

// refused says that GitHub refused to land a car a moment ago.
func refused(f *fold, c Car) bool {
	return c.Refused > 0 && f.now < c.Since+int64(f.settings.Pause.Seconds())
}

// mostMade is how many commits of failed landings a request remembers, beside the newest.
const mostMade = 2

// remember has the members of a car that lands know the commits that they are moved to.
func remember(f *fold, c Car) {
	for _, m := range c.Members {
		if i := f.request(m.Number); i >= 0 && f.Queue[i].End == nil && !slices.Contains(f.Queue[i].Made, m.Tip) {
			f.Queue[i].Made = remembered(f.Queue[i].Made, f.facts.Requests[m.Number].Head, m.Tip)
		}
	}
}

// Made are what a request remembers of all commits that landings made of its head, oldest first.
func Made(all []string, head string) (made []string) {
	for _, tip := range all {
		made = remembered(made, head, tip)
	}
	return made
}

// remembered are the commits of failed landings, with one more: the newest ones, and the one that is the head now.
func remembered(made []string, head, tip string) []string {
	made = slices.Clone(made)
	for len(made) > mostMade {
		oldest := 0
		if made[oldest] == head {
			oldest = 1
		}
		made = slices.Delete(made, oldest, oldest+1)
	}
	return append(made, tip)
}

// doubtful says that a red result has something to do with a car, or one that is missing: a green one behind it clears it.
func (c Car) doubtful() bool {
	return c.State == Red || (c.State == Testing || c.State == Pushing) && (c.Doubts > 0 || c.Reruns > 0 || c.Overdue())
}

// search looks for the culprit in the first red car, if all before it is green.
func (f *fold) search() bool {
	for k, i := range line(f) {
		switch c := f.Cars[i]; {
		case c.State == Green, c.State == Moving:
		case c.State == Red && len(c.Members) > 1:
			f.split(k)
			return true
		case c.State == Red && f.again(c):
			f.rerun(i)
			return true
		case c.State == Red:
			f.fail(k)
			return true
		default:
			return false
		}
	}
	return false
}

// again says whether the failed checks of a car are run again before somebody fails for them.
func (f *fold) again(c Car) bool {
	return c.Doubts+c.Reruns < f.settings.Retries && len(c.ids()) > 0
}

// ids are those of the failed checks, if all can be run again.
func (c Car) ids() []int64 {
	var ids []int64
	for _, k := range c.Checks {
		if k.ID == 0 {
			return nil
		}
		ids = append(ids, k.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (f *fold) rerun(i int) {
	c := &f.Cars[i]
	c.Rerun, c.Again, c.After, c.Since, c.State = c.ids(), nil, 0, f.now, Testing
	failed := f.facts.Checks[c.Tip].Failed // more than the car remembers
	if len(failed) == 0 {
		failed = c.Checks
	}
	for _, k := range failed {
		c.Again, c.After = append(c.Again, k.key()), max(c.After, k.At)
	}
	c.Reruns++
}

// split divides a red car of several, at tips that exist. What stands behind it is very probably red too and makes room.
func (f *fold) split(k int) {
	i := line(f)[k]
	whole := f.Cars[i]
	why := fmt.Sprintf("the checks failed on car %d, and smaller cars show who is to blame", whole.Number)
	waiting := f.drop(k+1, why) || firstAboard(f) != nil
	sendBack(f, whole, why)
	probes := 1
	if waiting {
		probes = min(f.settings.Speculate, len(whole.Members)-1)
	}
	var parts []Car
	first := 0
	for p := 1; p <= probes; p++ {
		last := p * len(whole.Members) / (probes + 1)
		part := f.part(whole, first, last)
		part.Doubts = whole.Doubts + 1
		parts, first = append(parts, part), last
	}
	rest := whole
	rest.On, rest.Members = whole.Members[first-1].Tip, slices.Clone(whole.Members[first:])
	f.Cars = slices.Replace(f.Cars, i, i+1, append(parts, rest)...)
	if probes < f.settings.Speculate && waiting && len(rest.Members) == 1 && f.again(rest) {
		f.rerun(i + probes)
	}
}

// fail ends the request of a red car that it is alone in.
func (f *fold) fail(k int) {
	i := line(f)[k]
	c := f.Cars[i]
	why := cmp.Or(c.Why, "the checks failed on what would land"+notRerun(f, c))
	f.end(f.request(c.Members[0].Number), End{Outcome: Failed, Code: model.CodeChecksFailed, Why: why, How: how(f, c), Checks: c.Checks, SHA: c.Tip})
	f.left = leaves(f, c.Members[0].Number)
	f.Cars = slices.Delete(f.Cars, i, i+1)
}

// how tells how a car of one was tested, and how it was found among others.
func how(f *fold, c Car) string {
	on := f.Base
	for _, o := range f.Cars {
		if o.Tip == c.On {
			on = fmt.Sprintf("car %d", o.Number)
		}
	}
	text := fmt.Sprintf("Car %d tested it as %s on %s (%s).", c.Number, c.Tip, c.On, on)
	if len(c.Rerun) > 0 {
		text += fmt.Sprintf(" The checks failed again in %s.", markdown.Count(c.Reruns, "rerun"))
	}
	if back := f.rides(c.Members[0].Number).Back; back != "" {
		text += " Before that, " + back + "."
	}
	return text
}

// notRerun names the failed checks that the settings want to be run again and that nobody can have run again, or says that GitHub did
// not.
func notRerun(f *fold, c Car) string {
	if c.Reruns > 0 && len(c.Rerun) == 0 {
		return "; GitHub did not rerun them"
	}
	var names []string
	for _, k := range c.Checks {
		if k.ID == 0 && f.settings.Retries > 0 {
			names = append(names, k.Name)
		}
	}
	if names == nil {
		return ""
	}
	return "; ci_retries reruns only jobs of GitHub Actions, not " + strings.Join(names, ", ")
}

// makeRoom takes apart what stands on a suspect and is red as well, so that the others are tested beside it.
func makeRoom(f *fold) bool {
	at := line(f)
	for k, i := range at {
		if !f.Cars[i].suspect() {
			continue
		}
		for _, behind := range at[k+1:] {
			if f.Cars[behind].State == Red && f.Cars[at[k+1]].On == f.Cars[i].Tip {
				return f.drop(k+1, fmt.Sprintf("the checks failed on it and on car %d, which it stood on", f.Cars[i].Number))
			}
		}
	}
	return false
}

// conclude ends the requests that only try, once their checks have reported.
func conclude(f *fold) bool {
	for i, c := range f.Cars {
		if !c.Try || c.State != Green && c.State != Red {
			continue
		}
		if c.State == Red && f.again(c) {
			f.rerun(i)
			return true
		}
		end := End{Outcome: Passed, SHA: c.Tip}
		if c.State == Red {
			end = End{Outcome: Refuted, Code: model.CodeChecksFailed, Why: cmp.Or(c.Why, strings.TrimPrefix(notRerun(f, c), "; ")), Checks: c.Checks, SHA: c.Tip}
		}
		f.end(f.request(c.Members[0].Number), end)
		f.Cars = slices.Delete(f.Cars, i, i+1)
		return true
	}
	return false
}

// never names required checks that did not report.
func never(names []string) string {
	switch {
	case len(names) == 0:
		return "a required check"
	case len(names) > mostChecks:
		names = append(slices.Clone(names[:mostChecks]), "...")
	}
	return "required check " + strings.Join(names, ", ")
}
