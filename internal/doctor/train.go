package doctor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/model"
)

// trainFilter is what a workflow writes to be run on the branches of the merge train.
const trainFilter = `"` + trainPattern + `"`

// trainBranch is a branch of the merge train.
const trainBranch = "mergexo/train/main/1"

// required are the checks that a commit needs before it lands, by the settings, which may name the App of each, then by the rules of the
// default branch.
func (e *exam) required() []string {
	names := slices.Clone(e.Settings.RequiredChecks)
	for _, d := range e.Hub.Facts.Demands.List {
		if d.Kind == model.DemandChecks {
			names = append(names, d.Names...)
		}
	}
	return names
}

// requiredChecks are the names of those that jobs of GitHub Actions may have.
func (e *exam) requiredChecks() []string { return workflow.OfActions(e.required()) }

// hearsCI says that something follows from the end of CI: the agent gets its failures, or what waits for checks lands.
func (e *exam) hearsCI() bool {
	if !e.readable() {
		return false
	}
	checks := len(e.requiredChecks()) > 0 && len(e.others((*workflow.Workflow).OnCommits)) > 0
	train := e.hasTrain() && slices.ContainsFunc(e.workflows, func(w *workflow.Workflow) bool { return w.HearsPush(trainBranch) })
	return e.Settings.CI != "never" || checks || train
}

// hasTrain says that CI tests what is to land: by the settings, or since the base demands it of a token that starts CI.
func (e *exam) hasTrain() bool {
	demands := func(d model.Demand) bool { return d.Kind == model.DemandChecks }
	return e.Settings.Train || e.Settings.TrainByRules && e.ownToken() && slices.ContainsFunc(e.Hub.Facts.Demands.List, demands)
}

// train checks that the repository's own CI can test what the merge train builds.
func train(e *exam) {
	if !e.hasTrain() {
		return
	}
	check, path := workflow.Deaf(e.Workflows, trainBranch, e.requiredChecks(), nil)
	switch {
	case !workflow.HearsPush(e.Workflows, trainBranch):
		e.problem("run mergexo init, or add "+trainFilter+" to on.push.branches of "+ownCI(e),
			"no workflow runs on the branches of the merge train, so nothing tests what lands")
	case check != "":
		e.problem("run mergexo init, or add "+trainFilter+" to its on.push.branches",
			"required check %s comes from %s, which does not run on the branches of the merge train, so nothing would land", check, path)
	default:
		e.ok("CI tests the branches of the merge train")
	}
}

// ownCI names the repository's own workflow that has the required checks, where only one can have them.
func ownCI(e *exam) string {
	if all := e.others((*workflow.Workflow).OnCommits); len(all) == 1 {
		return all[0]
	}
	return "the workflow that has the required checks"
}

// requiredJobs finds required checks that no job of the repository's workflows has: a merge never sees them, unless another service
// reports them.
func requiredJobs(e *exam) {
	for _, required := range sorted(e.required()) {
		if !e.nowhere(required) {
			continue
		}
		level, follows := Warning, "waits for another service"
		if strings.HasSuffix(required, "@github-actions") {
			level, follows = Problem, "never sees it"
		}
		name, _ := workflow.CheckName(required)
		e.report(level, "name a job so, require another check, or name the App that reports it, as NAME@APP, in merge.required_checks",
			"required check %s: no job of .github/workflows has that name, so that a merge %s%s", quote(required), follows, hint(name, e.checks()))
	}
}

// nowhere reports whether a required check is one that a job should have, by its name or its App, and no job has.
func (e *exam) nowhere(required string) bool {
	name, own := workflow.CheckName(required)
	named := strings.HasSuffix(required, "@github-actions") || !strings.HasSuffix(required, "@") && !strings.Contains(required, "/")
	return own && named && len(Own(e.Workflows)) > 0 && !workflow.HasJob(e.Workflows, name)
}

// checks are the names of the checks that the jobs of the repository have.
func (e *exam) checks() (names []string) {
	for _, w := range Own(e.Workflows) {
		for _, j := range w.Jobs {
			names = append(names, cmp.Or(j.Name, j.ID))
		}
	}
	return names
}

// elsewhere are the required checks that services other than GitHub Actions report.
func elsewhere(e *exam) []string {
	return slices.DeleteFunc(workflow.Elsewhere(e.Workflows, e.required()), e.nowhere)
}
