package workflow

import (
	"slices"

	"github.com/mergexo/mergexo/internal/branchfilter"
)

// Lets reports whether the filters of an event for branches let one through; a filter for tags alone lets through none.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func (t Trigger) Lets(branch string) bool {
	switch {
	case t.Branches != nil:
		return branchfilter.Match(t.Branches, branch)
	case t.Ignored != nil:
		return !branchfilter.Match(t.Ignored, branch)
	}
	return !slices.Contains(t.Filters, "tags") && !slices.Contains(t.Filters, "tags-ignore")
}

// HearsPush reports whether some workflow runs on a push to a branch. Files that are no workflows hear nothing.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func HearsPush(files []File, branch string) bool {
	return slices.ContainsFunc(ReadAll(files), func(w *Workflow) bool { return w.HearsPush(branch) })
}

// HearsPush reports whether the workflow runs on a push to a branch.
func (w *Workflow) HearsPush(branch string) bool {
	return slices.ContainsFunc(w.Triggers, func(t Trigger) bool { return t.Event == "push" && t.Lets(branch) })
}

// ReadAll are the workflows in some files. What cannot be read is left out.
func ReadAll(files []File) (all []*Workflow) {
	for _, f := range files {
		if w, err := Read(f); err == nil {
			all = append(all, w)
		}
	}
	return all
}

// OnCommits reports whether a workflow runs for the commits of an agent's pull request.
func (w *Workflow) OnCommits() bool {
	return w.HearsPush("agent/small/1-x") || slices.ContainsFunc(w.Triggers, func(t Trigger) bool { return t.Event == "pull_request" })
}
