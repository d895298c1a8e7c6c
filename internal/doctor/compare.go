package doctor

import (
	"cmp"
	"slices"
)

// match is a job that runs MergeXO, and the job of the workflow that init writes whose work it does.
type match struct{ want, got use }

// expect finds the workflow that init would write in place of what is there, and which job does the work of which.
func (e *exam) expect() {
	if len(e.uses) == 0 {
		return
	}
	var c Choice
	for _, f := range e.Workflows {
		if one, ours := Chosen(f, e.Settings.File); ours {
			c.Split, c.App, c.Server, c.Services = c.Split || one.Split, c.App || one.App, c.Server || one.Server, c.Services || one.Services
			c.CI, c.Bases = append(c.CI, one.CI...), append(c.Bases, one.Bases...)
		}
	}
	c.Split = c.Split || e.runs(applyPhase) && !e.runs(wholeRun) && !e.runs(sweepPhase)
	e.want, _ = readWorkflow(File{Path: WorkflowPath, Text: c.Workflow()})
	if c.CI == nil && e.hearsCI() {
		c.CI = []string{"CI"}
	}
	if c.Services = c.Services || e.readable() && len(e.elsewhere()) > 0; c.Bases == nil && e.hasTrain() {
		c.Bases = []string{cmp.Or(e.Hub.Facts.DefaultBranch, "main")}
	}
	whole, _ := readWorkflow(File{Path: WorkflowPath, Text: c.Workflow()}) // which tests hold to be one
	e.events = whole.triggers
	e.pair(jobsOf(usesOf(e.want)), e.jobs())
}

// pair finds the jobs that run the same commands. Of as many others on both sides, those belong together that have one id; else the
// workflow has another form, as an older one.
func (e *exam) pair(wants, left []use) {
	taken := map[*job]bool{}
	left = slices.DeleteFunc(left, func(got use) bool {
		same := func(want use) bool { return want.command() == got.command() }
		for _, fits := range []func(use) bool{
			func(want use) bool { return same(want) && want.j.id == got.j.id }, func(want use) bool { return same(want) && !taken[want.j] }, same,
		} {
			if i := slices.IndexFunc(wants, fits); i >= 0 {
				taken[wants[i].j] = true
				e.matches = append(e.matches, match{wants[i], got})
				return true
			}
		}
		return false
	})
	wants = slices.DeleteFunc(wants, func(want use) bool { return taken[want.j] })
	for i := len(left) - 1; i >= 0 && len(wants) == len(left); i-- {
		if at := slices.IndexFunc(wants, func(want use) bool { return want.j.id == left[i].j.id }); at >= 0 {
			e.matches = append(e.matches, match{wants[at], left[i]})
			wants, left = slices.Delete(wants, at, at+1), slices.Delete(left, i, i+1)
		}
	}
	e.missing, e.foreign = wants, left
}

// compare finds how the workflows differ from those that init would write: the events of all together, the limits of each file, and the
// jobs that do the same.
func (e *exam) compare() {
	if len(e.uses) == 0 {
		return
	}
	want, got := tree{}, tree{}
	for _, t := range e.events {
		samples := t.branches
		if t.event == "workflow_run" { // the branch is that of the run that ended
			samples = []string{"agent/small/1-example"}
			if e.hasTrain() {
				samples = append(samples, trainPattern)
			}
		}
		want = want.with(heard(t.event, "", []trigger{t}, samples))
		if at, all := e.all(t.event); len(all) > 0 {
			got = got.with(heard(t.event, at, all, samples))
		}
	}
	e.differing = judge("", want.compare(got, "on", "on", e.files()))
	seen := map[*workflow]bool{}
	for _, m := range e.matches {
		if w := m.got.w; !seen[w] {
			seen[w] = true
			want, got := tree{parts: e.want.concurrency.tree("")}, tree{parts: w.concurrency.tree(w.path)}
			e.differing = append(e.differing, judge("", want.compare(got, "", "", w.path))...)
		}
		similar := len(m.want.j.ofMergeXO()) == len(m.got.j.ofMergeXO())
		phase := m.want.phase
		if e.Settings.TestsInCheckout && phase != agentPhase {
			phase = "tests"
		}
		found := e.job(m.want, similar).compare(e.job(m.got, similar), "jobs."+m.want.j.id, "jobs."+m.got.j.id, "")
		e.differing = append(e.differing, judge(phase, found)...)
	}
}

// differences are the findings of a rule about the workflow that init would write; says is what holds if there are none.
func (e *exam) differences(rule, says string) []Finding {
	return e.compared(slices.DeleteFunc(slices.Clone(e.differing), func(f Finding) bool { return f.Rule != rule }), says)
}

// compared returns the findings, or OK if there are none and something uses the action.
func (e *exam) compared(findings []Finding, says string) []Finding {
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(findings, "%s: %s", e.files(), says)
}
