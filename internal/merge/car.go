package merge

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Car is what the train tested and landed.
type Car struct {
	Tip    string             // the commit that was tested; "": the run that knew it died
	Checks []model.TrainCheck // that passed on it
}

// last says that the base is at what landed: it is the newest commit of its car, or came by none.
func (c *Car) last(m model.MergeMarker) bool { return c == nil || c.Tip == "" || c.Tip == m.Landed }

// tested says how what landed was tested.
func (l Landing) tested(p model.Pull, m model.MergeMarker) string {
	switch {
	case l.Foreign:
		return "This request did not merge it."
	case l.Car == nil:
		return TestsText(l.Tests)
	case l.Car.Tip == "" || len(l.Car.Checks) == 0:
		return "The merge train tested it: the base moves only to a commit on which all required checks have passed."
	}
	on := "exactly this commit"
	if !l.Car.last(m) {
		on = fmt.Sprintf("[`%s`](%s/commit/%s/checks), the newest commit of its car", markdown.Short(l.Car.Tip), markdown.Repository(p.URL), l.Car.Tip)
	}
	return fmt.Sprintf("%s passed on %s: %s.", either(len(l.Car.Checks) == 1, "The required check", "The required checks"), on, checkNames(l.Car.Checks))
}

// carNeeds are the checks that a car needs before it lands: those that the settings name, by name or name@app, and those that the
// rules of the base name.
func carNeeds(entries, rules []string) []wanted {
	var all []wanted
	add := func(w wanted) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	for _, entry := range entries {
		add(want(entry))
	}
	for _, name := range rules {
		add(wanted{name: name})
	}
	return all
}

// CarRequired are the checks that a car needs, as people see them: each once for each that reports it.
func CarRequired(entries, rules []string, checks []model.Check) []model.TrainCheck {
	var out []model.TrainCheck
	for _, w := range carNeeds(entries, rules) {
		found := w.current(checks)
		if len(found) == 0 {
			out = append(out, model.TrainCheck{Name: w.name, State: model.CheckExpected})
		}
		for _, c := range found {
			one := model.TrainCheck{Name: c.Name, State: c.State, URL: c.URL}
			if c.State != model.CheckPassed && c.State != model.CheckPending {
				one.State = model.CheckFailed
			}
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// CarNames are the names of the checks that a car needs, by the settings and by the rules of the base.
func CarNames(p Policy, facts model.MergeFacts) (out []string) {
	for _, c := range CarRequired(p.RequiredChecks, bound(facts), nil) {
		out = append(out, c.Name)
	}
	return out
}

// CarChecks is how the checks stand that a car needs. Where there are none nothing is known to have passed. failed are those to
// blame, and open the names of those that have not passed yet. begun is when the newest of these began; zero: none is at work.
func CarChecks(entries, rules []string, checks []model.Check) (state model.CheckState, failed []model.Check, open []string, begun time.Time) {
	all := carNeeds(entries, rules)
	if len(all) == 0 {
		return model.CheckPending, nil, nil, begun
	}
	for _, w := range all {
		found := w.current(checks)
		if len(found) == 0 {
			open = append(open, w.name)
		}
		for _, c := range found {
			switch c.State {
			case model.CheckPassed:
			case model.CheckPending:
				open = append(open, w.name)
				if c.Begun && c.At.After(begun) {
					begun = c.At
				}
			default:
				failed = append(failed, c)
			}
		}
	}
	switch {
	case len(failed) > 0:
		return model.CheckFailed, failed, open, begun
	case len(open) > 0:
		return model.CheckPending, nil, open, begun
	}
	return model.CheckPassed, nil, nil, begun
}
