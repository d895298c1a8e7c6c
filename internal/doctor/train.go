package doctor

import (
	"slices"

	"github.com/mergexo/mergexo/internal/branchfilter"
)

// trainFilter is what a workflow writes to be run on the branches of the merge train.
const trainFilter = `"mergexo/train/**"`

// HearsPush says whether some workflow runs on a push to a branch. Files that are no workflows hear nothing.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func HearsPush(files []File, branch string) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		w, err := readWorkflow(f)
		return err == nil && w.hearsPush(branch)
	})
}

func (w *workflow) hearsPush(branch string) bool {
	return slices.ContainsFunc(w.triggers, func(t trigger) bool {
		switch {
		case t.event != "push":
			return false
		case t.branches != nil:
			return branchfilter.Match(t.branches, branch)
		case t.ignored != nil:
			return !branchfilter.Match(t.ignored, branch)
		}
		return !slices.Contains(t.filters, "tags") && !slices.Contains(t.filters, "tags-ignore") // which leave out branches
	})
}

// train checks that the repository's own CI can test what the merge train builds.
func train(e *exam) []Finding {
	if !e.Settings.Train || len(e.uses) == 0 {
		return nil
	}
	var out []Finding
	if !slices.ContainsFunc(e.workflows, func(w *workflow) bool { return w.hearsPush("mergexo/train/main/1") }) {
		out = append(out, problem("add "+trainFilter+" to on.push.branches of the workflow that has the required checks",
			"no workflow runs on the branches of the merge train, so nothing tests what lands"))
	}
	for _, u := range e.uses {
		if u.phase != agentPhase && !u.ownToken() {
			out = append(out, problem("pass the token of a GitHub App with the inputs app-id and private-key",
				"%s: jobs.%s pushes with the workflow's own token, which starts no CI, but verify lets CI test the merge train", u.at(u.s.line), u.j.id))
			break
		}
	}
	if len(out) == 0 {
		out = append(out, ok("CI tests the branches of the merge train"))
	}
	return out
}
