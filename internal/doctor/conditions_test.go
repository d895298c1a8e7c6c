package doctor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// has reports whether an event triggers the workflow.
func (u use) has(event string) bool {
	return slices.ContainsFunc(u.w.Triggers, func(t workflow.Trigger) bool { return t.Event == event })
}

// runs evaluates the conditions of the step and of the jobs before it.
func (u use) runs(o sampleEvent, own expression.Object) (met, known bool, err error) {
	var v verdict
	ctx := contexts(u.w, o.event, own)
	v.met, v.known, v.err = expression.Condition(u.s.Condition.Value, ctx)
	v = both(v, gates{u.w, ctx, map[*workflow.Job]verdict{}}.admits(u.j))
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

// gates evaluates which jobs of a workflow run for an event if nothing fails. done holds the jobs evaluated so far.
type gates struct {
	w    *workflow.Workflow
	ctx  expression.Object
	done map[*workflow.Job]verdict
}

type verdict struct {
	met, known bool
	err        error
}

// admits reports whether a job runs: its condition holds, and so do all jobs that it needs, unless the condition checks
// their status itself.
func (g gates) admits(j *workflow.Job) verdict {
	if v, ok := g.done[j]; ok {
		return v
	}
	all := verdict{met: true, known: true}
	g.done[j] = all // ends cycles in needs:, which only an invalid file has
	needs := expression.Object{}
	for _, n := range g.w.Jobs {
		if !slices.Contains(j.Needs, n.ID) {
			continue
		}
		v := g.admits(n)
		var result any = expression.Unknown{}
		if v.known {
			result = map[bool]string{true: "success", false: "skipped"}[v.met]
		}
		needs[n.ID] = expression.Object{"result": result, "outputs": g.outputs(n)}
		all = both(all, v)
	}
	ctx := maps.Clone(g.ctx)
	ctx["needs"] = needs
	own := verdict{}
	own.met, own.known, own.err = expression.Condition(j.Condition.Value, ctx)
	if !statusCheck.MatchString(j.Condition.Value) {
		own = both(all, own)
	}
	g.done[j] = own
	return own
}

// outputs are a job's outputs; a job that plans a sweep reports that there is work.
func (g gates) outputs(j *workflow.Job) any {
	if slices.ContainsFunc(usesOf(g.w), func(u use) bool { return u.j == j && u.phase == planPhase }) {
		return expression.Object{"work": "true", "matrix": expression.Unknown{}, "max-parallel": expression.Unknown{}}
	}
	return expression.Unknown{}
}
