package doctor

import (
	"regexp"
	"slices"

	"github.com/mergexo/mergexo/internal/doctor/expression"
)

const asInit = ", as in the workflow that mergexo init writes"

// planned matches a matrix made from a job's output.
var planned = regexp.MustCompile(`(?i)^\$\{\{\s*fromJSON\(\s*needs\.([\w-]+)\.outputs\.([\w-]+)\s*\)\s*\}\}$`)

// sweepJobs checks workflows in which one job plans a sweep and further jobs carry it out in parallel.
func sweepJobs(e *exam) []Finding {
	var out []Finding
	swept := ""
	for _, u := range e.uses {
		switch {
		case u.phase == planPhase:
			out = append(out, e.plan(u)...)
			swept = u.j.id
		case u.phase == sweepPhase:
			out = append(out, e.sweep(u)...)
		}
	}
	for _, u := range e.uses {
		if u.phase == wholeRun && swept != "" && u.scheduled() {
			out = append(out, warn("add to if: `github.event_name != 'schedule'`", "%s: jobs.%s also runs the whole sweep on the schedule, so jobs.%s finds nothing left to do", u.at(u.j.line), u.j.id, swept))
		}
	}
	if swept == "" {
		return out
	}
	return orOK(out, "%s: jobs.%s plans the sweep; parallel jobs carry it out", e.files(), swept)
}

// plan requires that the plan's outputs reach the jobs that do the work.
func (e *exam) plan(u use) []Finding {
	var out []Finding
	for _, name := range []string{"matrix", "work"} {
		value := u.j.outputs[name]
		if want := regexp.MustCompile(`\bsteps\.` + regexp.QuoteMeta(u.s.id) + `\.outputs\.` + name + `\b`); u.s.id == "" || !want.MatchString(value) {
			out = append(out, problem("give the step an id: and the job `outputs: {"+name+": ${{ steps.ID.outputs."+name+" }}}`"+asInit, "%s: jobs.%s.outputs.%s is not the step's", u.at(u.j.line), u.j.id, name))
		}
	}
	if !slices.ContainsFunc(e.uses, func(v use) bool { return v.phase == sweepPhase && v.w == u.w && slices.Contains(v.j.needs, u.j.id) }) {
		out = append(out, problem("add a job with needs: "+u.j.id+" and `command: sweep --only ${{ matrix.only }}`"+asInit, "%s: no job carries out what jobs.%s plans", u.at(u.j.line), u.j.id))
	}
	return out
}

var onlyMatrix = regexp.MustCompile(`\$\{\{\s*matrix\.only\s*\}\}`)

// sweep requires that a job that does part of the work is given its items.
func (e *exam) sweep(u use) []Finding {
	var out []Finding
	if !onlyMatrix.MatchString(u.s.with["command"]) {
		if u.j.matrix.value != "" {
			out = append(out, problem("set `command: sweep --only ${{ matrix.only }}`", "%s: each job of jobs.%s sweeps everything", u.at(u.s.line), u.j.id))
		}
		return out
	}
	m := planned.FindStringSubmatch(u.j.matrix.value)
	from := slices.IndexFunc(e.uses, func(v use) bool { return m != nil && v.phase == planPhase && v.w == u.w && v.j.id == m[1] })
	if from < 0 || m[2] != "matrix" || !slices.Contains(u.j.needs, m[1]) {
		return append(out, problem("set `matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}`, and needs: plan"+asInit, "%s: jobs.%s.strategy.matrix is not the output of a job with `command: sweep --matrix`", u.at(max(u.j.matrix.line, u.j.line)), u.j.id))
	}
	if !regexp.MustCompile(`\bneeds\.` + regexp.QuoteMeta(m[1]) + `\.outputs\.work\b`).MatchString(u.j.condition.value) {
		out = append(out, warn("add to if: `needs."+m[1]+".outputs.work == 'true'`", "%s: jobs.%s fails if there is nothing to do: Actions rejects an empty matrix", u.at(max(u.j.condition.line, u.j.line)), u.j.id))
	}
	if u.j.failFast != "false" {
		out = append(out, warn("set fail-fast: false below strategy:", "%s: if one job of jobs.%s fails, Actions cancels the others", u.at(max(u.j.matrix.line, u.j.line)), u.j.id))
	}
	return out
}

// ofSweep checks the concurrency group of a sweep job: work on a number has to wait for that number's events.
func (e *exam) ofSweep(u use) []Finding {
	const fix = "concurrency: {group: \"mergexo-${{ matrix.group }}\", cancel-in-progress: false}, below the job"
	c := u.j.concurrency
	var out []Finding
	switch {
	case c != nil && u.cancels(c):
		return append(out, warn("set it to false", "%s: jobs.%s.concurrency.cancel-in-progress: one sweep stops another that is running", u.at(c.line), u.j.id))
	case u.phase == planPhase || u.j.matrix.value == "":
		return nil
	case c == nil:
		return append(out, warn("add "+fix, "%s: jobs.%s has no concurrency: its runs and those of the same pull request's events interfere with each other", u.at(u.j.line), u.j.id))
	}
	own, err := expression.Text(c.group, expression.Object{"matrix": expression.Object{"group": "7"}})
	for _, v := range e.uses {
		if v.phase != wholeRun || v.j.concurrency == nil || err != nil {
			continue
		}
		if its, err := expression.Text(v.j.concurrency.group, v.context("issue_comment", inConversation(7, person, "User"))); err == nil && its != own {
			out = append(out, warn("set "+fix+", with what jobs."+v.j.id+" has before the number", "%s: jobs.%s.concurrency.group is not that of the same pull request's events: their runs interfere with each other", u.at(c.line), u.j.id))
			break
		}
	}
	return out
}
