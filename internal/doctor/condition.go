package doctor

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/doctor/expression"
)

// condition tries what stands before the action, the job's if: and its own, on events that might come.
func condition(e *exam) []Finding {
	var out []Finding
	for _, u := range e.uses {
		bad := u.constant()
		for _, o := range occasions {
			if !slices.ContainsFunc(u.w.triggers, func(t trigger) bool { return t.event == o.event }) {
				continue
			}
			if slices.ContainsFunc(bad, func(f Finding) bool { return f.Fix == o.fix }) {
				continue // one example is enough
			}
			f, found := u.try(o)
			if !found || f.Level == Unchecked && slices.ContainsFunc(bad, func(f Finding) bool { return f.Level == Unchecked }) {
				continue
			}
			bad = append(bad, f)
			if f.Level == Problem {
				break
			}
		}
		line := u.j.condition.line
		if line == 0 {
			line = u.j.line
		}
		out = append(out, orOK(bad, "%s: jobs.%s.if hears people, and leaves out bots and forks", u.at(line), u.j.id)...)
	}
	return out
}

// constant finds conditions that are text with expressions in it: such a text is never empty, and so always true.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func (u use) constant() []Finding {
	var out []Finding
	for _, c := range u.conditions() {
		if expression.Constant(c.value) {
			out = append(out, warn("leave out ${{ and }}, or put all of it between one pair", "%s: if: is text around ${{ }}, which is true whatever stands between", u.at(c.line)))
		}
	}
	return out
}

// conditions are the step's, the job's, and those of the jobs that it needs, since a job does not run when one of those
// was left out.
func (u use) conditions() []text {
	all := []text{u.s.condition}
	for _, j := range u.chain() {
		all = append(all, j.condition)
	}
	return all
}

// try evaluates the conditions for one event.
func (u use) try(o occasion) (f Finding, found bool) {
	met, known, err := u.runs(o, o.make())
	at := fmt.Sprintf("%s: jobs.%s.if", u.at(u.j.condition.line), u.j.id)
	if u.j.condition.line == 0 {
		at = fmt.Sprintf("%s: jobs.%s", u.at(u.j.line), u.j.id)
	}
	if known && !o.runs && met && o.named() {
		// It may leave out bots one by one: then what it does depends on their names.
		if _, known, _ = u.runs(o, o.nameless()); !known {
			return unchecked("%s: whether it leaves out %s depends on who says it", at, o.what), true
		}
	}
	switch {
	case err != nil:
		return problem("correct it: GitHub refuses the whole workflow", "%s: %s", at, err), true
	case !known:
		return unchecked("%s: whether it runs for %s depends on what is known only then", at, o.what), true
	case o.runs && !met:
		return Finding{Level: o.level, Text: fmt.Sprintf("%s leaves out %s: %s", at, o.what, o.since), Fix: o.fix}, true
	case !o.runs && met:
		return Finding{Level: o.level, Text: fmt.Sprintf("%s runs for %s: %s", at, o.what, o.since), Fix: o.fix}, true
	}
	return Finding{}, false
}

func (o occasion) named() bool { return o.make()["actor"] == app }

// nameless is the occasion with somebody whose name nobody knows.
func (o occasion) nameless() expression.Object {
	own := o.make()
	own["actor"], own["triggering_actor"] = expression.Unknown{}, expression.Unknown{}
	hide := func(v any) {
		if o, ok := v.(expression.Object); ok {
			o["login"] = expression.Unknown{}
		}
	}
	if event, ok := own["event"].(expression.Object); ok {
		hide(event["sender"])
		if comment, ok := event["comment"].(expression.Object); ok {
			hide(comment["user"])
		}
	}
	return own
}

// runs evaluates all conditions: one that does not hold decides.
func (u use) runs(o occasion, own expression.Object) (met, known bool, err error) {
	ctx := contexts(u.w, o.event, own)
	met, known = true, true
	for _, c := range u.conditions() {
		m, k, err := expression.Condition(c.value, ctx)
		switch {
		case err != nil:
			return false, false, err
		case k && !m:
			return false, true, nil
		case !k:
			known = false
		}
	}
	return met, known, nil
}

// chain is the job with all those that have to run before it.
func (u use) chain() []*job {
	jobs := []*job{u.j}
	for i := 0; i < len(jobs); i++ {
		for _, j := range u.w.jobs {
			if slices.Contains(jobs[i].needs, j.id) && !slices.Contains(jobs, j) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}
