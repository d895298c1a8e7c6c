package doctor

import (
	"regexp"
	"slices"
	"strings"
)

// Action is the name by which a step uses the action.
const Action = "mergexo/mergexo"

// use is a step that runs the action, with its context.
type use struct {
	w     *workflow
	j     *job
	s     *step
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

var (
	phaseFlag  = regexp.MustCompile(`(?:^|\s)--?phase(?:=|\s+)(\S+)`)
	bundleFlag = regexp.MustCompile(`(?:^|\s)--?bundle(?:=|\s)`)
	planFlag   = regexp.MustCompile(`\s--?plan(?:\s|$)`)
	matrixFlag = regexp.MustCompile(`\s--?matrix(?:\s|$)`)
)

// phaseOf reads the phase of a step from its command; a computed command counts as a whole run.
func phaseOf(s *step) phase {
	command := s.with["command"]
	switch first := firstWord(command); {
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

// bundle reports whether a step is given a directory for the bundle.
func (u use) bundle() bool {
	return u.s.with["bundle"] != "" || bundleFlag.MatchString(u.s.with["command"])
}

// early reports whether a step only answers commands before the agent's job, and sweeps. It may be skipped for any other
// event, since the final apply phase answers commands as well.
func (u use) early() bool { return u.phase == applyPhase && !u.bundle() }

// sweeps reports whether a step belongs to a sweep and handles no event.
func (u use) sweeps() bool { return u.phase == planPhase || u.phase == sweepPhase }

// summons reports whether a step sweeps without an agent: it starts runs for work that needs one.
func (u use) summons() bool { return u.early() && u.scheduled() }

// split reports whether a workflow runs the agent in a job of its own.
func (e *exam) split(w *workflow) bool {
	return slices.ContainsFunc(e.uses, func(u use) bool { return u.w == w && u.phase == agentPhase })
}

// usesOf finds the steps that handle events. The action can run other commands of mergexo too; the checks here do not apply
// to those.
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

// isAction accepts forks of the action, which keep its name.
func isAction(uses string) bool {
	name, _, _ := strings.Cut(uses, "@")
	_, repo, ok := strings.Cut(strings.ToLower(name), "/")
	return ok && repo == "mergexo" && !strings.HasPrefix(name, ".")
}

// firstWord is the command of mergexo in the action's input, whose words spaces or line breaks separate.
func firstWord(command string) string {
	return append(strings.Fields(command), "")[0]
}

func answers(command string) bool {
	first := firstWord(command)
	if planFlag.MatchString(command) { // it only says whether the step that answers has work
		return false
	}
	return first == "" || first == "run" || first == "sweep" || strings.Contains(command, "${{")
}

var defaultToken = regexp.MustCompile(`^\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}$`)

// ownToken reports whether a step is given a token other than the workflow's own.
func (u use) ownToken() bool {
	t := u.s.with["token"]
	return u.ownApp() || t != "" && !defaultToken.MatchString(t)
}

// ownApp reports whether a step is given an App, for which it makes tokens itself.
func (u use) ownApp() bool { return u.s.with["app-id"] != "" }

// appToken tells whether a step is given the token that another one makes for an App.
func (u use) appToken() bool {
	return u.ownToken() && !u.ownApp() && slices.ContainsFunc(u.j.steps, func(s *step) bool {
		return strings.HasPrefix(s.uses.value, "actions/create-github-app-token@") && s.id != "" && strings.Contains(u.s.with["token"], "steps."+s.id+".")
	})
}

// at formats a line of the workflow's file.
func (u use) at(line int) string { return place(u.w.path, line) }

// jobs are the uses, one per job.
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

// files names the workflows that use the action.
func (e *exam) files() string {
	var paths []string
	for _, u := range e.uses {
		paths = append(paths, u.w.path)
	}
	return list(sorted(paths))
}

// ownToken reports whether all steps that push and post are given a token of their own.
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
