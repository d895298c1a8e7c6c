package doctor

import (
	"fmt"
	"strings"
)

func settings(e *exam) {
	s := e.Settings
	switch {
	case s.Bad != "":
		e.problem("add a settings file there: mergexo init writes one", "%s: %s", s.Path, s.Bad)
	case !s.Found:
		e.problem("run mergexo init, or write one, and commit it to the default branch", "%s: does not exist", s.Path)
	case len(s.Problems) > 0:
		for _, p := range s.Problems {
			e.problem("fix it: with invalid settings every run fails", "%s", p)
		}
	case s.AdapterBad != "":
		e.problem("name a known adapter", "%s: agent.adapter: %s", s.Path, s.AdapterBad)
	case s.ReviewerBad != "":
		e.problem("fix it: with such a reviewer every run fails", "%s: review: %s", s.Path, s.ReviewerBad)
	case s.Adapter == "":
		e.ok("%s: no agent is configured: MergeXO merges pull requests, but answers no comment or label", s.Path)
	case s.BuiltIn:
		e.warn(`set it to "codex", "claude" or "command"`, "%s: agent.adapter is %s: no model will run, only suggestion and diff blocks are applied", s.Path, quote(s.Adapter))
	default:
		e.ok("%s: agent.adapter is %s", s.Path, quote(s.Adapter))
	}
}

// readable reports whether there are valid settings.
func (e *exam) readable() bool {
	return e.Settings.Found && e.Settings.Bad == "" && len(e.Settings.Problems) == 0
}

func programs(e *exam) {
	for _, p := range e.Settings.Programs {
		at := e.Settings.Path + ": " + p.Key
		inside := strings.Contains(p.Name, "/")
		switch {
		case p.State == ProgramFound && inside:
			e.ok("%s: %s exists", at, quote(p.Name))
		case p.State == ProgramFound:
			e.ok("%s: %s is on PATH", at, quote(p.Name))
		case p.State == ProgramNotExecutable:
			e.problem("git update-index --chmod=+x "+p.Name+", and commit it", "%s: %s is not executable", at, quote(p.Name))
		case p.State == ProgramElsewhere:
			e.unchecked("%s: whether %s exists on the runner cannot be checked here", at, quote(p.Name))
		case inside:
			e.problem("commit it, or fix the path, which starts at the top of the repository", "%s: %s is not in the repository", at, quote(p.Name))
		case e.InActions:
			e.problem("install it in a step before the action, or name a path in the repository", "%s: %s is not on PATH", at, quote(p.Name))
		default:
			e.warn("make sure that the workflow installs it before the action, or name a path in the repository", "%s: %s is not on the PATH of this machine", at, quote(p.Name))
		}
	}
}

// passEnv checks the variables that the agent may see: usually only the step's env sets them.
func passEnv(e *exam) {
	names := e.Settings.PassEnv
	for _, name := range names {
		var bare []string
		for _, u := range e.uses {
			if u.phase != applyPhase && u.phase != planPhase && !u.gives(name) && !strings.HasPrefix(name, "GITHUB_") && !strings.HasPrefix(name, "RUNNER_") {
				bare = append(bare, u.at(u.s.Line))
			}
		}
		if bare != nil {
			e.warn("add it to the env of that step, or make sure that an earlier step or the runner sets it",
				"%s: agent.pass_env names %s, which no env at %s sets", e.Settings.Path, quote(name), list(bare))
		}
	}
	if len(names) > 0 {
		e.otherwise("%s: agent.pass_env: %s set for the action", e.Settings.Path, isAre(names))
	}
}

// guidelines reports guidelines that the settings name and that do not exist: agents will not get them.
func guidelines(e *exam) {
	if missing := e.Settings.Guidelines; missing != "" {
		e.warn("write it, or remove the setting", "%s: repo.coding_guidelines: %s is not in the repository, so agents get no guidelines", e.Settings.Path, quote(missing))
	}
}

// tests finds that nothing tests what an agent writes or what lands.
func tests(e *exam) {
	if s := e.Settings; s.Tested == "" && !s.Train && !(s.BuiltIn && s.TestTime == 0) {
		e.warn("name the command in repo.required_tests and merge.tests, or set merge.tests = \"none\" if your CI tests it all",
			"%s: no tests were found or named, so that MergeXO pushes and merges what nothing has tested", s.Path)
	}
}

// people finds people whom the settings name and who do not exist.
func people(e *exam) {
	for _, p := range e.Settings.People {
		if user, asked := e.Hub.Users[p.Login]; asked && !user.There && user.Why == "" {
			e.problem("fix the name", "%s: %s: %s does not exist on GitHub, and whoever takes that name may command MergeXO", e.Settings.Path, p.Key, quote(p.Login))
		}
	}
}

func isAre(names []string) string {
	if len(names) == 1 {
		return quote(names[0]) + " is"
	}
	return list(each(names, quote)) + " are"
}

// sources finds required checks that the settings name without an App: everybody with write access can set a status of any name.
func sources(e *exam) {
	for _, name := range e.Settings.RequiredChecks {
		if !strings.Contains(name, "@") {
			e.warn(fmt.Sprintf("write %s, or the short name of another App that reports it; %s accepts everybody", quote(name+"@github-actions"), quote(name+"@")),
				"%s: merge.required_checks: %s names no App, so that everybody with write access can report it", e.Settings.Path, quote(name))
		}
	}
}
