package doctor

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// Action is the name by which a step uses the action.
const Action = "mergexo/mergexo"

// use is a step that runs the action, with its context.
type use struct {
	w     *workflow.Workflow
	j     *workflow.Job
	s     *workflow.Step
	phase phase
}

// phase is the part of a run or sweep that a step does in a workflow split over jobs.
type phase string

const (
	wholeRun   phase = ""
	agentPhase phase = "agent" // runs the agent; must not be able to write
	applyPhase phase = "apply" // does everything else; without a bundle it answers commands and sweeps
	planPhase  phase = "plan"  // plans a sweep; writes nothing
	sweepPhase phase = "sweep" // sweeps; handles no event
)

var anyExpression = regexp.MustCompile(`\$\{\{.*?\}\}`)

// commandOf returns the command that a step gives MergeXO, without its expressions.
func commandOf(s *workflow.Step) string {
	words := strings.Fields(strings.ReplaceAll(anyExpression.ReplaceAllString(s.With["command"], ""), "=", " "))
	return cmp.Or(strings.Join(words, " "), "run")
}

// phaseOf reads the phase of a step from its command; a computed command counts as a whole run.
func phaseOf(s *workflow.Step) phase {
	switch command := commandOf(s); {
	case strings.HasPrefix(command, "sweep --matrix"):
		return planPhase
	case strings.HasPrefix(command, "sweep"):
		return sweepPhase
	case strings.Contains(command, "-phase agent"):
		return agentPhase
	case strings.Contains(command, "-phase apply"):
		return applyPhase
	}
	return wholeRun
}

// command is what the steps of a job have MergeXO do.
func (u use) command() string {
	return strings.Join(each(ofMergeXO(u.j), commandOf), "; ")
}

// ofMergeXO are the steps of a job that use the action.
func ofMergeXO(j *workflow.Job) []*workflow.Step {
	return slices.DeleteFunc(slices.Clone(j.Steps), func(s *workflow.Step) bool { return !isAction(s.Uses.Value) })
}

// usesOf finds the steps that handle events. The action can run other commands of mergexo too; the checks here do not apply
// to those.
func usesOf(w *workflow.Workflow) []use {
	var out []use
	for _, j := range w.Jobs {
		for _, s := range j.Steps {
			if answers(s) {
				out = append(out, use{w, j, s, phaseOf(s)})
			}
		}
	}
	return out
}

// isAction accepts forks of the action, which keep its name.
func isAction(uses string) bool {
	name, _, _ := strings.Cut(uses, "@")
	_, repo, ok := strings.Cut(strings.ToLower(name), "/")
	return ok && repo == "mergexo" && !strings.HasPrefix(name, ".")
}

// answers reports whether a step handles events or sweeps; one with --plan only finds out whether there is work.
func answers(s *workflow.Step) bool {
	first, _, _ := strings.Cut(commandOf(s), " ")
	return isAction(s.Uses.Value) && (first == "run" || first == "sweep") && !strings.Contains(commandOf(s), "-plan")
}

var defaultToken = regexp.MustCompile(`^\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}$`)

// ownToken reports whether a step is given a token other than the workflow's own.
func (u use) ownToken() bool {
	t := u.s.With["token"]
	return u.ownApp() || t != "" && !defaultToken.MatchString(t)
}

// ownApp reports whether a step is given an App, for which it makes tokens itself.
func (u use) ownApp() bool { return u.s.With["app-id"] != "" || u.s.With["private-key"] != "" }

// appToken tells whether a step is given the token that another one makes for an App.
func (u use) appToken() bool {
	return u.ownToken() && !u.ownApp() && slices.ContainsFunc(u.j.Steps, func(s *workflow.Step) bool {
		return strings.HasPrefix(s.Uses.Value, "actions/create-github-app-token@") && s.ID != "" && strings.Contains(u.s.With["token"], "steps."+s.ID+".")
	})
}

// at formats a line of the workflow's file.
func (u use) at(line int) string { return workflow.Place(u.w.Path, line) }

// allSteps are all steps that use the action in jobs that handle events, whatever they have it do.
func (e *exam) allSteps() (out []use) {
	for _, u := range e.jobs() {
		for _, u.s = range ofMergeXO(u.j) {
			out = append(out, u)
		}
	}
	return out
}

// jobs are the uses, one per job.
func (e *exam) jobs() []use { return jobsOf(e.uses) }

func jobsOf(uses []use) []use {
	return slices.CompactFunc(slices.Clone(uses), func(a, b use) bool { return a.j == b.j })
}

// runs reports whether a step does that part of a run.
func (e *exam) runs(p phase) bool {
	return slices.ContainsFunc(e.uses, func(u use) bool { return u.phase == p })
}

// ours are the workflows that use the action.
func (e *exam) ours() (all []*workflow.Workflow) {
	for _, u := range e.uses {
		all = append(all, u.w)
	}
	return slices.Compact(all)
}

// files names them.
func (e *exam) files() string {
	return list(sorted(each(e.ours(), func(w *workflow.Workflow) string { return w.Path })))
}

// ownToken reports whether all steps that push and post are given a token of their own.
func (e *exam) ownToken() bool {
	writing := slices.DeleteFunc(slices.Clone(e.uses), func(u use) bool { return u.phase == agentPhase || u.phase == planPhase })
	return len(writing) > 0 && !slices.ContainsFunc(writing, func(u use) bool { return !u.ownToken() })
}
