package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
)

// wanted are the triggers: for each event the types, the level of a missing one, and what follows. Types listed for an
// event replace GitHub's default, which is all of them unless the table below says otherwise.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var wanted = []struct {
	event, kind string
	level       Level
	follows     string
}{
	{"issue_comment", "created", Problem, "comments in the conversation start nothing, and MergeXO does not see answers on issues"},
	{"issue_comment", "edited", Warning, "an edited comment waits for the next event"},
	{"pull_request_review_comment", "created", Problem, "comments on lines start nothing"},
	{"pull_request_review_comment", "edited", Warning, "an edited comment waits for the next event"},
	{"pull_request_review", "submitted", Problem, "reviews start nothing"},
	{"pull_request_review", "edited", Warning, "an edited review waits for the next event"},
	{"pull_request_review", "dismissed", Warning, "a merge that a review blocks continues only at another event"},
	{"issues", "labeled", Warning, "labels on issues start nothing"},
	{"issues", "unlabeled", Warning, "an issue whose ignore label was removed waits for the next event"},
	{"issues", "reopened", Warning, "a reopened issue waits for the next event"},
	{"issues", "closed", Warning, "a roadmap learns only from the sweep that an item was closed"},
	{"pull_request", "opened", Warning, "MergeXO does not follow a new pull request until its first comment"},
	{"pull_request", "labeled", Warning, "labels on pull requests wait for the next event"},
	{"pull_request", "unlabeled", Warning, "a merge that a label blocks continues only at another event"},
	{"pull_request", "ready_for_review", Warning, "a merge that waits for a draft to be ready continues only at another event"},
	{"pull_request", "edited", Warning, "a merge that a title holds, or whose base has changed, continues only at another event"},
	{"pull_request", "synchronize", Warning, "MergeXO notices a rewritten branch only at the next event"},
	{"pull_request", "closed", Warning, "a merged design is implemented only at another event on its issue, and a roadmap continues only with the sweep"},
	{"workflow_run", "completed", Warning, "a failed CI run does not reach the agent, and a merge that waits for checks continues only at the next event or sweep"},
	{"schedule", "", Warning, "work whose event was lost waits for the next event"},
}

var defaultTypes = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"}}

// triggers checks the triggers of all workflows that use the action, taken together.
func triggers(e *exam) []Finding {
	if len(e.uses) == 0 {
		return nil
	}
	var out []Finding
	var there []string
	for _, event := range wantedEvents() {
		if event == "workflow_run" && !e.hearsCI() {
			continue
		}
		if f, lacks := e.lacks(event); lacks {
			out = append(out, f)
		} else {
			there = append(there, event)
		}
	}
	return slices.Concat(orOK(out, "%s: on: %s", e.files(), strings.Join(there, ", ")), e.unknownRuns(), e.filtered(), e.services())
}

// services finds that nothing hears of what another service than GitHub Actions reports, though a required check is its own.
func (e *exam) services() []Finding {
	checks := Elsewhere(e.Workflows, e.required())
	_, statuses := e.trigger("status", "")
	_, runs := e.trigger("check_run", "completed")
	if !e.readable() || len(checks) == 0 || statuses && runs {
		return nil
	}
	return []Finding{warn("run mergexo init, which adds them; by hand: add `status:` and `check_run: {types: [completed]}` below on:, and skip pending statuses in if:",
		"%s: on: lacks status or check_run: a merge that waits for %s, which no workflow of this repository reports, continues only at another event or sweep", e.files(), list(checks))}
}

// hearsCI says that something follows from the end of CI: the agent gets its failures, or what waits for checks lands.
func (e *exam) hearsCI() bool {
	if !e.readable() {
		return false
	}
	checks := len(e.requiredChecks()) > 0 && slices.ContainsFunc(Others(e.Workflows), func(o Other) bool { return o.OnCommits })
	train := e.hasTrain() && slices.ContainsFunc(e.workflows, func(w *workflow) bool { return w.hearsPush(trainBranch) })
	return e.Settings.CI != "never" || checks || train
}

// filtered finds filters that keep events from MergeXO which it needs: the branch of a workflow_run is that of the run that ended,
// and a pull request that changes no such path starts nothing whatever happens to it.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflow_run
func (e *exam) filtered() []Finding {
	var out []Finding
	first, runs := e.all("workflow_run")
	var left []string
	for branch, what := range map[string]string{"agent/small/1-example": "the branches of pull requests", trainBranch: "the branches of the merge train"} {
		lets := slices.ContainsFunc(runs, func(t trigger) bool { return t.lets(branch) })
		if len(runs) > 0 && !lets && e.hearsCI() && (branch != trainBranch || e.hasTrain()) {
			left = append(left, what)
		}
	}
	if slices.Sort(left); left != nil {
		out = append(out, warn("remove the filter, or add these branches", "%s: the branch filter of on.workflow_run leaves out %s: MergeXO does not notice when CI ends there", first, strings.Join(left, " and ")))
	}
	first, pulls := e.all("pull_request")
	whole := slices.ContainsFunc(pulls, func(t trigger) bool {
		return !slices.Contains(t.filters, "paths") && !slices.Contains(t.filters, "paths-ignore")
	})
	if len(pulls) > 0 && !whole {
		out = append(out, warn("remove the filter", "%s: on.pull_request is limited to some paths: MergeXO does not see what happens to other pull requests", first))
	}
	return out
}

// all are the triggers for an event in the workflows that use the action, and where the first one is.
func (e *exam) all(event string) (first string, found []trigger) {
	for _, u := range e.jobs() {
		for _, t := range u.w.triggers {
			if t.event != event {
				continue
			}
			first = cmp.Or(first, u.at(t.line))
			found = append(found, t)
		}
	}
	return first, found
}

// lets says whether the filters of an event for branches let one through.
func (t trigger) lets(branch string) bool {
	switch {
	case t.branches != nil:
		return branchfilter.Match(t.branches, branch)
	case t.ignored != nil:
		return !branchfilter.Match(t.ignored, branch)
	}
	return true
}

func wantedEvents() []string {
	var out []string
	for _, w := range wanted {
		if !slices.Contains(out, w.event) {
			out = append(out, w.event)
		}
	}
	return out
}

// lacks reports what is missing of an event.
func (e *exam) lacks(event string) (f Finding, lacks bool) {
	var kinds []string
	at, written := trigger{}, false
	follows := ""
	for _, w := range wanted {
		if w.event != event {
			continue
		}
		found, has := e.trigger(event, w.kind)
		if has {
			continue
		}
		if found.event != "" {
			at, written = found, true
		}
		kinds = append(kinds, w.kind)
		if follows == "" { // the first reason is the worst
			follows, f.Level = w.follows, w.level
		}
	}
	switch {
	case len(kinds) == 0:
		return f, false
	case !written:
		f.Text, f.Fix = fmt.Sprintf("%s: on: lacks %s: %s", e.files(), event, follows), "add "+example(event)+" below on:"
	default:
		f.Text = fmt.Sprintf("%s: on.%s.types lacks %s: %s", place(e.fileOf(event), at.line), event, list(kinds), follows)
		f.Fix = "add it: " + example(event)
	}
	return f, true
}

// trigger finds an event in the workflows that use the action, and reports whether one of them has the type.
func (e *exam) trigger(event, kind string) (found trigger, has bool) {
	for _, u := range e.uses {
		for _, t := range u.w.triggers {
			if t.event != event {
				continue
			}
			found = t
			types := t.types
			if types == nil {
				types = defaultTypes[event]
			}
			if types == nil || kind == "" || slices.Contains(types, kind) {
				return t, true
			}
		}
	}
	return found, false
}

// fileOf is the path of the last workflow that uses the action and has the event.
func (e *exam) fileOf(event string) string {
	path := ""
	for _, u := range e.uses {
		if slices.ContainsFunc(u.w.triggers, func(t trigger) bool { return t.event == event }) {
			path = u.w.path
		}
	}
	return path
}

// example is the YAML for an event with all wanted types.
func example(event string) string {
	var kinds []string
	for _, w := range wanted {
		if w.event == event && w.kind != "" {
			kinds = append(kinds, w.kind)
		}
	}
	switch {
	case event == "schedule":
		return "`schedule: [{cron: \"17 * * * *\"}]`"
	case event == "workflow_run":
		return "`workflow_run: {workflows: [CI], types: [completed]}`"
	}
	return fmt.Sprintf("`%s: {types: [%s]}`", event, strings.Join(kinds, ", "))
}

// unknownRuns finds names in workflow_run that no workflow has: GitHub ignores them silently, so nothing ever starts.
func (e *exam) unknownRuns() []Finding {
	if !e.hearsCI() {
		return nil
	}
	var known []string
	for _, w := range e.workflows {
		known = append(known, w.name, w.path) // a workflow without a name goes by its path
	}
	t, has := e.trigger("workflow_run", "completed")
	if !has || len(t.workflows) == 0 {
		return nil
	}
	var out []Finding
	for _, name := range t.workflows {
		if !slices.Contains(known, name) {
			out = append(out, warn("name the CI workflows that MergeXO waits for", "%s: on.workflow_run names %s, but no workflow has that name", place(e.fileOf("workflow_run"), t.line), quote(name)))
		}
	}
	return out
}

// pullRequestTarget is refused: it would run with the repository's token and secrets on an outsider's event.
// https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
func pullRequestTarget(e *exam) []Finding {
	var out []Finding
	seen := map[*workflow]bool{}
	for _, u := range e.uses {
		for _, t := range u.w.triggers {
			if t.event == "pull_request_target" && !seen[u.w] {
				out = append(out, problem("remove it: pull_request is enough for branches of this repository, and the sweep handles forks",
					"%s: on.pull_request_target gives this workflow's token and secrets to events from strangers' forks", u.at(t.line)))
				seen[u.w] = true
			}
		}
	}
	return out
}
