package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/nearest"
)

// missed says what follows where a trigger of the workflow that init writes is missing, by event and type, the worst first.
var missed = []struct {
	event, kind string
	level       Level
	follows     string
}{
	{"issue_comment", "created", Problem, "comments in the conversation start nothing, and MergeXO does not see answers on issues"},
	{"pull_request_review_comment", "created", Problem, "comments on lines start nothing"},
	{"pull_request_review", "submitted", Problem, "reviews start nothing"},
	{"pull_request_review", "dismissed", Warning, "a merge that a review blocks continues only at another event"},
	{"issues", "labeled", Warning, "labels on issues start nothing"},
	{"issues", "closed", Warning, "a roadmap learns only from the sweep that an item was closed"},
	{"pull_request", "opened", Warning, "MergeXO does not follow a new pull request until its first comment"},
	{"pull_request", "labeled", Warning, "labels on pull requests wait for the next event"},
	{"pull_request", "unlabeled", Warning, "a merge that a label blocks continues only at another event"},
	{"pull_request", "ready_for_review", Warning, "a merge that waits for a draft to be ready continues only at another event"},
	{"pull_request", "edited", Warning, "a merge that a title holds, or whose base has changed, continues only at another event"},
	{"pull_request", "synchronize", Warning, "MergeXO notices a rewritten branch only at the next event"},
	{"pull_request", "dequeued", Warning, "the next event or sweep reports what the merge queue did"},
	{"pull_request", "closed", Warning, "a merged design is implemented only at another event on its issue, and a roadmap continues only with the sweep"},
	{"workflow_run", "", Warning, "a failed CI run does not reach the agent, and a merge that waits for checks continues only at the next event or sweep"},
	{"workflow_dispatch", "", Warning, "nobody can start a run by hand, and in the split workflow no sweep starts the agent"},
	{"schedule", "", Warning, "work whose event was lost waits for the next event"},
	{"push", "", Warning, "the merge train sees what somebody pushes to its base, or does to its branches, only at the next event or sweep"},
	{"delete", "", Warning, "the merge train sees what somebody pushes to its base, or does to its branches, only at the next event or sweep"},
	{"status", "", Warning, "a merge that waits for a check of another service than GitHub Actions continues only at another event or sweep"},
	{"check_run", "", Warning, "a merge that waits for a check of another service than GitHub Actions continues only at another event or sweep"},
	{"", "", Warning, "what it tells waits for the next event or sweep"},
}

// defaultTypes are the types of an event that lists none; of others they are all.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var defaultTypes = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"}}

// triggers compares the triggers of all workflows that use the action, taken together, with those that init writes.
func triggers(e *exam) []Finding {
	var out []Finding
	var absent []trigger
	for _, want := range e.events {
		if first, got := e.all(want.event); len(got) > 0 {
			out = append(out, e.lacks(want, first+": on."+want.event, got)...)
		} else {
			absent = append(absent, want)
		}
	}
	for len(absent) > 0 { // one finding for one reason
		level, follows := missing(absent[0].event, nil)
		var names, lines []string
		absent = slices.DeleteFunc(absent, func(t trigger) bool {
			_, same := missing(t.event, nil)
			if same == follows {
				names, lines = append(names, t.event), append(lines, t.yaml())
			}
			return same == follows
		})
		out = append(out, Finding{Level: level, Text: fmt.Sprintf("%s: on: lacks %s: %s", e.files(), list(names), follows), Fix: "add " + list(lines) + " below on:"})
	}
	return append(e.compared(out, "on: has the events of mergexo init"), e.unknownRuns()...)
}

// lacks compares one trigger with those that there are for its event: types, inputs and filters.
func (e *exam) lacks(want trigger, at string, got []trigger) []Finding {
	has := func(does func(trigger) bool) bool { return slices.ContainsFunc(got, does) }
	kinds := slices.DeleteFunc(slices.Clone(want.types), func(kind string) bool {
		return has(func(t trigger) bool {
			types := t.types
			if types == nil {
				types = defaultTypes[t.event]
			}
			return types == nil || slices.Contains(types, kind)
		})
	})
	fix := "make it " + want.yaml()
	if level, follows := missing(want.event, kinds); len(kinds) > 0 {
		return []Finding{{Level: level, Text: fmt.Sprintf("%s.types lacks %s: %s", at, list(kinds), follows), Fix: fix}}
	}
	for _, input := range want.inputs {
		if !has(func(t trigger) bool { return slices.Contains(t.inputs, input) }) {
			return []Finding{warn(fix, "%s lacks the input %s: no run can be started for one pull request or issue, and in the split workflow no sweep starts the agent", at, input)}
		}
	}
	if want.crons != nil && !has(func(t trigger) bool { return len(t.crons) > 0 }) || want.workflows != nil && !has(func(t trigger) bool { return len(t.workflows) > 0 }) {
		return []Finding{problem(fix, "%s is empty: GitHub rejects the whole workflow", at)}
	}
	for _, t := range got {
		if bad := slices.IndexFunc(t.crons, func(c string) bool { return !cronShape.MatchString(c) }); bad >= 0 {
			return []Finding{problem("write five fields, such as \"17 * * * *\"", "%s: %s is no time for cron: GitHub rejects the whole workflow", at, quote(t.crons[bad]))}
		}
	}
	return e.filtered(want, at, got)
}

// cronShape has five fields. https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
var cronShape = regexp.MustCompile(`^\s*([\w*/,-]+\s+){4}[\w*/,-]+\s*$`)

// missing says how bad it is that an event, or types of it, start nothing: the first reason is the worst.
func missing(event string, kinds []string) (Level, string) {
	for _, m := range missed {
		if (m.event == event || m.event == "") && (m.kind == "" || len(kinds) == 0 || slices.Contains(kinds, m.kind)) {
			return m.level, m.follows
		}
	}
	return Warning, ""
}

// filtered finds filters that keep events from MergeXO which it needs: the branch of a workflow_run is that of the run that ended,
// and a pull request that changes no such path starts nothing whatever happens to it.
func (e *exam) filtered(want trigger, at string, got []trigger) []Finding {
	samples := slices.Clone(want.branches)
	if want.event == "workflow_run" {
		samples = append(samples, "agent/small/1-example")
	}
	if want.event == "workflow_run" && e.hasTrain() {
		samples = append(samples, trainPattern)
	}
	var left []string
	for _, branch := range samples {
		if !slices.ContainsFunc(got, func(t trigger) bool { return t.lets(strings.ReplaceAll(branch, "**", "main/1")) }) {
			left = append(left, branch)
		}
	}
	if len(left) > 0 {
		_, follows := missing(want.event, nil)
		return []Finding{warn("remove the filter, or add these branches", "%s: its branches leave out %s: %s", at, list(left), follows)}
	}
	if !slices.ContainsFunc(got, func(t trigger) bool {
		return !slices.Contains(t.filters, "paths") && !slices.Contains(t.filters, "paths-ignore")
	}) {
		return []Finding{warn("remove the filter", "%s is limited to some paths: MergeXO does not see what happens to other pull requests", at)}
	}
	return nil
}

// all are the triggers for an event in the workflows that use the action, and where the first one is.
func (e *exam) all(event string) (first string, found []trigger) {
	for _, w := range e.ours() {
		for _, t := range w.triggers {
			if t.event == event {
				first = cmp.Or(first, place(w.path, t.line))
				found = append(found, t)
			}
		}
	}
	return first, found
}

// lets says whether the filters of an event for branches let one through; a filter for tags alone lets through none.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
func (t trigger) lets(branch string) bool {
	switch {
	case t.branches != nil:
		return branchfilter.Match(t.branches, branch)
	case t.ignored != nil:
		return !branchfilter.Match(t.ignored, branch)
	}
	return !slices.Contains(t.filters, "tags") && !slices.Contains(t.filters, "tags-ignore")
}

// yaml is a trigger as people write it.
func (t trigger) yaml() string {
	var of []string
	for name, values := range map[string][]string{"types": t.types, "workflows": t.workflows, "branches": t.branches, "inputs": t.inputs, "cron": t.crons} {
		switch {
		case len(values) == 0:
		case name == "inputs":
			of = append(of, "inputs: {"+strings.Join(values, ": {}, ")+": {}}")
		case name == "cron":
			return "`schedule: [{cron: \"" + values[0] + "\"}]`"
		default:
			of = append(of, name+": ["+strings.Join(values, ", ")+"]")
		}
	}
	if of == nil {
		return "`" + t.event + ":`"
	}
	return "`" + t.event + ": {" + strings.Join(sorted(of), ", ") + "}`"
}

// unknownRuns finds names in workflow_run that no workflow has: GitHub ignores them silently, so nothing ever starts.
func (e *exam) unknownRuns() []Finding {
	if !e.hearsCI() {
		return nil
	}
	var known []string
	for _, o := range Others(e.Workflows) {
		known = append(known, o.Name)
	}
	var out []Finding
	at, runs := e.all("workflow_run")
	for _, t := range runs {
		for _, name := range t.workflows {
			if !slices.Contains(known, name) {
				out = append(out, warn("name the CI workflows that MergeXO waits for", "%s: on.workflow_run names %s, but no workflow has that name%s", at, quote(name), hint(name, known)))
			}
		}
	}
	return out
}

// hint names the word that was meant, if one is near.
func hint(word string, known []string) string {
	if near, ok := nearest.To(word, known); ok {
		return ": did you mean " + quote(near) + "?"
	}
	return ""
}

// pullRequestTarget is refused: it would run with the repository's token and secrets on an outsider's event.
// https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
func pullRequestTarget(e *exam) []Finding {
	at, found := e.all("pull_request_target")
	if len(found) == 0 {
		return nil
	}
	return []Finding{problem("remove it: pull_request is enough for branches of this repository, and the sweep handles forks",
		"%s: on.pull_request_target gives this workflow's token and secrets to events from strangers' forks", at)}
}
