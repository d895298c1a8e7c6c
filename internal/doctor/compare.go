package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// consequences say how bad a difference is, and what follows from it: the first row counts whose part is in what differs.
var consequences = []struct {
	rule, part string
	level      Level
	follows    string
}{
	{"condition", "asks for false", Problem, "it never runs"},
	{"condition", "lacks github.event_name != 'schedule'", Warning, "it sweeps too, which another job does"},
	{"condition", "lacks github.event_name != 'workflow_dispatch'", Warning, "it runs for a whole sweep by hand too"},
	{"condition", "lacks github.event.sender.type", Warning, "comments by bots start needless runs, with an App's token one for each of its own"},
	{"condition", "lacks github.event.pull_request == null || github.event.pull_request.head.repo", Warning, "what happens to pull requests of forks starts runs that fail, since their token is read-only"},
	{"condition", "lacks github.actor != 'dependabot[bot]'", Warning, "what Dependabot does starts runs that fail, since they get no secrets"},
	{"condition", "lacks github.event_name == 'schedule'", Warning, "it sweeps for events, or never"},
	{"condition", "outputs.work", Warning, "it fails if there is nothing to do, since Actions rejects an empty matrix"},
	{"condition", "lacks !cancelled()", Warning, "it is skipped if a job before it was"},
	{"condition", "lacks", Warning, "it runs for events that need no run"},
	{"condition", "", Warning, "events that it skips start nothing"},
	{"jobs", "fail-fast", Warning, "if one of its jobs fails, Actions cancels the others"},
	{"jobs", "max-parallel", Warning, "[sweep] max_parallel has no effect"},
	{"jobs", "", Problem, "the jobs after it do not learn what to do"},
	{"steps", "lacks the step mergexo/mergexo", Warning, "all is installed before it is known whether there is work, or no dashboard is drawn"},
	{"steps", "lacks app-id", Problem, "it works with another token than the other steps"},
	{"steps", "lacks private-key", Problem, "it works with another token than the other steps"},
	{"steps", "--phase", Problem, "the agent runs where a token may write, or nothing applies its work: the split protects nothing"},
	{"steps", "command", Problem, "it does other work than the jobs after it expect"},
	{"steps", "bundle", Problem, "the agent's work is not handed over"},
	{"steps", "persist-credentials", Warning, "the checkout leaves the token to every later step"},
	{"steps", "fetch-depth", Warning, "the checkout has no history, so each run fetches what is missing"},
	{"steps", "actions/checkout", Warning, "MergeXO makes its own clone, without what your steps install there"},
	{"steps", "mergexo-checkpoint", Warning, "work that cannot be pushed is lost with the runner"},
	{"steps", "mergexo-handoff", Problem, "the agent's work does not reach the job that applies it"},
	{"steps", "actions/upload-artifact", Warning, "what the job leaves behind is lost with the runner"},
	{"steps", "actions/download-artifact", Problem, "the agent's work does not reach the job that applies it"},
	{"steps", "id", Problem, "later steps and jobs do not learn what to do"},
	{"concurrency", "cancel-in-progress", Warning, "a new event stops a running agent"},
	{"concurrency", "lacks concurrency of the workflow", Warning, "the next run's agent starts before this run's work is applied"},
	{"concurrency", "has concurrency of the workflow", Warning, "events that the job's if: skips replace others that wait"},
	{"concurrency", "has concurrency", Warning, "part of a run is delayed or dropped"},
	{"concurrency", "", Warning, "runs for one pull request interfere with each other, or replace those for others"},
	{"permissions", "contents: write", Problem, "MergeXO cannot push"},
	{"permissions", "contents", Problem, "MergeXO cannot fetch"},
	{"permissions", "pull-requests: write", Problem, "review comments cannot be answered"},
	{"permissions", "pull-requests", Problem, "review comments cannot be read"},
	{"permissions", "issues: write", Problem, "MergeXO cannot comment in the conversation"},
	{"permissions", "issues", Problem, "the conversation cannot be read"},
	{"permissions", "actions: write", Warning, "failed jobs of a flaky test are not rerun, and a sweep cannot start the agent"},
	{"permissions", "actions", Warning, "MergeXO cannot see that a run died, and waits until its claim expires"},
	{"permissions", "checks", Warning, "a merge never sees its checks"},
	{"permissions", "statuses", Warning, "a merge never sees its statuses"},
}

func consequence(rule, what string) (Level, string) {
	for _, c := range consequences {
		if c.rule == rule && strings.Contains(what, c.part) {
			return c.level, c.follows
		}
	}
	return Warning, "the workflow that mergexo init writes has it"
}

// differs is the finding for a difference: where it is, and what init writes.
func differs(rule, at, what, fix string) Finding {
	level, follows := consequence(rule, what)
	return Finding{Level: level, Text: fmt.Sprintf("%s %s: %s", at, what, follows), Fix: fix}
}

// asInit is the fix for what is too long to write by hand.
const asInit = "run mergexo init, which writes it"

// compared returns the findings, or OK if there are none and something uses the action.
func (e *exam) compared(findings []Finding, says string) []Finding {
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(findings, "%s: %s", e.files(), says)
}
