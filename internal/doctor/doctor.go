// Package doctor judges whether MergeXO will work in a repository: from facts that somebody else gathered it makes
// findings, each with what is to be done, by a table of small checks that know nothing of each other. What could not be
// learnt is said to be not checked and never guessed; it counts for nothing. The files that make a repository work, which
// `mergexo init` writes, are here too, so that what is written is what is judged.
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
	Warning   Level = "warning"   // it works, and something is worth a look
	Problem   Level = "problem"   // something will not work
	Unchecked Level = "unchecked" // nobody could tell
)

// Finding is what one check found: one line, and for a warning or a problem what is to be done about it.
type Finding struct {
	Group string `json:"group"`
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// check is one thing to look at.
type check struct {
	group, name string
	look        func(*exam) []Finding
}

// checks is everything that is looked at, in the order in which people read it. A new one is a function and its line here.
var checks = []check{
	{"settings", "settings", settings},
	{"settings", "programs", programs},
	{"settings", "pass_env", passEnv},
	{"settings", "guidelines", guidelines},
	{"workflows", "files", workflowFiles},
	{"workflows", "triggers", triggers},
	{"workflows", "target", pullRequestTarget},
	{"workflows", "condition", condition},
	{"workflows", "phases", phases},
	{"workflows", "sweep", sweepJobs},
	{"workflows", "concurrency", concurrent},
	{"workflows", "permissions", permitted},
	{"workflows", "signing", signing},
	{"workflows", "identity", identity},
	{"workflows", "timeout", timeout},
	{"workflows", "isolation", isolation},
	{"workflows", "pins", pins},
	{"workflows", "checkout", checkout},
	{"github", "token", token},
	{"github", "checks", checksSeen},
	{"github", "repository", repository},
	{"github", "default branch", defaultBranch},
	{"github", "pull requests", pullRequests},
	{"github", "external", externalLabel},
	{"github", "protection", protection},
	{"github", "branches", ownBranches},
	{"github", "ci", startsCI},
	{"machine", "git", gitVersion},
}

// Diagnose looks at everything.
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

// Exit is the exit code for findings: 0 nothing to mend, 1 something worth a look, 2 something that will not work.
func Exit(findings []Finding) int {
	worst := 0
	for _, f := range findings {
		worst = max(worst, map[Level]int{Warning: 1, Problem: 2}[f.Level])
	}
	return worst
}

// exam is what the checks share: the facts, and the workflows read.
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

// orOK is the findings, or that all is well where there are none.
func orOK(findings []Finding, format string, args ...any) []Finding {
	if len(findings) > 0 {
		return findings
	}
	return []Finding{ok(format, args...)}
}

// place is where something stands in a file.
func place(path string, line int) string {
	if line <= 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// repo is the repository's name, for commands that people copy.
func (e *exam) repo() string { return cmp.Or(e.Repository, "OWNER/NAME") }
