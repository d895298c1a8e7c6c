package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// jobsThere compares which jobs there are, and how they follow from each other.
func jobsThere(e *exam) []Finding {
	var out []Finding
	does := func(u use) string { return "jobs." + u.j.id + " (`" + u.command() + "`)" }
	switch missing, others := each(e.missing, does), each(e.foreign, does); {
	case others != nil && (e.runs(wholeRun) || e.runs(agentPhase) && e.runs(applyPhase)):
		out = append(out, warn("run mergexo init, which replaces it", "%s: another form than mergexo init writes today, so that these jobs were not compared: %s", e.files(), list(others)))
	case missing != nil:
		out = append(out, problem(asInit, "%s: no job does what these jobs of mergexo init do: %s", e.files(), list(missing)))
	}
	for _, m := range e.matches {
		for _, key := range []string{"outputs", "strategy", "needs"} {
			out = append(out, m.values(key, child(m.want.j.node, key), child(m.got.j.node, key))...)
		}
	}
	return e.compared(out, "the jobs are those of mergexo init")
}

// each is what there is to say of each one.
func each[T any](all []T, say func(T) string) (out []string) {
	for _, one := range all {
		out = append(out, say(one))
	}
	return out
}

// values compares what init writes at a place with what is there.
func (m match) values(path string, want, got *yaml.Node) []Finding {
	switch {
	case want == nil:
		return nil
	case want.Kind == yaml.MappingNode:
		var out []Finding
		for _, p := range pairs(want) {
			out = append(out, m.values(path+"."+p.key, p.value, child(got, p.key))...)
		}
		return out
	}
	line := m.got.j.line
	if got != nil {
		line = got.Line
	}
	for _, value := range words(want) {
		is, _ := canonical(value)
		if !slices.ContainsFunc(words(got), func(w string) bool { c, _ := canonical(w); return c == is }) {
			return []Finding{differs("jobs", m.at(line), "lacks "+path+": "+value, "set "+path[strings.LastIndexByte(path, '.')+1:]+": "+value)}
		}
	}
	return nil
}

// conditions compares the if: of each job, with those of its step and of the jobs that it waits for.
func conditions(e *exam) []Finding {
	var out []Finding
	for _, m := range e.matches {
		out = append(out, m.conditions()...)
	}
	return e.compared(out, "each if: asks what that of mergexo init asks")
}

func (m match) conditions() []Finding {
	u := m.got
	at := fmt.Sprintf("%s: jobs.%s.if", u.at(cmp.Or(u.j.condition.line, u.j.line)), u.j.id)
	want, before, _ := m.want.clauses()
	got, gates, err := u.clauses()
	if err != nil {
		return []Finding{{Level: Problem, Text: fmt.Sprintf("%s: %s", at, err), Fix: "fix it: GitHub rejects the workflow, or takes it for true"}}
	}
	lacks, more := without(want, slices.Concat(got, gates)), without(got, slices.Concat(want, before))
	var out []Finding
	switch {
	case len(got) == 0 && len(lacks) > 0:
		return []Finding{differs("condition", strings.TrimSuffix(at, ".if"), "lacks an if: such as "+lacks[0].text, "add it, as in the workflow that mergexo init writes")}
	case len(lacks) == 1 && len(more) == 1:
		return []Finding{replaced(at, lacks[0], more[0])}
	}
	for _, c := range lacks {
		out = append(out, differs("condition", at, "lacks "+c.text, "add to if: `("+c.text+")`"))
	}
	for _, c := range more {
		out = append(out, differs("condition", at, "asks for "+c.text+", which mergexo init does not", "remove it, unless you want it so"))
	}
	return out
}

// replaced is the finding for a clause in place of another: of those that have a part in common, it tells the others.
func replaced(at string, want, got clause) Finding {
	lacks, more := without(want.alternatives(), got.alternatives()), without(got.alternatives(), want.alternatives())
	text := "asks for " + got.text + ", and lacks " + want.text
	switch common := without(want.alternatives(), lacks); {
	case len(common) == 0:
	case len(more) == 0:
		text = "lacks || " + joinedBy(lacks) + " after " + joinedBy(common)
	case len(lacks) == 0:
		text = "has || " + joinedBy(more) + " after " + joinedBy(common)
	default:
		text = "has " + joinedBy(more) + " in place of " + joinedBy(lacks) + ", after " + joinedBy(common)
	}
	level, follows := consequence("condition", "lacks "+want.text)
	return Finding{Level: level, Text: at + " " + text + ": " + follows, Fix: "make it `(" + want.text + ")`"}
}

func joinedBy(parts []clause) string {
	return strings.Join(each(parts, func(c clause) string { return c.text }), " || ")
}

// without are the clauses that another list does not have.
func without(list, other []clause) (out []clause) {
	for _, c := range list {
		same := func(d clause) bool { return d.key == c.key }
		if !slices.ContainsFunc(other, same) && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out
}

// clauses are what has to hold for a job to run: its own conditions with those of its steps and of jobs that it waits for and that run
// no MergeXO, and those of other jobs before it. A job is skipped when one that it needs was skipped, unless its if: asks how that
// ended: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
func (u use) clauses() (own, before []clause, err error) {
	jobs := []*job{u.j}
	for i := 0; i < len(jobs); i++ {
		asksStatus := false
		conditions := append(u.w.conditions(jobs[i]), jobs[i].condition)
		for _, t := range conditions {
			some, err := clauses(t.value)
			if err != nil {
				return nil, nil, err
			}
			ofStatus := func(c clause) bool { return statusCheck.MatchString(c.key) }
			if asksStatus = asksStatus || slices.ContainsFunc(some, ofStatus); i > 0 && len(conditions) > 1 {
				before = append(before, slices.DeleteFunc(some, ofStatus)...)
			} else {
				own = append(own, some...)
			}
		}
		for _, other := range u.w.jobs {
			if !asksStatus && slices.Contains(jobs[i].needs, other.id) && !slices.Contains(jobs, other) {
				jobs = append(jobs, other)
			}
		}
	}
	return own, before, nil
}

var statusCheck = regexp.MustCompile(`\b(always|cancelled|failure)\(`)

// conditions are those of the steps of a job that run MergeXO.
func (w *workflow) conditions(j *job) (all []text) {
	for _, u := range usesOf(w) {
		if u.j == j {
			all = append(all, u.s.condition)
		}
	}
	return all
}
