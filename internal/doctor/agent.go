package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// agentSetUp checks that each job that runs an agent has its program and its key, and those of the reviewer. Without them every
// turn, or every review, fails.
func agentSetUp(e *exam) {
	hasModel(e, "agent", e.Settings.Adapter, e.Settings.Model)
	hasModel(e, "reviewer", e.Settings.Reviewer, e.Settings.ReviewerModel)
}

func hasModel(e *exam, role, adapter string, m *Model) {
	if m == nil {
		return // programs and pass_env say what a program of the repository's own needs
	}
	before := len(e.found)
	for _, u := range e.jobs() {
		if u.phase == applyPhase || u.phase == planPhase {
			continue
		}
		at := fmt.Sprintf("%s: jobs.%s runs the %s %s", u.at(u.s.Line), u.j.ID, role, quote(adapter))
		if !u.hasProgram(m.Program) {
			e.problem("add a step before the action: run: "+m.Install, "%s, but no step before it installs %s", at, m.Program)
		}
		if !slices.ContainsFunc(m.Keys, u.gives) {
			e.problem("add to the env of the step: "+m.Keys[0]+": ${{ secrets."+m.Keys[0]+" }}, and create that secret", "%s, but no env there sets %s", at, strings.Join(m.Keys, " or "))
		}
	}
	if len(e.found) == before {
		e.ok("%s: %s is installed and has its key in each job that runs it", e.files(), m.Program)
	}
}

// hasProgram reports whether a step before the action mentions a program, as one that installs it does. Only GitHub's own runners are
// known not to have it already.
func (u use) hasProgram(program string) bool {
	for _, s := range u.j.Steps {
		if s == u.s {
			break
		}
		if strings.Contains(s.Run, program) || strings.Contains(s.Uses.Value, program) {
			return true
		}
	}
	at := machineOf(u.j)
	return at != machineHosted && at != machineForeign
}

// gives reports whether a step, its job or its workflow sets a variable.
func (u use) gives(name string) bool {
	_, inStep := u.s.Env[name]
	_, inJob := u.j.Env[name]
	_, inFile := u.w.Env[name]
	return inStep || inJob || inFile
}
