package doctor

import (
	"regexp"
	"slices"
	"strings"
)

// Action is what a step names to use the action.
const Action = "mergexo/mergexo"

// use is a step that runs the action, with everything around it.
type use struct {
	w     *workflow
	j     *job
	s     *step
	phase phase
}

// phase is the part of a run, or of a sweep, that a step does where a workflow has split it over jobs.
type phase string

const (
	wholeRun   phase = ""
	agentPhase phase = "agent" // runs the agent, and has to have nothing to write with
	applyPhase phase = "apply" // does all the rest; without a bundle it answers commands, and sweeps
	planPhase  phase = "plan"  // finds out what a sweep has to do, and writes nothing
	sweepPhase phase = "sweep" // sweeps, and hears no event
)

var (
	phaseFlag  = regexp.MustCompile(`(?:^|\s)--?phase(?:=|\s+)(\S+)`)
	bundleFlag = regexp.MustCompile(`(?:^|\s)--?bundle(?:=|\s)`)
	matrixFlag = regexp.MustCompile(`\s--?matrix(?:\s|$)`)
)

// phaseOf reads the phase of a step from its command; what is computed is taken for a whole run.
func phaseOf(s *step) phase {
	command := s.with["command"]
	switch first, _, _ := strings.Cut(strings.TrimSpace(command), " "); {
	case first == "sweep" && matrixFlag.MatchString(command):
		return planPhase
	case first == "sweep":
		return sweepPhase
	}
	if m := phaseFlag.FindStringSubmatch(command); m != nil {
		switch p := phase(m[1]); p {
		case agentPhase, applyPhase:
			return p
		}
	}
	return wholeRun
}

// bundle tells whether a step is given a directory to hand over in.
func (u use) bundle() bool {
	return u.s.with["bundle"] != "" || bundleFlag.MatchString(u.s.with["command"])
}

// early tells whether a step is only there to answer commands before the agent's job, and to sweep: it may be left out for
// any other event, since the apply phase at the end answers them as well.
func (u use) early() bool { return u.phase == applyPhase && !u.bundle() }

// sweeps tells whether a step is of a sweep and hears no event.
func (u use) sweeps() bool { return u.phase == planPhase || u.phase == sweepPhase }

// summons tells whether a step sweeps without an agent at hand: it starts runs for what needs one.
func (u use) summons() bool { return u.early() && u.scheduled() }

// split tells whether a workflow runs the agent in a job of its own.
func (e *exam) split(w *workflow) bool {
	return slices.ContainsFunc(e.uses, func(u use) bool { return u.w == w && u.phase == agentPhase })
}

// usesOf finds the steps that answer events. The action can run other commands of mergexo too, and those need nothing of
// what is asked of a workflow here.
func usesOf(w *workflow) []use {
	var out []use
	for _, j := range w.jobs {
		for _, s := range j.steps {
			if isAction(s.uses.value) && answers(s.with["command"]) {
				out = append(out, use{w, j, s, phaseOf(s)})
			}
		}
	}
	return out
}

// isAction knows forks of the action, which keep its name.
func isAction(uses string) bool {
	name, _, _ := strings.Cut(uses, "@")
	_, repo, ok := strings.Cut(strings.ToLower(name), "/")
	return ok && repo == "mergexo" && !strings.HasPrefix(name, ".")
}

func answers(command string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return first == "" || first == "run" || first == "sweep" || strings.Contains(command, "${{")
}

var defaultToken = regexp.MustCompile(`^\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}$`)

// ownToken tells whether a step is given a token other than the workflow's own.
func (u use) ownToken() bool {
	t := u.s.with["token"]
	return t != "" && !defaultToken.MatchString(t)
}

// appToken tells whether a step is given the token that another one makes for an App.
func (u use) appToken() bool {
	return u.ownToken() && slices.ContainsFunc(u.j.steps, func(s *step) bool {
		return strings.HasPrefix(s.uses.value, "actions/create-github-app-token@") && s.id != "" && strings.Contains(u.s.with["token"], "steps."+s.id+".")
	})
}

// at is the place of a line in the workflow's file.
func (u use) at(line int) string { return place(u.w.path, line) }

// jobs are the uses, one of each job.
func (e *exam) jobs() []use {
	var out []use
	seen := map[*job]bool{}
	for _, u := range e.uses {
		if !seen[u.j] {
			out = append(out, u)
		}
		seen[u.j] = true
	}
	return out
}

// files names the files of the workflows that use the action.
func (e *exam) files() string {
	var paths []string
	for _, u := range e.uses {
		paths = append(paths, u.w.path)
	}
	return list(sorted(paths))
}

// ownToken tells whether all steps that push and speak are given a token of their own.
func (e *exam) ownToken() bool {
	own := false
	for _, u := range e.uses {
		if u.phase == agentPhase || u.phase == planPhase {
			continue
		}
		if own = u.ownToken(); !own {
			return false
		}
	}
	return own
}
