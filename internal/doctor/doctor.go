// Package doctor decides whether MergeXO will work in a repository. It turns facts gathered by the caller into findings,
// each with a fix, through a table of small independent checks. What could not be learned is reported as not checked, never
// guessed, and does not affect the exit code. The files that `mergexo init` writes are here too, so that what is written is
// what is checked.
package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK        Level = "ok"
	Warning   Level = "warning"   // it works, but deserves attention
	Problem   Level = "problem"   // something will not work
	Unchecked Level = "unchecked" // could not be determined
)

// Finding is the result of one check: one line, and for a warning or a problem its fix.
type Finding struct {
	Group string `json:"group"`
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// check is one row of the table of checks.
type check struct {
	group, name string
	look        func(*exam) []Finding
}

// checks lists all rules in the order in which people read them. A new one is a function and a row here. People silence a rule by its
// id in [doctor] ignore.
var checks = []check{
	{"settings", "settings", settings},
	{"settings", "ignore", ignored},
	{"settings", "programs", programs},
	{"settings", "tests", tests},
	{"settings", "pass-env", passEnv},
	{"settings", "guidelines", guidelines},
	{"settings", "people", people},
	{"settings", "check-source", sources},
	{"workflows", "files", workflowFiles},
	{"workflows", "triggers", differences("triggers", "on: has the events of mergexo init")},
	{"workflows", "target", differences("target", "")},
	{"workflows", "jobs", differences("jobs", "the jobs are those of mergexo init")},
	{"workflows", "condition", differences("condition", "each if: asks what that of mergexo init asks")},
	{"workflows", "steps", differences("steps", "the steps are those of mergexo init")},
	{"workflows", "concurrency", differences("concurrency", "one run at a time for each pull request, and none cancelled")},
	{"workflows", "permissions", differences("permissions", "each job has the permissions that it needs, and no others")},
	{"workflows", "agent", agentSetUp},
	{"workflows", "train", train},
	{"workflows", "queue", queue},
	{"workflows", "signing", signing},
	{"workflows", "identity", identity},
	{"workflows", "timeout", timeout},
	{"workflows", "isolation", isolation},
	{"workflows", "pins", pins},
	{"workflows", "version", versions},
	{"workflows", "fail-on", failOn},
	{"github", "token", token},
	{"github", "app", appSetUp},
	{"github", "secrets", secrets},
	{"github", "checks", checksSeen},
	{"github", "required-checks", requiredJobs},
	{"github", "repository", repository},
	{"github", "default-branch", defaultBranch},
	{"github", "pull-requests", pullRequests},
	{"github", "labels", startingLabels},
	{"github", "external", externalLabel},
	{"github", "protection", protection},
	{"github", "branches", ownBranches},
	{"github", "own-token", startsCI},
	{"machine", "git", gitVersion},
}

// Diagnose runs all checks. What the settings ignore is left out, and counted.
func Diagnose(f Facts) []Finding {
	e := newExam(f)
	findings, silenced := []Finding{}, map[string]int{}
	for _, c := range checks {
		e.rules = append(e.rules, c.name)
	}
	for _, c := range checks {
		for _, found := range c.look(e) {
			if found.Level != OK && slices.Contains(f.Settings.Ignore, c.name) {
				silenced[c.name]++
				continue
			}
			found.Group, found.Rule = c.group, c.name
			found.Text, found.Fix = oneLine(found.Text), oneLine(found.Fix)
			findings = append(findings, found)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(silenced)) {
		findings = append(findings, Finding{Group: "silenced", Rule: rule, Level: OK, Text: fmt.Sprintf("%s: %d, by doctor.ignore in %s", rule, silenced[rule], f.Settings.Path)})
	}
	return findings
}

// ignored finds ids in [doctor] ignore that no rule has.
func ignored(e *exam) []Finding {
	var out []Finding
	for _, id := range e.Settings.Ignore {
		if !slices.Contains(e.rules, id) {
			out = append(out, warn("name a rule by the id at the end of its line", "%s: doctor.ignore names %s, and no rule has that id%s", e.Settings.Path, quote(id), hint(id, e.rules)))
		}
	}
	return out
}

// Exit is the exit code for findings: 0 nothing that has to be fixed, 2 problems, and 75 where GitHub could not be reached and nothing
// worse was found, since what it would have said is not known. strict has warnings exit 1.
func Exit(f Facts, findings []Finding, strict bool) int {
	has := func(l Level) bool { return slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == l }) }
	switch {
	case has(Problem):
		return 2
	case f.Hub.State == HubUnreachable:
		return 75 // EX_TEMPFAIL of sysexits.h
	case strict && has(Warning):
		return 1
	}
	return 0
}

// exam is what the checks share: the facts and the parsed workflows.
type exam struct {
	Facts
	workflows []*workflow
	broken    []Finding
	uses      []use
	differing []Finding // from what init would write
	rules     []string
}

func newExam(f Facts) *exam {
	e := &exam{Facts: f}
	for _, file := range f.Workflows {
		w, err := readWorkflow(file)
		if err != nil {
			e.broken = append(e.broken, brokenFile(file, err))
			continue
		}
		for _, j := range w.jobs {
			for _, s := range j.steps {
				if s.uses.value == UsesSetup {
					s.run = f.Setup.Text // as if its commands stood here
				}
			}
		}
		e.workflows = append(e.workflows, w)
		e.uses = append(e.uses, usesOf(w)...)
	}
	e.differing = e.compare()
	return e
}

func ok(format string, args ...any) Finding {
	return Finding{Level: OK, Text: fmt.Sprintf(format, args...)}
}

func unchecked(format string, args ...any) Finding {
	return Finding{Level: Unchecked, Text: fmt.Sprintf(format, args...)}
}

func warn(fix, format string, args ...any) Finding {
	return Finding{Level: Warning, Text: fmt.Sprintf(format, args...), Fix: fix}
}

func problem(fix, format string, args ...any) Finding {
	return Finding{Level: Problem, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// orOK returns the findings, or OK if there are none.
func orOK(findings []Finding, format string, args ...any) []Finding {
	if len(findings) > 0 {
		return findings
	}
	return []Finding{ok(format, args...)}
}

// place formats a file and line.
func place(path string, line int) string {
	if line <= 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// repo is the repository's name, for commands that people copy.
func (e *exam) repo() string { return cmp.Or(e.Repository, "OWNER/NAME") }
