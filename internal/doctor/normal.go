package doctor

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"go.yaml.in/yaml/v3"
)

// defaultTypes are the types of an event that lists none; of others they are all.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var defaultTypes = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"}}

// cronShape has five fields. https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
var cronShape = regexp.MustCompile(`^\s*([\w*/,-]+\s+){4}[\w*/,-]+\s*$`)

// heard is the event of a wanted trigger as all triggers together have it: its types, its inputs, and the branches that filters let through.
func heard(want workflow.Trigger, at string, all []workflow.Trigger, branches []string) tree {
	var has []string
	somePaths := true
	for _, t := range all {
		types := workflow.Words(workflow.Child(t.Node, "types"))
		if types == nil {
			types = defaultTypes[t.Event]
		}
		if types == nil {
			types = workflow.Words(workflow.Child(want.Node, "types"))
		}
		has = append(has, types...)
		for _, input := range workflow.Pairs(workflow.Child(t.Node, "inputs")) {
			has = append(has, "the input "+input.Key)
		}
		for _, branch := range branches {
			if t.Lets(strings.ReplaceAll(branch, "**", "main/1")) {
				has = append(has, "the branch "+branch)
			}
		}
		if len(t.Workflows) > 0 {
			has = append(has, "a workflow")
		}
		for _, cron := range t.Crons() {
			if has = append(has, "a time"); !cronShape.MatchString(cron) {
				has[len(has)-1] += " " + quote(cron)
			}
		}
		somePaths = somePaths && (slices.Contains(t.Filters, "paths") || slices.Contains(t.Filters, "paths-ignore"))
	}
	if somePaths {
		has = append(has, "paths")
	}
	t := tree{key: want.Event, text: want.Event, at: at, yaml: entry(want.Event, want.Node)}
	return t.with(each(sorted(has), func(text string) tree { return named(text, false) })...)
}

// job is a job in normal form; wanted, as init writes it.
func (e *exam) job(u use, wanted bool) tree {
	needs, outputs := named("needs", true), named("outputs", true)
	needs.yaml = entry("needs", workflow.Child(u.j.Node, "needs"))
	needs.parts = each(u.j.Needs, func(id string) tree { return named(id, false) })
	outputs.parts = each(workflow.Pairs(workflow.Child(u.j.Node, "outputs")), func(p workflow.Pair) tree { return leaf(p.Key, p.Value.Value) })
	t := tree{key: u.j.ID + " " + u.command(), near: []string{u.command()}, text: u.j.ID, at: u.at(u.j.Line), parts: atOnce(u.w.Path, u.j.Node)}
	if len(t.parts) == 0 && u.w.Concurrency != nil && !wanted { // of which there is a finding already
		t.parts = []tree{{key: "concurrency", all: true, free: true}}
	}
	return t.with(needs, outputs, u.condition(), u.steps(), e.rights(u, wanted))
}

var statusCheck = regexp.MustCompile(`\b(always|cancelled|failure)\(`)

// condition is what has to hold for a job to run: its own conditions with those of its steps and of jobs that it waits for and that run
// no MergeXO, and free those of other jobs before it. A job is skipped when one that it needs was skipped, unless its if: asks how that
// ended: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
func (u use) condition() tree {
	t := named("if", true)
	t.at = u.at(cmp.Or(u.j.Condition.Line, u.j.Line))
	jobs := []*workflow.Job{u.j}
	for i := 0; i < len(jobs); i++ {
		asksStatus, answers := false, slices.DeleteFunc(slices.Clone(jobs[i].Steps), func(s *workflow.Step) bool { return !answers(s) })
		for _, one := range append(each(answers, func(s *workflow.Step) string { return s.Condition.Value }), jobs[i].Condition.Value) {
			all, err := clauses(one)
			if err != nil {
				t.all, t.parts = true, []tree{named("an error: "+err.Error(), false)}
				return t
			}
			for _, c := range all {
				ofStatus := statusCheck.MatchString(c.key)
				if asksStatus = asksStatus || ofStatus; i > 0 && len(answers) > 0 {
					c.free, c.near = true, nil
				}
				if !(c.free && ofStatus) && !slices.ContainsFunc(t.parts, func(p tree) bool { return p.key == c.key }) {
					t.parts = append(t.parts, c)
				}
			}
		}
		for _, other := range u.w.Jobs {
			if !asksStatus && slices.Contains(jobs[i].Needs, other.ID) && !slices.Contains(jobs, other) {
				jobs = append(jobs, other)
			}
		}
	}
	return t
}

// atOnce says how many runs of a workflow or a job there may be at a time, if it does. Without a word about it, none is cancelled.
func atOnce(path string, of *yaml.Node) []tree {
	n := workflow.Child(of, "concurrency")
	if n == nil {
		return nil
	}
	all := workflow.Mapping(n)
	t := tree{key: "concurrency", text: "concurrency", yaml: entry("concurrency", n), at: workflow.Place(path, n.Line)}
	group, err := canonical(all["group"] + all[""])
	if t.parts = []tree{{key: group, text: "the group of mergexo init"}}; err != nil {
		t.all, t.parts = true, []tree{named("an error: "+err.Error(), false)}
	}
	if cancel := all["cancel-in-progress"]; cancel != "" && !strings.EqualFold(cancel, "false") {
		t.parts = append(t.parts, leaf("cancel-in-progress", cancel))
	}
	return []tree{t}
}

// rights are the permissions of a job's token: its own, else those of the workflow, else the repository's. Who may write may read.
func (e *exam) rights(u use, wanted bool) tree {
	n, actions := cmp.Or(workflow.Child(u.j.Node, "permissions"), workflow.Child(u.w.Node, "permissions")), e.Hub.Facts.Actions
	t, has := tree{key: "permissions", text: "permissions", all: true}, "the repository's default"
	switch {
	case u.ownToken() && !wanted: // the permissions are for the other steps
		t.at, has, n = u.at(u.s.Line), "another token", nil
	case n != nil:
		t.at, t.all, t.yaml, has = u.at(n.Line), n.Value == "write-all", entry("permissions", n), n.Value
	case actions.DefaultWrite:
		has += ", which may write everything"
	case actions.Known:
		has += ", which may only read"
	}
	t.parts = []tree{named(has, has == "" || has == "another token" && u.phase != agentPhase)}
	if has == "read-all" {
		t.parts = each([]string{"actions", "checks", "contents", "issues", "pull-requests", "statuses"}, func(name string) tree { return named(name+": read", true) })
	}
	for _, p := range workflow.Pairs(n) {
		if t.parts = append(t.parts, named(p.Key+": "+p.Value.Value, false)); p.Value.Value == "write" {
			t.parts = append(t.parts, named(p.Key+": read", true))
		}
	}
	return t
}

// kept are inputs that may be others than init writes: they name things, or another check looks at them. Of secret ones only that there
// is one counts.
var (
	kept   = []string{"name", "token", "command", "signing-key", "if-no-files-found", "retention-days", "overwrite", "include-hidden-files"}
	secret = []string{"app-id", "private-key"}
)

// steps are the steps with which a job gets the repository, runs MergeXO, and passes on what it leaves; those that install something are
// left out. Those of one action are near.
func (u use) steps() tree {
	t := tree{key: "steps", text: "steps", ordered: true}
	for _, s := range u.j.Steps {
		if s.Uses.Value == "" || strings.HasPrefix(s.Uses.Value, "./") {
			continue
		}
		action, does, inputs := actionOf(s), s.With["path"], named("with", true)
		if isAction(s.Uses.Value) {
			action, does = Action, commandOf(s)
			command := named("command", true)
			command.all, command.yaml = strings.Contains(s.With["command"], "${{"), "command: "+does
			inputs = inputs.with(command.with(named(does, false)))
		}
		for _, name := range slices.Sorted(maps.Keys(s.With)) {
			input := leaf(name, s.With[name])
			if slices.Contains(secret, name) {
				input.key = name
			}
			if !slices.Contains(kept, name) && s.With[name] != "" {
				inputs.parts = append(inputs.parts, input)
			}
		}
		step := named(strings.TrimSuffix(action+" ("+does+")", " ()"), false)
		step.key, step.yaml, step.at = strings.ToLower(step.text), inline(s.Node), u.at(s.Line)
		step.near = []string{strings.ToLower(action)}
		id, condition := leaf("id", s.ID), named("if", true)
		if id.free = !reads(u.j, "steps."+s.ID+"."); !answers(s) { // the condition of one that does goes with its job's
			all, err := clauses(s.Condition.Value)
			condition.all, condition.parts = err != nil, all
		}
		t.parts = append(t.parts, step.with(inputs, id, condition))
	}
	return t
}

// reads reports whether the outputs or the steps of a job depend on something.
func reads(j *workflow.Job, what string) bool {
	return strings.Contains(inline(workflow.Child(j.Node, "outputs")), what) ||
		slices.ContainsFunc(j.Steps, func(s *workflow.Step) bool { return strings.Contains(s.Condition.Value, what) })
}

func actionOf(s *workflow.Step) string {
	name, _, _ := strings.Cut(s.Uses.Value, "@")
	return name
}
