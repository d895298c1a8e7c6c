package train

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/model"
)

// line are the places of the cars that are to land, in their order.
func line(f *fold) []int {
	var at []int
	for i, c := range f.Cars {
		if !c.Try {
			at = append(at, i)
		}
	}
	return at
}

// drop takes the cars of the line from place k on apart, and says why to those whom CI has begun to test there. It says whether there
// were any.
func (f *fold) drop(k int, why string) bool {
	at := line(f)
	if k >= len(at) {
		return false
	}
	first := at[k]
	for _, i := range at[k:] {
		sendBack(f, f.Cars[i], why)
	}
	kept := slices.Clone(f.Cars[:first])
	for _, c := range f.Cars[first:] {
		if c.Try {
			kept = append(kept, c)
		}
	}
	f.Cars = kept
	return true
}

// sendBack has the members of a car know why it is taken apart.
func sendBack(f *fold, c Car, why string) {
	for _, m := range c.Members {
		if i := f.request(m.Number); i >= 0 && c.Pushed != 0 {
			f.Queue[i].Back = fmt.Sprintf("car %d was taken apart: %s", c.Number, why)
		}
	}
}

// suspect says that a car is alone to blame for a red result, or for checks that did not report, which is looked at a second time.
func (c Car) suspect() bool {
	return slices.Contains([]State{Pushing, Testing, Red}, c.State) && (c.Reruns > 0 || c.Late) && len(c.Members) == 1
}

// relink takes apart what no longer stands on what it was built on, for the base has moved or a car has left. Behind a
// suspect a car may stand on the suspect, or beside it.
//
// Where GitHub itself merges, the base gets another commit than the one that was tested, and what stands on that one is built and
// tested again, even if both have the same tree. What GitHub would make of the next pull request does not follow from the trees
// alone: a squash or a rebase leaves out commits which the next head may hold, so that the two merges have other bases.
func (f *fold) relink() bool {
	on, beside := f.SHA, ""
	for k, i := range line(f) {
		c := f.Cars[i]
		if c.On != on && (beside == "" || c.On != beside) {
			return f.drop(k, cmp.Or(f.left, "the base is at "+on[:min(len(on), 12)]+" now"))
		}
		if c.Tip == "" {
			return f.drop(k+1, "a car before it is built again")
		}
		beside = ""
		if c.suspect() {
			beside = c.On
		}
		on = c.Tip
	}
	return false
}

// leave takes out of the cars who may not stay, and what somebody did to their branches.
func (f *fold) leave() bool {
	for k, i := range line(f) {
		c := f.Cars[i]
		out := slices.IndexFunc(c.Members, func(m Member) bool { return !stays(f, c, m) })
		switch {
		case f.meddled(c):
			return f.drop(k, fmt.Sprintf("somebody moved or deleted the branch of car %d", c.Number))
		case c.State != Moving && len(c.Members) > 1 && mergedByGitHub(f, c): // the settings may change on the way
			return f.drop(k, "GitHub merges one pull request at a time")
		case out >= 0:
			f.cut(k, out)
			return true
		}
	}
	for i, c := range f.Cars {
		if c.Try && (!stays(f, c, c.Members[0]) || f.meddled(c)) {
			f.Cars = slices.Delete(f.Cars, i, i+1)
			return true
		}
	}
	return false
}

// meddled says that somebody moved or deleted the branch of a car that had it.
func (f *fold) meddled(c Car) bool {
	return c.Pushed > 0 && c.State != Moving && f.looked && f.facts.Branches[c.Number] != c.Tip
}

// cut takes a member out of the car at place k of the line, and all that stands behind it. Those before it keep their commits,
// the last of which is new to CI.
func (f *fold) cut(k, member int) {
	i := line(f)[k]
	c := f.Cars[i]
	why := leaves(f, c.Members[member].Number)
	f.drop(k+1, why)
	sendBack(f, c, why)
	if c.Tip == "" { // nobody stands on it yet
		f.discard(c.Number, c.Members[member].Number)
		return
	}
	if member == 0 {
		f.Cars = slices.Delete(f.Cars, i, i+1)
		return
	}
	f.Cars[i] = f.part(c, 0, member)
}

// leaves says why a request has left its car.
func leaves(f *fold, number int) string {
	r := f.rides(number)
	why := cmp.Or(f.facts.Requests[number].Waits, r.Held, "what it depends on has left")
	if r.End != nil {
		why = r.End.Why
	}
	return fmt.Sprintf("#%d has left the train: %s", number, why)
}

// part is a new car with the members from first to before last of c.
func (f *fold) part(c Car, first, last int) Car {
	p := Car{Number: nextNumber(f), On: c.On, Members: slices.Clone(c.Members[first:last]), State: Pushing, Since: f.now, Doubts: c.Doubts, Try: c.Try}
	p.Tip = p.Members[len(p.Members)-1].Tip
	if first > 0 {
		p.On = c.Members[first-1].Tip
	}
	return p
}

// look brings the states of the cars up to what the facts show.
func (f *fold) look() {
	waited := map[int]bool{}
	for i := range f.Cars {
		waited[f.Cars[i].Number] = f.Cars[i].Overdue()
	}
	for i := range f.Cars {
		c := &f.Cars[i]
		if c.Tip == "" || c.State == Moving {
			continue
		}
		if c.Pushed == 0 && c.Tip == f.facts.Branches[c.Number] {
			c.Pushed, c.Since, c.State = f.now, f.now, Testing
		}
		if checks, read := f.facts.Checks[c.Tip]; c.Pushed > 0 && read {
			c.evaluate(checks, f.settings, f.now)
		}
	}
	for i := range f.Cars {
		if c := &f.Cars[i]; c.Overdue() && (c.Try || c.Late && !waited[c.Number] && reportedBeside(f, *c)) { // later CI may be back, with this one next
			c.State = Red
		}
	}
}

// evaluate sets the state of a car by its checks. Nobody is to blame for a check that has not begun in time: the car is overdue.
func (c *Car) evaluate(checks Checks, s Settings, now int64) {
	late := now-max(c.Since, checks.Begun) >= int64(s.Timeout.Seconds())
	switch {
	case checks.State == model.CheckPassed:
		c.State, c.Checks, c.Why = Green, nil, ""
	case checks.State == model.CheckFailed && (late || !c.asked(checks)): // late: the re-run never began
		c.State, c.Why, c.Checks = Red, "", checks.Failed[:min(len(checks.Failed), mostChecks)]
	case late:
		c.State, c.Checks, c.Why = Testing, nil, never(checks.Open)+" did not report within "+clock.Text(s.Timeout)
		if checks.Begun != 0 {
			c.State = Red
		}
	default:
		c.State, c.Checks, c.Why = Testing, nil, ""
	}
}

// mostChecks is how many failed checks of a car are remembered.
const mostChecks = 5

// asked says that a red result is one whose re-run was asked for and has not begun.
func (c *Car) asked(checks Checks) bool {
	return len(c.Rerun) > 0 && !slices.ContainsFunc(checks.Failed, func(k Check) bool { return !slices.Contains(c.Again, k.key()) })
}

// key tells the check runs of a commit apart. A workflow run keeps its id when it is run again; its check runs are others then.
func (k Check) key() string { return short(fmt.Sprint(k.Name, "|", k.ID, "|", k.Run)) }
