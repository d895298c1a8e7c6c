package doctor

import (
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/model"
)

// queue checks that GitHub's own merge queue can test and merge what goes through it.
// https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
func queue(e *exam) {
	if !queues(e) {
		return
	}
	heard := func(w *workflow.Workflow) bool {
		return slices.ContainsFunc(w.Triggers, func(t workflow.Trigger) bool { return t.Event == "merge_group" })
	}
	if !slices.ContainsFunc(e.workflows, heard) {
		e.problem("add `merge_group:` below on: of the workflow that has the required checks", "no workflow runs on merge_group, so the merge queue waits for checks that never run")
	}
	if d := e.Hub.Facts.Demands; e.asked() && d.Known && !slices.ContainsFunc(d.List, func(d model.Demand) bool { return d.Kind == model.DemandQueue }) {
		e.warn("add the rule \"Require merge queue\" to a ruleset, or choose another strategy", "no ruleset gives %s a merge queue; GitHub does not show one in branch protection", e.Hub.Facts.DefaultBranch)
	}
	e.otherwise("the merge queue: CI runs on merge_group")
}

// queues reports whether pull requests land through GitHub's merge queue.
func queues(e *exam) bool {
	return slices.ContainsFunc(e.Settings.Strategies, func(s Strategy) bool { return s.Name == model.StrategyQueue })
}
