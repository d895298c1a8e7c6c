// Package doctor finds what is wrong with the setup of MergeXO in a repository, and holds the files that `mergexo init` writes.
// So what is written is what is checked.
//
// A table of small independent checks turns facts, which the caller gathers, into findings with fixes. What could not be learned
// is reported as not checked and does not affect the exit code.
package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"
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

// check is one row of the table of checks. It is left out where when does not hold.
type check struct {
	group, name string
	when        func(*exam) bool
	look        func(*exam)
}

// checks lists all rules in the order in which people read them. A new one is a function and a row here. People silence a rule by its
// id in [doctor] ignore.
var checks = []check{
	{"settings", "settings", always, settings},
	{"settings", "ignore", always, ignored},
	{"settings", "programs", (*exam).readable, programs},
	{"settings", "tests", (*exam).readable, tests},
	{"settings", "pass-env", (*exam).installed, passEnv},
	{"settings", "guidelines", (*exam).readable, guidelines},
	{"settings", "people", always, people},
	{"settings", "check-source", always, sources},
	{"workflows", "files", always, workflowFiles},
	{"workflows", "triggers", (*exam).used, differences("on: has the events of mergexo init")},
	{"workflows", "target", (*exam).used, differences("")},
	{"workflows", "jobs", (*exam).used, differences("the jobs are those of mergexo init")},
	{"workflows", "condition", (*exam).used, differences("each if: asks what that of mergexo init asks")},
	{"workflows", "steps", (*exam).used, differences("the steps are those of mergexo init")},
	{"workflows", "concurrency", (*exam).used, differences("one run at a time for each pull request, and none cancelled")},
	{"workflows", "permissions", (*exam).used, differences("each job has the permissions that it needs, and no others")},
	{"workflows", "agent", (*exam).installed, agentSetUp},
	{"workflows", "train", (*exam).used, train},
	{"workflows", "queue", (*exam).used, queue},
	{"workflows", "signing", (*exam).used, signing},
	{"workflows", "identity", (*exam).used, identity},
	{"workflows", "timeout", (*exam).used, timeout},
	{"workflows", "isolation", (*exam).installed, isolation},
	{"workflows", "pins", (*exam).used, pins},
	{"workflows", "version", (*exam).used, versions},
	{"workflows", "fail-on", (*exam).used, failOn},
	{"github", "token", always, token},
	{"github", "app", always, appSetUp},
	{"github", "secrets", (*exam).asked, secrets},
	{"github", "checks", (*exam).asked, checksSeen},
	{"github", "required-checks", always, requiredJobs},
	{"github", "repository", (*exam).asked, repository},
	{"github", "default-branch", always, defaultBranch},
	{"github", "pull-requests", always, pullRequests},
	{"github", "labels", (*exam).asked, startingLabels},
	{"github", "external", (*exam).readable, externalLabel},
	{"github", "protection", (*exam).asked, protection},
	{"github", "branches", always, ownBranches},
	{"github", "own-token", (*exam).used, startsCI},
	{"machine", "git", always, gitVersion},
}

func always(*exam) bool { return true }

// used reports whether a workflow uses the action.
func (e *exam) used() bool { return len(e.uses) > 0 }

// installed reports whether a workflow uses the action, and its settings can be read.
func (e *exam) installed() bool { return e.used() && e.readable() }

// asked reports whether GitHub answered. Where it did not, the finding about the token says why.
func (e *exam) asked() bool { return e.Hub.State == HubRead }

// Diagnose runs all checks. What the settings ignore is left out, and counted.
func Diagnose(f Facts) []Finding {
	e := newExam(f)
	findings, silenced := []Finding{}, map[string]int{}
	for _, c := range checks {
		for _, found := range e.check(c) {
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
		text := fmt.Sprintf("%s: %d, by doctor.ignore in %s", rule, silenced[rule], f.Settings.Path)
		findings = append(findings, Finding{Group: "silenced", Rule: rule, Level: OK, Text: text})
	}
	return findings
}

// ignored finds ids in [doctor] ignore that no rule has.
func ignored(e *exam) {
	for _, id := range e.Settings.Ignore {
		if !slices.Contains(e.rules, id) {
			e.warn("name a rule by the id at the end of its line", "%s: doctor.ignore names %s, and no rule has that id%s", e.Settings.Path, quote(id), hint(id, e.rules))
		}
	}
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

// exam holds the facts, the parsed workflows, and the findings of the running check.
type exam struct {
	Facts
	workflows []*workflow.Workflow
	unread    []unread
	uses      []use
	differing []Finding // from what init would write
	rules     []string
	rule      string
	found     []Finding
}

// unread is a workflow that cannot be read.
type unread struct {
	workflow.File
	err error
}

func newExam(f Facts) *exam {
	e := &exam{Facts: f, rules: each(checks, func(c check) string { return c.name })}
	for _, file := range f.Workflows {
		w, err := workflow.Read(file)
		if err != nil {
			e.unread = append(e.unread, unread{file, err})
			continue
		}
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				if s.Uses.Value == workflow.UsesSetup {
					s.Run = f.Setup.Text // as if its commands stood here
				}
			}
		}
		e.workflows = append(e.workflows, w)
		e.uses = append(e.uses, usesOf(w)...)
	}
	if e.used() {
		e.differing = e.compare()
	}
	return e
}

// check returns the findings of a check.
func (e *exam) check(c check) []Finding {
	if e.rule, e.found = c.name, nil; c.when(e) {
		c.look(e)
	}
	return e.found
}

// report adds a finding. The fix is for a warning or a problem.
func (e *exam) report(level Level, fix, format string, args ...any) {
	e.found = append(e.found, Finding{Level: level, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (e *exam) ok(format string, args ...any)        { e.report(OK, "", format, args...) }
func (e *exam) unchecked(format string, args ...any) { e.report(Unchecked, "", format, args...) }
func (e *exam) warn(fix, format string, args ...any) { e.report(Warning, fix, format, args...) }

func (e *exam) problem(fix, format string, args ...any) { e.report(Problem, fix, format, args...) }

// otherwise adds OK if the check has found nothing.
func (e *exam) otherwise(format string, args ...any) {
	if len(e.found) == 0 {
		e.ok(format, args...)
	}
}

// repo is the repository's name, for commands that people copy.
func (e *exam) repo() string { return cmp.Or(e.Repository, "OWNER/NAME") }
