package doctor

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// consequence says how bad a difference from the workflow of mergexo init is, what follows from it, and how people fix it. about is a
// regular expression for the difference, "verb path: part". In fix, %s is what mergexo init writes; "": set it, or remove it.
type consequence struct {
	about, rule  string // without a rule, nobody has to know
	level        Level
	follows, fix string
}

const (
	asIf        = "let if: ask for %s"
	asInit      = "run mergexo init, which writes it"
	unwanted    = "remove it, unless you want it so"
	noWork      = "the agent's work does not reach the job that applies it"
	noOutput    = "later steps and jobs do not learn what to do"
	sameEvent   = "the agent runs where it may write, or without what is installed for it"
	unprotected = "the agent's job may write, so the split protects nothing"
)

// consequences are the rows, of which the first one that matches counts. People read them in this order.
var consequences = []consequence{
	{`has on\.schedule: a time "`, "triggers", Problem, "GitHub rejects the whole workflow", `write five fields, such as "17 * * * *"`},
	{`lacks on\.(schedule: a time|workflow_run: a workflow)$`, "triggers", Problem, "GitHub rejects the whole workflow", ""},
	{`lacks on(: |\.)issue_comment(: created)?$`, "triggers", Problem, "comments in the conversation start nothing, and MergeXO does not see answers on issues", ""},
	{`lacks on(: |\.)pull_request_review_comment(: created)?$`, "triggers", Problem, "comments on lines start nothing", ""},
	{`lacks on(: |\.)pull_request_review(: submitted)?$`, "triggers", Problem, "reviews start nothing", ""},
	{`lacks on\.pull_request_review: dismissed$`, "triggers", Warning, "a merge that a review blocks continues only at another event", ""},
	{`lacks on(: |\.)issues(: labeled)?$`, "triggers", Warning, "labels on issues start nothing", ""},
	{`lacks on\.issues: closed$`, "triggers", Warning, "a roadmap learns only from the sweep that an item was closed", ""},
	{`lacks on(: |\.)pull_request(: opened)?$`, "triggers", Warning, "MergeXO does not follow a new pull request until its first comment", ""},
	{`lacks on\.pull_request: (labeled|unlabeled|ready_for_review|edited)$`, "triggers", Warning, "a merge that a label, a draft, a title or another base holds continues only at another event", ""},
	{`lacks on\.pull_request: synchronize$`, "triggers", Warning, "MergeXO notices a rewritten branch only at the next event", ""},
	{`lacks on\.pull_request: dequeued$`, "triggers", Warning, "the next event or sweep reports what the merge queue did", ""},
	{`lacks on\.pull_request: closed$`, "triggers", Warning, "a merged design is implemented only at another event on its issue, and a roadmap continues only with the sweep", ""},
	{`lacks on(: |\.)workflow_run`, "triggers", Warning, "a failed CI run does not reach the agent, and a merge that waits for checks continues only at the next event or sweep", ""},
	{`lacks on(: |\.)workflow_dispatch`, "triggers", Warning, "nobody can start a run for one pull request or issue by hand, and in the split workflow no sweep starts the agent", ""},
	{`lacks on: schedule$`, "triggers", Warning, "work whose event was lost waits for the next event", ""},
	{`lacks on(: |\.)(push|delete)`, "triggers", Warning, "the merge train sees what somebody pushes to its base, or does to its branches, only at the next event or sweep", ""},
	{`lacks on(: |\.)(status|check_run)`, "triggers", Warning, "a merge that waits for a check of another service than GitHub Actions continues only at another event or sweep", ""},
	{`has on\.\w+: paths$`, "triggers", Warning, "MergeXO does not see what happens to pull requests that change nothing else", "remove the filter"},
	{`lacks on`, "triggers", Warning, "what it tells waits for the next event or sweep", ""},

	{`has on: pull_request_target`, "target", Problem, "it gives this workflow's token and secrets to events from strangers' forks", "remove it: pull_request is enough for branches of this repository, and the sweep handles forks"},

	{`lacks jobs: `, "jobs", Problem, "no job does its work", asInit},
	{`has jobs: `, "jobs", Warning, "mergexo init writes another form today, so that this job was not compared", "run mergexo init, which replaces it"},
	{`lacks jobs\.[^.]*\.(needs|outputs): `, "jobs", Problem, noOutput, ""},

	{`has jobs\.[^.]*\.if: an error`, "condition", Problem, "GitHub rejects the workflow, or takes it for true", "fix it"},
	{`has jobs\.[^.]*\.if: false$`, "condition", Problem, "it never runs", unwanted},
	{`has jobs\.[^.]*\.if: `, "condition", Warning, "events that it skips start nothing", unwanted},
	{`jobs\.[^.]*\.if\W+github.event_name == 'schedule'`, "condition", Warning, "it sweeps for events, or never", asIf},
	{`lacks jobs\.[^.]*\.if\.`, "condition", Warning, "events that it skips start nothing", asIf},
	{`has jobs\.[^.]*\.if\.`, "condition", Warning, "it runs for other events", asIf},
	{`if: github.event_name != '(schedule|workflow_dispatch)'`, "condition", Warning, "it sweeps too, which another job does", asIf},
	{`if: github.event.sender.type`, "condition", Warning, "comments by bots start needless runs, with an App's token one for each of its own", asIf},
	{`if: github.event.pull_request == null \|\| github.event.pull_request.head.repo`, "condition", Warning, "what happens to pull requests of forks starts runs that fail, since their token is read-only", asIf},
	{`if: github.actor != 'dependabot`, "condition", Warning, "what Dependabot does starts runs that fail, since they get no secrets", asIf},
	{`if: !cancelled`, "condition", Warning, "it is skipped if a job before it was", asIf},
	{`jobs\.[^.]*\.if: `, "condition", Warning, "it runs for events that need no run", asIf},

	{`^tests \w+ jobs\.(mergexo|commands|apply)\.steps(: actions/checkout|.*\.with: sparse-checkout)`, "steps", Problem, `no merge can be tested, since merge.tests_in is "checkout"`, ""},
	{`has .*\.steps: mergexo/mergexo \((run|sweep)( --phase.*)?\)$`, "steps", Problem, sameEvent, "give it a job of its own"},
	{`lacks .*\.steps: mergexo/mergexo`, "steps", Warning, "all is installed before it is known whether there is work, or no dashboard is drawn", "add the step %s"},
	{`lacks .*\.with: (app-id|private-key)`, "app", Problem, "the step fails, or works with another token than the other steps", ""},
	{`lacks .*\.command: .*--phase`, "steps", Problem, "the agent runs where a token may write, or nothing applies its work: the split protects nothing", ""},
	{`lacks .*\.command: `, "steps", Problem, "it does other work than what comes after it expects", ""},
	{`lacks .*\.with: persist-credentials`, "steps", Warning, "the checkout leaves the token to every later step", ""},
	{`lacks .*\.with: fetch-depth`, "steps", Warning, "the checkout has no history, so each run fetches what is missing", ""},
	{`has .*actions/checkout.*\.with: (path|repository|ref|sparse-checkout): `, "steps", Warning, "your steps and tests do not find the commit that they are for", ""},
	{`has .*\.steps: .* before `, "steps", Warning, "it runs without what the other one leaves", "put it behind that"},
	{`lacks .*\.steps: actions/checkout`, "steps", Warning, "MergeXO makes its own clone, without what your steps install there", "add the step %s"},
	{`lacks .*\.steps\..*\.if: `, "steps", Warning, "it also runs where there is nothing for it to do, or not where there is", asIf},
	{`lacks .*\.(with: bundle|steps.*(mergexo-handoff|download-artifact))`, "steps", Problem, noWork, ""},
	{`lacks .*\.steps.*upload-artifact`, "steps", Warning, "what the job leaves behind, such as work that cannot be pushed, is lost with the runner", ""},
	{`lacks .*\.steps\..*: id: `, "steps", Problem, noOutput, ""},
	{`lacks .*\.steps`, "steps", Warning, "the workflow that mergexo init writes has it", ""},

	{`has .*concurrency: an error`, "concurrency", Problem, "GitHub rejects the whole workflow", "fix it"},
	{`has .*concurrency: cancel-in-progress`, "concurrency", Warning, "a new event stops a running agent", "set it to false: the next run handles what the others were for"},
	{`lacks : concurrency`, "concurrency", Warning, "the next run's agent starts before this run's work is applied", ""},
	{`has : concurrency`, "concurrency", Warning, "events that the job's if: skips replace others that wait", ""},
	{`has jobs\.[^.]*: concurrency`, "concurrency", Warning, "part of a run is delayed or dropped", ""},
	{`lacks .*concurrency`, "concurrency", Warning, "runs for one pull request interfere with each other, or replace those for others", ""},

	{`lacks .*permissions: contents: write`, "permissions", Problem, "MergeXO cannot push", ""},
	{`lacks .*permissions: (issues|pull-requests): write`, "permissions", Problem, "MergeXO cannot answer there", ""},
	{`lacks .*permissions: (contents|issues|pull-requests)`, "permissions", Problem, "MergeXO cannot read what it works on", ""},
	{`lacks .*permissions: actions: write`, "permissions", Warning, "failed jobs of a flaky test are not rerun, and a sweep cannot start the agent", ""},
	{`lacks .*permissions: actions`, "permissions", Warning, "MergeXO cannot see that a run died, and waits until its claim expires", ""},
	{`lacks .*permissions: `, "permissions", Warning, "a merge waits for what it cannot see", ""},
	{`has .*permissions: id-token: write`, "permissions", Warning, "MergeXO does not need that", "remove it, unless a step of this job does"},
	{`has jobs\.agent\.permissions: another token`, "permissions", Problem, unprotected, "remove the token input in this job"},
	{`has jobs\.agent\.permissions: (write-all|.*: write|.* may write everything)`, "permissions", Problem, unprotected, "set %s"},
	{`has jobs\.agent\.permissions: the repository's default`, "permissions", Warning, "the settings of the repository decide whether the agent may write", "set %s"},
	{`has .*permissions: the repository's default, which may only read`, "permissions", Problem, "MergeXO cannot push or answer", "set %s"},
	{`has .*permissions: the repository's default`, "permissions", Warning, "the settings of the repository decide what it may do", "set %s"},
	{`has .*permissions: (write-all|.*: write)`, "permissions", Warning, "MergeXO does not need that", "remove it, unless a step of this job does"},

	{"", "", OK, "", ""},
}

// judge turns differences into findings. Those at one place are one finding where people write one thing for them. The table matches facts
// of the settings before each difference.
func judge(facts string, all []difference) []Finding {
	var groups [][]difference
	for _, c := range consequences {
		about := regexp.MustCompile(c.about)
		all = slices.DeleteFunc(all, func(d difference) bool {
			if !about.MatchString(facts + " " + d.verb + " " + d.path + ": " + d.part.text) {
				return false
			}
			if d.consequence = c; d.fix == "" {
				d.fix = map[string]string{"lacks": "set %s", "has": "remove it"}[d.verb]
			}
			same := func(g []difference) bool {
				return g[0].at == d.at && g[0].where == d.where && g[0].fix == d.fix && (g[0].written() == d.written() || d.path == "on" && g[0].about == d.about)
			}
			if at := slices.IndexFunc(groups, same); at >= 0 {
				groups[at] = append(groups[at], d)
			} else if c.rule != "" {
				groups = append(groups, []difference{d})
			}
			return true
		})
	}
	return each(groups, finding)
}

// written is what people write where something differs.
func (d difference) written() string { return "`" + cmp.Or(d.part.yaml, d.in.yaml) + "`" }

// finding tells the differences of a group.
func finding(group []difference) Finding {
	f := Finding{Rule: group[0].rule, Level: Warning}
	says := map[string][]string{}
	var follows, code []string
	for _, d := range group {
		if d.level == Problem {
			f.Level = Problem
		}
		says[d.verb], follows, code = append(says[d.verb], d.part.text), append(follows, d.follows), append(code, d.written())
	}
	var what []string
	for _, verb := range []string{"lacks", "has"} {
		if says[verb] != nil {
			what = append(what, verb+" "+list(says[verb]))
		}
	}
	f.Text = group[0].at + ": " + strings.TrimSpace(group[0].where+" "+strings.Join(what, ", and ")) + ": " + strings.Join(slices.Compact(follows), "; ")
	if f.Fix = strings.Replace(group[0].fix, "%s", list(slices.Compact(code)), 1); len(f.Fix) > 350 {
		f.Fix = asInit
	}
	return f
}
