package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/mergexo/mergexo/internal/doctor/expression"
)

// condition evaluates the job's and the step's if: for sample events.
func condition(e *exam) []Finding {
	var out []Finding
	for _, u := range e.uses {
		bad := u.constant()
		for _, o := range sampleEvents {
			if !u.has(o.event) {
				continue
			}
			o, matters := e.expected(u, o)
			if !matters || slices.ContainsFunc(bad, func(f Finding) bool { return f.Fix == o.fix }) {
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
		said := "runs for people; skips bots and forks"
		switch {
		case u.early():
			said = "skips bots and forks"
		case u.sweeps():
			said = "runs only on the schedule"
		}
		out = append(out, orOK(bad, "%s: jobs.%s.if %s", u.at(line), u.j.id, said)...)
	}
	return out
}

// expected gives what a job has to do for a sample event, and whether the event matters to it. One job is enough for the
// schedule; a job of a sweep has no other events; events that a plan ignores never reach the jobs that need it.
func (e *exam) expected(u use, o sampleEvent) (sampleEvent, bool) {
	scheduled, plan := o.event == "schedule", e.planOf(u)
	switch {
	case o.fix == fixClosed && !e.hasTrain():
		return o, false
	case plan != nil:
		return o, scheduled && plan.scheduled()
	case u.sweeps() && !scheduled:
		o.runs, o.level, o.since, o.fix = false, Warning, "a whole sweep for one event", fixSweep
	case u.sweeps():
	case scheduled:
		first := slices.IndexFunc(e.uses, func(v use) bool { return v.phase != agentPhase })
		return o, first >= 0 && e.uses[first].s == u.s && !slices.ContainsFunc(e.uses, func(v use) bool { return v.sweeps() || v.scheduled() })
	case o.runs && u.early():
		return o, false
	}
	return o, true
}

// planOf is the step whose items a sweep job works on; nil for any other job.
func (e *exam) planOf(u use) *use {
	i := slices.IndexFunc(e.uses, func(v use) bool {
		return u.phase == sweepPhase && v.phase == planPhase && v.w == u.w && slices.Contains(u.j.needs, v.j.id)
	})
	if i < 0 {
		return nil
	}
	return &e.uses[i]
}

// has reports whether an event triggers the workflow.
func (u use) has(event string) bool {
	return slices.ContainsFunc(u.w.triggers, func(t trigger) bool { return t.event == event })
}

// scheduled reports whether a job sweeps on schedule, as far as that is known.
func (u use) scheduled() bool {
	if !u.has("schedule") || u.phase == agentPhase {
		return false
	}
	met, known, err := u.runs(sampleEvent{event: "schedule"}, scheduled())
	return err == nil && (met || !known)
}

// constant finds conditions made of text around expressions: such text is never empty, so it is always true.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-jobs-with-conditions
func (u use) constant() []Finding {
	var out []Finding
	for _, c := range u.conditions() {
		if expression.Constant(c.value) {
			out = append(out, warn("remove ${{ and }}, or put all of it into one pair", "%s: if: has text around ${{ }}, which is always true", u.at(c.line)))
		}
	}
	return out
}

// conditions are those of the step, the job, and the jobs that it needs: a job is skipped when one that it needs was
// skipped.
func (u use) conditions() []text {
	all := []text{u.s.condition}
	for _, j := range u.chain() {
		all = append(all, j.condition)
	}
	return all
}

// try evaluates the conditions for one event.
func (u use) try(o sampleEvent) (f Finding, found bool) {
	met, known, err := u.runs(o, o.make())
	at := fmt.Sprintf("%s: jobs.%s.if", u.at(u.j.condition.line), u.j.id)
	if u.j.condition.line == 0 {
		at = fmt.Sprintf("%s: jobs.%s", u.at(u.j.line), u.j.id)
	}
	if known && !o.runs && met && o.named() {
		// The condition may skip particular bots: then the result depends on their names.
		if _, known, _ = u.runs(o, o.nameless()); !known {
			return unchecked("%s: whether it skips %s depends on who sent it", at, o.what), true
		}
	}
	switch {
	case err != nil:
		return problem("fix it: GitHub rejects the whole workflow", "%s: %s", at, err), true
	case !known:
		return unchecked("%s: whether it runs for %s is known only at run time", at, o.what), true
	case o.runs && !met:
		return Finding{Level: o.level, Text: fmt.Sprintf("%s skips %s: %s", at, o.what, o.since), Fix: o.fix}, true
	case !o.runs && met:
		return Finding{Level: o.level, Text: fmt.Sprintf("%s runs for %s: %s", at, o.what, o.since), Fix: o.fix}, true
	}
	return Finding{}, false
}

func (o sampleEvent) named() bool { return o.make()["actor"] == app }

// nameless is the context of a sample event whose actor has an unknown name.
func (o sampleEvent) nameless() expression.Object {
	own := o.make()
	own["actor"], own["triggering_actor"] = expression.Unknown{}, expression.Unknown{}
	hide := func(v any) {
		if o, ok := v.(expression.Open); ok {
			o["login"] = expression.Unknown{}
		}
	}
	if event, ok := own["event"].(expression.Object); ok {
		hide(event["sender"])
		if comment, ok := event["comment"].(expression.Open); ok {
			hide(comment["user"])
		}
	}
	return own
}

// runs evaluates the conditions of the step and of the jobs before it.
func (u use) runs(o sampleEvent, own expression.Object) (met, known bool, err error) {
	var v verdict
	ctx := contexts(u.w, o.event, own)
	v.met, v.known, v.err = expression.Condition(u.s.condition.value, ctx)
	v = both(v, gates{u.w, ctx, map[*job]verdict{}}.admits(u.j))
	return v.met, v.known, v.err
}

// both is "and": an error wins, then false, then unknown.
func both(a, b verdict) verdict {
	switch {
	case a.err != nil || b.err != nil:
		return verdict{err: cmp.Or(a.err, b.err)}
	case a.known && !a.met || b.known && !b.met:
		return verdict{known: true}
	}
	return verdict{met: a.met && b.met, known: a.known && b.known}
}

// statusCheck matches the functions that let a job run although one that it needs was skipped.
// https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
var statusCheck = regexp.MustCompile(`(?i)\b(always|cancelled|failure)\s*\(`)

// gates evaluates which jobs of a workflow run for an event if nothing fails. done holds the jobs evaluated so far.
type gates struct {
	w    *workflow
	ctx  expression.Object
	done map[*job]verdict
}

type verdict struct {
	met, known bool
	err        error
}

// admits reports whether a job runs: its condition holds, and so do all jobs that it needs, unless the condition checks
// their status itself.
func (g gates) admits(j *job) verdict {
	if v, ok := g.done[j]; ok {
		return v
	}
	all := verdict{met: true, known: true}
	g.done[j] = all // ends cycles in needs:, which only an invalid file has
	needs := expression.Object{}
	for _, n := range g.w.jobs {
		if !slices.Contains(j.needs, n.id) {
			continue
		}
		v := g.admits(n)
		var result any = expression.Unknown{}
		if v.known {
			result = map[bool]string{true: "success", false: "skipped"}[v.met]
		}
		needs[n.id] = expression.Object{"result": result, "outputs": g.outputs(n)}
		all = both(all, v)
	}
	ctx := maps.Clone(g.ctx)
	ctx["needs"] = needs
	own := verdict{}
	own.met, own.known, own.err = expression.Condition(j.condition.value, ctx)
	if !statusCheck.MatchString(j.condition.value) {
		own = both(all, own)
	}
	g.done[j] = own
	return own
}

// outputs are a job's outputs; a job that plans a sweep reports that there is work.
func (g gates) outputs(j *job) any {
	if slices.ContainsFunc(usesOf(g.w), func(u use) bool { return u.j == j && u.phase == planPhase }) {
		return expression.Object{"work": "true", "matrix": expression.Unknown{}, "max-parallel": expression.Unknown{}}
	}
	return expression.Unknown{}
}

// chain is the job and all jobs that it needs.
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
