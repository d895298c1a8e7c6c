package doctor

import (
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// workflowFiles lists the files that use the action, and those that cannot be read: a problem if one could be ours.
func workflowFiles(e *exam) {
	if e.used() {
		e.ok("%s: uses %s", e.files(), quote(e.uses[0].s.Uses.Value))
	}
	for _, f := range e.unread {
		level := Warning
		if strings.Contains(strings.ToLower(f.Path+f.Text), "mergexo") {
			level = Problem
		}
		e.report(level, "fix it: GitHub does not run a workflow that it cannot read", "%s", f.err)
	}
	const fix = "run mergexo init, or copy its workflow, and commit it to the default branch"
	at, called := e.called()
	switch {
	case e.used():
	case called != "":
		e.unchecked("no workflow uses %s itself; %s calls %s, which was not checked", Action, at, quote(called))
	case len(e.Workflows) == 0:
		e.problem(fix, ".github/workflows: no workflow, so nothing starts MergeXO")
	default:
		e.problem(fix, ".github/workflows: no workflow uses %s, so nothing starts MergeXO", Action)
	}
}

// called is the first reusable workflow that a job calls, and where.
func (e *exam) called() (at, name string) {
	for _, w := range e.workflows {
		for _, j := range w.Jobs {
			if j.Calls != "" {
				return workflow.Place(w.Path, j.Line), j.Calls
			}
		}
	}
	return "", ""
}
