package doctor

import (
	"regexp"
	"strings"
)

// Action is what a step names to use the action.
const Action = "mergexo/mergexo"

// use is a step that runs the action, with everything around it.
type use struct {
	w *workflow
	j *job
	s *step
}

// usesOf finds the steps that answer events. The action can run other commands of mergexo too, and those need nothing of
// what is asked of a workflow here.
func usesOf(w *workflow) []use {
	var out []use
	for _, j := range w.jobs {
		for _, s := range j.steps {
			if isAction(s.uses.value) && answers(s.with["command"]) {
				out = append(out, use{w, j, s})
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

// ownToken tells whether all steps that use the action are given a token of their own.
func (e *exam) ownToken() bool {
	for _, u := range e.uses {
		if !u.ownToken() {
			return false
		}
	}
	return len(e.uses) > 0
}
