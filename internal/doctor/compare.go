package doctor

import (
	"cmp"
	"slices"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// expect finds the workflow that init would write in place of what is there, and its events.
func (e *exam) expect() (want *workflow.Workflow, events []workflow.Trigger) {
	var c Choice
	for _, f := range e.Workflows {
		if one, ours := Chosen(f, e.Settings.File); ours {
			c.Split, c.App, c.Server, c.Services = c.Split || one.Split, c.App || one.App, c.Server || one.Server, c.Services || one.Services
			c.CI, c.Bases = append(c.CI, one.CI...), append(c.Bases, one.Bases...)
		}
	}
	c.Split = c.Split || e.runs(applyPhase) && !e.runs(wholeRun) && !e.runs(sweepPhase)
	want, _ = workflow.Read(workflow.File{Path: WorkflowPath, Text: c.Workflow()})
	if c.CI == nil && e.hearsCI() {
		c.CI = []string{"CI"}
	}
	if c.Services = c.Services || e.readable() && len(elsewhere(e)) > 0; c.Bases == nil && e.hasTrain() {
		c.Bases = []string{cmp.Or(e.Hub.Facts.DefaultBranch, "main")}
	}
	whole, _ := workflow.Read(workflow.File{Path: WorkflowPath, Text: c.Workflow()}) // which tests hold to be one
	return want, whole.Triggers
}

// compare finds how the workflows differ from what init would write: the events of all together, then the limits and jobs of each.
func (e *exam) compare() []Finding {
	whole, events := e.expect()
	want, got := tree{}, tree{}
	for _, t := range events {
		needed := t.Branches
		if t.Event == "workflow_run" { // the branch is that of the run that ended
			needed = []string{"agent/small/1-example"}
			if e.hasTrain() {
				needed = append(needed, trainPattern)
			}
		}
		want = want.with(heard(t, "", []workflow.Trigger{t}, needed))
		if at, all := e.all(t.Event); len(all) > 0 {
			got = got.with(heard(t, at, all, needed))
		}
	}
	if at, all := e.all("pull_request_target"); len(all) > 0 {
		got = got.with(tree{text: "pull_request_target", at: at})
	}
	all := want.compare(got, "on", "on", e.files())
	for _, w := range e.ours() {
		all = append(all, e.tree(whole, w).compare(e.tree(w, nil), "", "", w.Path)...)
	}
	facts := ""
	if e.Settings.TestsInCheckout {
		facts = "tests"
	}
	return append(judge(facts, all), unknownRuns(e)...)
}

// tree is a workflow in normal form, as far as it runs MergeXO. With another one, w is what init writes, and is compared with that. Then
// a job may be missing if another workflow has it, or if jobs of another form do all its work.
func (e *exam) tree(w, other *workflow.Workflow) tree {
	own := jobsOf(usesOf(w))
	does := func(list []use, u use) bool {
		return slices.ContainsFunc(list, func(o use) bool { return o.command() == u.command() && o.w != other })
	}
	instead := slices.ContainsFunc(e.jobs(), func(u use) bool { return !does(own, u) }) && (e.runs(wholeRun) || e.runs(agentPhase) && e.runs(applyPhase))
	t := tree{parts: atOnce(w.Path, w.Node)}
	jobs := named("jobs", true)
	for _, u := range own {
		job := e.job(u, other != nil)
		job.free = other != nil && (instead || does(e.jobs(), u))
		if other == nil || len(own) == len(jobsOf(usesOf(other))) {
			job.near = append(job.near, "jobs."+u.j.ID)
		}
		jobs.parts = append(jobs.parts, job)
	}
	return t.with(jobs)
}

// differences makes a rule that reports the differences with its id. says describes a workflow without any; "" reports nothing then.
func differences(says string) func(*exam) {
	return func(e *exam) {
		if e.differ(); says != "" {
			e.compared(says)
		}
	}
}

// differ adds the differences that have the id of the check.
func (e *exam) differ() {
	for _, f := range e.differing {
		if f.Rule == e.rule {
			e.found = append(e.found, f)
		}
	}
}

// compared adds what holds of the workflows if the check has found nothing.
func (e *exam) compared(says string) { e.otherwise("%s: %s", e.files(), says) }
