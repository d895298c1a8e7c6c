package doctor

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/nearest"
)

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
func (e *exam) unknownRuns() (out []Finding) {
	known := each(Others(e.Workflows), func(o Other) string { return o.Name })
	at, runs := e.all("workflow_run")
	for _, t := range runs {
		for _, name := range t.workflows {
			if e.hearsCI() && !slices.Contains(known, name) {
				text := at + ": on.workflow_run names " + quote(name) + ", but no workflow has that name" + hint(name, known)
				out = append(out, Finding{Rule: "triggers", Level: Warning, Text: text, Fix: "name the CI workflows that MergeXO waits for"})
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
