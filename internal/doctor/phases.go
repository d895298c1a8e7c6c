package doctor

import (
	"slices"
	"strings"
)

// phases checks workflows that run the agent in one job and apply its result in another: both must exist, in that order, on
// separate runners.
func phases(e *exam) []Finding {
	var out, well []Finding
	for _, u := range e.uses {
		switch {
		case u.phase == agentPhase && !u.bundle():
			out = append(out, problem("give its step the bundle input, a directory below ${{ runner.temp }}", "%s: jobs.%s has no place to hand over the agent's work", u.at(u.s.line), u.j.id))
		case u.phase == agentPhase && slices.ContainsFunc(e.uses, func(v use) bool { return v.j == u.j && v.phase != agentPhase }):
			out = append(out, problem("give the apply phase a job of its own, with needs: "+u.j.id, "%s: jobs.%s runs the agent and has a token that may write: the split protects nothing", u.at(u.j.line), u.j.id))
		case u.phase == sweepPhase && e.split(u.w):
			out = append(out, problem("set `command: run --phase apply` there, as in the workflow that mergexo init --split writes", "%s: jobs.%s runs the agent where a token may write: the split protects nothing", u.at(u.s.line), u.j.id))
		case u.phase == wholeRun && e.split(u.w) && !strings.Contains(u.s.with["command"], "${{") &&
			!slices.ContainsFunc(e.uses, func(v use) bool { return v.j == u.j && v.phase == agentPhase }):
			out = append(out, problem("set `command: run --phase apply` there, as in the workflow that mergexo init --split writes", "%s: jobs.%s runs the agent where a token may write: the split protects nothing", u.at(u.s.line), u.j.id))
		case u.phase == agentPhase && !slices.ContainsFunc(e.uses, u.handsOver):
			out = append(out, problem("add a job with needs: "+u.j.id+" and `command: run --phase apply`, as in the workflow that mergexo init --split writes", "%s: nothing applies what jobs.%s hands over", u.at(u.j.line), u.j.id))
		case u.phase == agentPhase:
			well = append(well, ok("%s: jobs.%s runs the agent, and another job applies its work", u.at(u.j.line), u.j.id))
		case u.phase == applyPhase && !u.early() && !slices.ContainsFunc(e.uses, func(v use) bool { return v.handsOver(u) }):
			out = append(out, problem("add to needs: the job with `command: run --phase agent`, as in the workflow that mergexo init --split writes", "%s: no job hands over work to jobs.%s", u.at(u.j.line), u.j.id))
		case u.summons() && e.split(u.w) && !slices.ContainsFunc(u.w.triggers, func(t trigger) bool { return t.event == "workflow_dispatch" && slices.Contains(t.filters, "inputs") }):
			out = append(out, warn("add `workflow_dispatch: {inputs: {number: {}}}` below on:", "%s: on: lacks workflow_dispatch with the input number: the sweep in jobs.%s cannot start the agent", u.w.path, u.j.id))
		case u.early() && !e.split(u.w):
			out = append(out, problem("remove `--phase apply`, or use the jobs of the workflow that mergexo init --split writes", "%s: jobs.%s answers commands only, and no job runs the agent", u.at(u.s.line), u.j.id))
		}
	}
	return append(out, well...)
}

// handsOver reports whether the apply job needs the agent's job.
func (u use) handsOver(to use) bool {
	return u.phase == agentPhase && u.w == to.w && to.phase == applyPhase && to.bundle() && to.j != u.j && slices.Contains(to.chain(), u.j)
}
