package doctor

import "strings"

// workflowFiles lists the files that use the action, and those that cannot be read.
func workflowFiles(e *exam) []Finding {
	out := e.broken
	if len(e.uses) > 0 {
		return append([]Finding{ok("%s: uses %s", e.files(), quote(e.uses[0].s.uses.value))}, out...)
	}
	for _, w := range e.workflows {
		for _, j := range w.jobs {
			if j.calls != "" {
				return append(out, unchecked("no workflow uses %s itself; %s calls %s, which was not checked", Action, place(w.path, j.line), quote(j.calls)))
			}
		}
	}
	const fix = "run mergexo init, or copy its workflow, and commit it to the default branch"
	if len(e.Workflows) == 0 {
		return append(out, problem(fix, ".github/workflows: no workflow, so nothing starts MergeXO"))
	}
	return append(out, problem(fix, ".github/workflows: no workflow uses %s, so nothing starts MergeXO", Action))
}

// brokenFile is the finding for an unreadable workflow: a problem if it could be ours.
func brokenFile(f File, err error) Finding {
	const fix = "fix it: GitHub does not run a workflow that it cannot read"
	if strings.Contains(strings.ToLower(f.Path+f.Text), "mergexo") {
		return problem(fix, "%s", err)
	}
	return warn(fix, "%s", err)
}
