package doctor

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/nearest"
)

// triggers compares the triggers of all workflows that use the action, taken together, with those that init writes.
func triggers(e *exam) []Finding {
	return append(e.differences("triggers", "on: has the events of mergexo init"), e.unknownRuns()...)
}

// all are the triggers for an event in the workflows that use the action, and where the first one is.
func (e *exam) all(event string) (first string, found []trigger) {
	for _, w := range e.ours() {
		for _, t := range w.triggers {
			if t.event == event {
				first = cmp.Or(first, place(w.path, t.line))
				found = append(found, t)
			}
		}
	}
	return first, found
}

// lets says whether the filters of an event for branches let one through; a filter for tags alone lets through none.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func (t trigger) lets(branch string) bool {
	switch {
	case t.branches != nil:
		return branchfilter.Match(t.branches, branch)
	case t.ignored != nil:
		return !branchfilter.Match(t.ignored, branch)
	}
	return !slices.Contains(t.filters, "tags") && !slices.Contains(t.filters, "tags-ignore")
}

// unknownRuns finds names in workflow_run that no workflow has: GitHub ignores them silently, so nothing ever starts.
func (e *exam) unknownRuns() []Finding {
	if !e.hearsCI() {
		return nil
	}
	var known []string
	for _, o := range Others(e.Workflows) {
		known = append(known, o.Name)
	}
	var out []Finding
	at, runs := e.all("workflow_run")
	for _, t := range runs {
		for _, name := range t.workflows {
			if !slices.Contains(known, name) {
				out = append(out, warn("name the CI workflows that MergeXO waits for", "%s: on.workflow_run names %s, but no workflow has that name%s", at, quote(name), hint(name, known)))
			}
		}
	}
	return out
}

// hint names the word that was meant, if one is near.
func hint(word string, known []string) string {
	if near, ok := nearest.To(word, known); ok {
		return ": did you mean " + quote(near) + "?"
	}
	return ""
}

// pullRequestTarget is refused: it would run with the repository's token and secrets on an outsider's event.
// https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
func pullRequestTarget(e *exam) []Finding {
	at, found := e.all("pull_request_target")
	if len(found) == 0 {
		return nil
	}
	return []Finding{problem("remove it: pull_request is enough for branches of this repository, and the sweep handles forks",
		"%s: on.pull_request_target gives this workflow's token and secrets to events from strangers' forks", at)}
}
