package doctor

import (
	"cmp"
	"slices"
	"strings"

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
func (e *exam) requiredChecks() []string { return OfActions(e.required()) }

// OfActions are the names of the required checks that jobs of GitHub Actions may have.
func OfActions(required []string) (names []string) {
	for _, r := range required {
		if name, own := ofActions(r); own {
			names = append(names, name)
		}
	}
	return names
}

// ofActions is the name of a required check, which may end in @APP, and whether a job of GitHub Actions may have it.
func ofActions(required string) (name string, own bool) {
	at := strings.LastIndexByte(required, '@')
	if at <= 0 {
		return required, true
	}
	app := required[at+1:]
	return required[:at], app == "" || app == "github-actions"
}

// Elsewhere are the required checks that other services report: by their App, or since no workflow has such a job.
func Elsewhere(files []File, required []string) []string {
	return slices.DeleteFunc(slices.Clone(required), func(r string) bool {
		name, own := ofActions(r)
		return own && (HasJob(files, name) || strings.HasSuffix(r, "@github-actions"))
	})
}

// HasJob reports whether some workflow has a job with a check of that name, or may have one.
func HasJob(files []File, check string) bool {
	return slices.ContainsFunc(parsed(files), func(w *workflow) bool {
		does, may := w.reports(check)
		return does || may
	})
}

// HearsPush says whether some workflow runs on a push to a branch. Files that are no workflows hear nothing.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func HearsPush(files []File, branch string) bool {
	return slices.ContainsFunc(parsed(files), func(w *workflow) bool { return w.hearsPush(branch) })
}

func (w *workflow) hearsPush(branch string) bool {
	return slices.ContainsFunc(w.triggers, func(t trigger) bool { return t.event == "push" && t.lets(branch) })
}

// hearsCI says that something follows from the end of CI: the agent gets its failures, or what waits for checks lands.
func (e *exam) hearsCI() bool {
	if !e.readable() {
		return false
	}
	checks := len(e.requiredChecks()) > 0 && len(e.others((*workflow).onCommits)) > 0
	train := e.hasTrain() && slices.ContainsFunc(e.workflows, func(w *workflow) bool { return w.hearsPush(trainBranch) })
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
	check, path := Deaf(e.Workflows, trainBranch, e.requiredChecks(), nil)
	switch {
	case !HearsPush(e.Workflows, trainBranch):
		e.problem("run mergexo init, or add "+trainFilter+" to on.push.branches of "+e.ownCI(),
			"no workflow runs on the branches of the merge train, so nothing tests what lands")
	case check != "":
		e.problem("run mergexo init, or add "+trainFilter+" to its on.push.branches",
			"required check %s comes from %s, which does not run on the branches of the merge train, so nothing would land", check, path)
	default:
		e.ok("CI tests the branches of the merge train")
	}
}

// ownCI names the repository's own workflow that has the required checks, where only one can have them.
func (e *exam) ownCI() string {
	if all := e.others((*workflow).onCommits); len(all) == 1 {
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
		name, _ := ofActions(required)
		e.report(level, "name a job so, require another check, or name the App that reports it, as NAME@APP, in merge.required_checks",
			"required check %s: no job of .github/workflows has that name, so that a merge %s%s", quote(required), follows, hint(name, e.checks()))
	}
}

// nowhere reports whether a required check is one that a job should have, by its name or its App, and no job has.
func (e *exam) nowhere(required string) bool {
	name, own := ofActions(required)
	named := strings.HasSuffix(required, "@github-actions") || !strings.HasSuffix(required, "@") && !strings.Contains(required, "/")
	return own && named && len(others(e.Workflows)) > 0 && !HasJob(e.Workflows, name)
}

// checks are the names of the checks that the jobs of the repository have.
func (e *exam) checks() (names []string) {
	for _, w := range others(e.Workflows) {
		for _, j := range w.jobs {
			names = append(names, cmp.Or(j.name, j.id))
		}
	}
	return names
}

// elsewhere are the required checks that services other than GitHub Actions report.
func (e *exam) elsewhere() []string {
	return slices.DeleteFunc(Elsewhere(e.Workflows, e.required()), e.nowhere)
}
