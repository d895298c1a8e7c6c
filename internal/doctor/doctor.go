// Package doctor decides whether MergeXO will work in a repository. It turns facts gathered by the caller into findings,
// each with a fix, through a table of small independent checks. What could not be learned is reported as not checked, never
// guessed, and does not affect the exit code. The files that `mergexo init` writes are here too, so that what is written is
// what is checked.
package doctor

import (
	"cmp"
	"fmt"
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
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// check is one row of the table of checks.
type check struct {
	group, name string
	look        func(*exam) []Finding
}

// checks lists all checks in the order in which people read them. A new one is a function and a row here.
var checks = []check{
	{"settings", "settings", settings},
	{"settings", "programs", programs},
	{"settings", "pass_env", passEnv},
	{"settings", "guidelines", guidelines},
	{"settings", "required checks", sources},
	{"workflows", "files", workflowFiles},
	{"workflows", "triggers", triggers},
	{"workflows", "target", pullRequestTarget},
	{"workflows", "condition", condition},
	{"workflows", "phases", phases},
	{"workflows", "agent", agentSetUp},
	{"workflows", "sweep", sweepJobs},
	{"workflows", "concurrency", concurrent},
	{"workflows", "permissions", permitted},
	{"workflows", "train", train},
	{"workflows", "queue", queue},
	{"workflows", "signing", signing},
	{"workflows", "identity", identity},
	{"workflows", "timeout", timeout},
	{"workflows", "isolation", isolation},
	{"workflows", "pins", pins},
	{"workflows", "checkout", checkout},
	{"workflows", "fail-on", failOn},
	{"github", "token", token},
	{"github", "app", appSetUp},
	{"github", "checks", checksSeen},
	{"github", "repository", repository},
	{"github", "default branch", defaultBranch},
	{"github", "pull requests", pullRequests},
	{"github", "labels", startingLabels},
	{"github", "external", externalLabel},
	{"github", "protection", protection},
	{"github", "branches", ownBranches},
	{"github", "ci", startsCI},
	{"machine", "git", gitVersion},
}

// Diagnose runs all checks.
func Diagnose(f Facts) []Finding {
	e := newExam(f)
	findings := []Finding{}
	for _, c := range checks {
		for _, found := range c.look(e) {
			found.Group, found.Check = c.group, c.name
			found.Text, found.Fix = oneLine(found.Text), oneLine(found.Fix)
			findings = append(findings, found)
		}
	}
	return findings
}

// Exit is the exit code for findings: 0 nothing to fix, 1 warnings, 2 problems, and 75 where GitHub could not be reached and
// nothing worse was found, since what it would have said is not known.
func Exit(f Facts, findings []Finding) int {
	worst := 0
	for _, f := range findings {
		worst = max(worst, map[Level]int{Warning: 1, Problem: 2}[f.Level])
	}
	if worst < 2 && f.Hub.State == HubUnreachable {
		return 75 // EX_TEMPFAIL of sysexits.h
	}
	return worst
}

// exam is what the checks share: the facts and the parsed workflows.
type exam struct {
	Facts
	workflows []*workflow
	broken    []Finding
	uses      []use
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
