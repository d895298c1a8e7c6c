package doctor

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/nearest"
)

// all are the triggers for an event in the workflows that use the action, and where the first one is.
func (e *exam) all(event string) (first string, found []workflow.Trigger) {
	for _, w := range e.ours() {
		for _, t := range w.Triggers {
			if t.Event == event {
				first = cmp.Or(first, workflow.Place(w.Path, t.Line))
				found = append(found, t)
			}
		}
	}
	return first, found
}

// unknownRuns finds names in workflow_run that no workflow has: GitHub ignores them silently, so nothing ever starts.
func unknownRuns(e *exam) (out []Finding) {
	known := each(Own(e.Workflows), func(w *workflow.Workflow) string { return w.Name })
	at, runs := e.all("workflow_run")
	for _, t := range runs {
		for _, name := range t.Workflows {
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
