package doctor

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// consequence says how bad a difference from the workflow of mergexo init is, what follows from it, and how people fix it. about is a
// regular expression for the phase of the job and the difference. In fix, %s is what mergexo init writes.
type consequence struct {
	about, rule string // without a rule, nobody has to know
	level       Level
	follows     string
	fix         string
}

const (
	asIf     = "let if: ask for %s"
	unwanted = "remove it, unless you want it so"
	noWork   = "the agent's work does not reach the job that applies it"
	noOutput = "later steps and jobs do not learn what to do"
	oneToken = "it works with another token than the other steps"
	// unprotected is what follows from write access in the agent's job of a split workflow.
	unprotected = "the agent's job may write, so the split protects nothing"
)

// consequences are the rows, of which the first one that matches counts. What people read of several is in this order: the worst first.
var consequences = []consequence{
	{`has on\.schedule: cron: `, "triggers", Problem, "it has to have five fields: GitHub rejects the whole workflow", `write a time such as "17 * * * *"`},
	{`lacks on\.(schedule: cron|workflow_run: workflows)$`, "triggers", Problem, "GitHub rejects the whole workflow", ""},
	{`lacks on(: |\.)issue_comment(\.types: created)?$`, "triggers", Problem, "comments in the conversation start nothing, and MergeXO does not see answers on issues", ""},
	{`lacks on(: |\.)pull_request_review_comment(\.types: created)?$`, "triggers", Problem, "comments on lines start nothing", ""},
	{`lacks on(: |\.)pull_request_review(\.types: submitted)?$`, "triggers", Problem, "reviews start nothing", ""},
	{`lacks on\.pull_request_review\.types: dismissed$`, "triggers", Warning, "a merge that a review blocks continues only at another event", ""},
	{`lacks on(: |\.)issues(\.types: labeled)?$`, "triggers", Warning, "labels on issues start nothing", ""},
	{`lacks on\.issues\.types: closed$`, "triggers", Warning, "a roadmap learns only from the sweep that an item was closed", ""},
	{`lacks on(: |\.)pull_request(\.types: opened)?$`, "triggers", Warning, "MergeXO does not follow a new pull request until its first comment", ""},
	{`lacks on\.pull_request\.types: (labeled|unlabeled|ready_for_review|edited)$`, "triggers", Warning, "a merge that a label, a draft, a title or another base holds continues only at another event", ""},
	{`lacks on\.pull_request\.types: synchronize$`, "triggers", Warning, "MergeXO notices a rewritten branch only at the next event", ""},
	{`lacks on\.pull_request\.types: dequeued$`, "triggers", Warning, "the next event or sweep reports what the merge queue did", ""},
	{`lacks on\.pull_request\.types: closed$`, "triggers", Warning, "a merged design is implemented only at another event on its issue, and a roadmap continues only with the sweep", ""},
	{`lacks on: workflow_run$`, "triggers", Warning, "a failed CI run does not reach the agent, and a merge that waits for checks continues only at the next event or sweep", ""},
	{`lacks on: workflow_dispatch$`, "triggers", Warning, "nobody can start a run by hand, and in the split workflow no sweep starts the agent", ""},
	{`lacks on\.workflow_dispatch\.inputs: `, "triggers", Warning, "no run can be started for one pull request or issue, and in the split workflow no sweep starts the agent", ""},
	{`lacks on: schedule$`, "triggers", Warning, "work whose event was lost waits for the next event", ""},
	{`lacks on: (push|delete)$`, "triggers", Warning, "the merge train sees what somebody pushes to its base, or does to its branches, only at the next event or sweep", ""},
	{`lacks on(: |\.)(status|check_run)$`, "triggers", Warning, "a merge that waits for a check of another service than GitHub Actions continues only at another event or sweep", ""},
	{`lacks on\.workflow_run\.branches: `, "triggers", Warning, "the end of CI on them starts nothing", "remove the filter, or add these branches"},
	{`lacks on\.push\.branches: `, "triggers", Warning, "pushes to them start nothing", "remove the filter, or add these branches"},
	{`has on\.\w+: paths$`, "triggers", Warning, "MergeXO does not see what happens to pull requests that change nothing else", "remove the filter"},
	{`lacks on`, "triggers", Warning, "what it tells waits for the next event or sweep", ""},

	{`lacks jobs\.[^.]*\.needs: `, "jobs", Problem, noOutput, ""},
	{`lacks jobs\.[^.]*\.outputs: `, "jobs", Problem, "the jobs after it do not learn what to do", ""},

	{`has jobs\.[^.]*\.if: an error`, "condition", Problem, "GitHub rejects the workflow, or takes it for true", "fix it"},
	{`has jobs\.[^.]*\.if: false$`, "condition", Problem, "it never runs", unwanted},
	{`has jobs\.[^.]*\.if: `, "condition", Warning, "events that it skips start nothing", unwanted},
	{`has jobs\.[^.]*\.if\.`, "condition", Warning, "it runs for other events", asIf},
	{`jobs\.[^.]*\.if\W+github.event_name != 'schedule'`, "condition", Warning, "it sweeps too, which another job does", asIf},
	{`jobs\.[^.]*\.if\W+github.event_name != 'workflow_dispatch'`, "condition", Warning, "it runs for a whole sweep by hand too", asIf},
	{`jobs\.[^.]*\.if\W+github.event.sender.type`, "condition", Warning, "comments by bots start needless runs, with an App's token one for each of its own", asIf},
	{`jobs\.[^.]*\.if\W+github.event.pull_request == null \|\| github.event.pull_request.head.repo`, "condition", Warning, "what happens to pull requests of forks starts runs that fail, since their token is read-only", asIf},
	{`jobs\.[^.]*\.if\W+github.actor != 'dependabot`, "condition", Warning, "what Dependabot does starts runs that fail, since they get no secrets", asIf},
	{`jobs\.[^.]*\.if\W+github.event_name == 'schedule'`, "condition", Warning, "it sweeps for events, or never", asIf},
	{`jobs\.[^.]*\.if\W+!cancelled`, "condition", Warning, "it is skipped if a job before it was", asIf},
	{`jobs\.[^.]*\.if`, "condition", Warning, "it runs for events that need no run", asIf},

	{`^tests (lacks .*\.steps: actions/checkout|has .*\.with: sparse-checkout)`, "steps", Problem, `no merge can be tested, since merge.tests_in is "checkout"`, ""},
	{`^agent has .*\.steps: mergexo/mergexo \((run|sweep)( --phase.*)?\)$`, "steps", Problem, "the agent runs where another step may write: the split protects nothing", "give it a job of its own"},
	{`lacks .*\.steps: mergexo/mergexo`, "steps", Warning, "all is installed before it is known whether there is work, or no dashboard is drawn", ""},
	{`lacks .*\.with: (app-id|private-key)`, "steps", Problem, oneToken, ""},
	{`lacks .*\.command: .*--phase`, "steps", Problem, "the agent runs where a token may write, or nothing applies its work: the split protects nothing", "set command: %s"},
	{`lacks .*\.command: `, "steps", Problem, "it does other work than what comes after it expects", "set command: %s"},
	{`lacks .*\.with: bundle`, "steps", Problem, noWork, ""},
	{`lacks .*\.with: persist-credentials`, "steps", Warning, "the checkout leaves the token to every later step", ""},
	{`lacks .*\.with: fetch-depth`, "steps", Warning, "the checkout has no history, so each run fetches what is missing", ""},
	{`has .*actions/checkout\.with: (path|repository|ref|sparse-checkout): `, "steps", Warning, "your steps and tests do not find the commit that they are for", ""},
	{`has .*\.steps: .* before `, "steps", Warning, "it runs without what the other one leaves", "put it behind that"},
	{`lacks .*\.steps: actions/checkout`, "steps", Warning, "MergeXO makes its own clone, without what your steps install there", ""},
	{`lacks .*\.steps.*mergexo-checkpoint`, "steps", Warning, "work that cannot be pushed is lost with the runner", ""},
	{`lacks .*\.steps.*(mergexo-handoff|download-artifact)`, "steps", Problem, noWork, ""},
	{`lacks .*\.steps.*upload-artifact`, "steps", Warning, "what the job leaves behind is lost with the runner", ""},
	{`lacks .*\.steps\..*: id: `, "steps", Problem, noOutput, ""},
	{`lacks .*\.steps\..*\.if: `, "steps", Warning, "it also runs where there is nothing for it to do, or not where there is", asIf},
	{`lacks .*\.steps`, "steps", Warning, "the workflow that mergexo init writes has it", ""},

	{`has .*concurrency: an error`, "concurrency", Problem, "GitHub rejects the whole workflow", "fix it"},
	{`has .*concurrency: cancel-in-progress`, "concurrency", Warning, "a new event stops a running agent", "set it to false: the next run handles what the others were for"},
	{`lacks : concurrency`, "concurrency", Warning, "the next run's agent starts before this run's work is applied", ""},
	{`has : concurrency`, "concurrency", Warning, "events that the job's if: skips replace others that wait", ""},
	{`has jobs\.[^.]*: concurrency`, "concurrency", Warning, "part of a run is delayed or dropped", ""},
	{`lacks .*concurrency`, "concurrency", Warning, "runs for one pull request interfere with each other, or replace those for others", ""},

	{`lacks .*permissions: contents: write`, "permissions", Problem, "MergeXO cannot push", ""},
	{`lacks .*permissions: contents`, "permissions", Problem, "MergeXO cannot fetch", ""},
	{`lacks .*permissions: pull-requests: write`, "permissions", Problem, "review comments cannot be answered", ""},
	{`lacks .*permissions: pull-requests`, "permissions", Problem, "review comments cannot be read", ""},
	{`lacks .*permissions: issues: write`, "permissions", Problem, "MergeXO cannot comment in the conversation", ""},
	{`lacks .*permissions: issues`, "permissions", Problem, "the conversation cannot be read", ""},
	{`lacks .*permissions: actions: write`, "permissions", Warning, "failed jobs of a flaky test are not rerun, and a sweep cannot start the agent", ""},
	{`lacks .*permissions: actions`, "permissions", Warning, "MergeXO cannot see that a run died, and waits until its claim expires", ""},
	{`lacks .*permissions: (checks|statuses)`, "permissions", Warning, "a merge never sees them", ""},
	{`^agent has .*permissions: another token`, "permissions", Problem, unprotected, "remove the token input in this job"},
	{`^agent has .*permissions: id-token: write`, "permissions", Warning, "it may be more than the agent needs to reach its model", unwanted},
	{`^agent has .*permissions: (write-all|.*: write|.* may write everything)`, "permissions", Problem, unprotected, "set %s"},
	{`^agent has .*permissions: the repository's default`, "permissions", Warning, "the settings of the repository decide whether the agent may write", "set %s"},
	{`has .*permissions: the repository's default, which may only read`, "permissions", Problem, "MergeXO cannot push or answer", "set %s"},
	{`has .*permissions: the repository's default`, "permissions", Warning, "the settings of the repository decide what it may do", "set %s"},
	{`has .*permissions: (write-all|.*: write)`, "permissions", Warning, "MergeXO does not need that", "remove it, unless a step of this job does"},

	{"", "", OK, "", ""},
}

// asInit is the fix for what is too long to write by hand.
const asInit = "run mergexo init, which writes it"

// judged is a difference with what follows from it.
type judged struct {
	difference
	consequence
}

// abouts are the expressions of the rows, compiled when something differs.
var abouts = sync.OnceValue(func() []*regexp.Regexp {
	return each(consequences, func(c consequence) *regexp.Regexp { return regexp.MustCompile(c.about) })
})

// judge turns differences in a job of a phase into findings. Those at one place are one finding where they have one consequence, or are
// written together.
func judge(phase phase, all []difference) []Finding {
	var groups [][]judged
	for i, c := range consequences {
		all = slices.DeleteFunc(all, func(d difference) bool {
			if !abouts()[i].MatchString(string(phase) + " " + d.subject()) {
				return false
			}
			one := judged{d, c}
			same := func(group []judged) bool {
				return group[0].place() == one.place() && group[0].written() == one.written()
			}
			if i := slices.IndexFunc(groups, same); i >= 0 {
				groups[i] = append(groups[i], one)
			} else if c.rule != "" {
				groups = append(groups, []judged{one})
			}
			return true
		})
	}
	return each(groups, finding)
}

// place is where a difference is. A clause of an if: is no place of its own.
func (j judged) place() string {
	where, _, inClause := strings.Cut(j.where, ".if.")
	if inClause {
		where += ".if"
	}
	return strings.TrimSuffix(j.at+": "+where, ": ")
}

// written is what people write once for several differences.
func (j judged) written() string {
	if j.part.yaml == "" {
		return j.mend() + j.in.yaml
	}
	return j.about
}

func (j judged) mend() string {
	return cmp.Or(j.fix, map[string]string{"lacks": "set %s", "has": "remove it"}[j.verb])
}

// finding tells differences in one sentence.
func finding(group []judged) Finding {
	f := Finding{Rule: group[0].rule, Level: Warning}
	said := map[string][]string{}
	var follows, code []string
	for _, j := range group {
		if j.level == Problem {
			f.Level = Problem
		}
		said[j.verb], follows, code = append(said[j.verb], j.part.text), append(follows, j.follows), append(code, "`"+cmp.Or(j.part.yaml, j.in.yaml)+"`")
	}
	var says []string
	for _, verb := range []string{"lacks", "has"} {
		if said[verb] != nil {
			says = append(says, verb+" "+list(said[verb]))
		}
	}
	f.Text = group[0].place() + " " + strings.Join(says, ", and ") + ": " + strings.Join(slices.Compact(follows), "; ")
	if f.Fix = strings.Replace(group[0].mend(), "%s", list(slices.Compact(code)), 1); len(f.Fix) > 350 {
		f.Fix = asInit
	}
	return f
}
