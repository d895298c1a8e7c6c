package doctor

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// defaultTypes are the types of an event that lists none; of others they are all.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var defaultTypes = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"}}

// cronShape has five fields. https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
var cronShape = regexp.MustCompile(`^\s*([\w*/,-]+\s+){4}[\w*/,-]+\s*$`)

// heard is an event as all its triggers together have it, with those of the sample branches that their filters let through.
func heard(event, at string, all []trigger, samples []string) tree {
	first := all[0].node
	t := tree{key: event, text: event, at: at, yaml: entry(event, first)}
	var types, inputs, branches []string
	anyType, somePaths := false, true
	for _, one := range all {
		of := words(child(one.node, "types"))
		if of == nil {
			of = defaultTypes[event]
		}
		types, anyType = append(types, of...), anyType || of == nil
		for _, input := range pairs(child(one.node, "inputs")) {
			inputs = append(inputs, input.key)
		}
		for _, branch := range samples {
			if one.lets(strings.ReplaceAll(branch, "**", "main/1")) {
				branches = append(branches, branch)
			}
		}
		if len(one.workflows) > 0 {
			t.parts = append(t.parts, tree{key: "workflows", text: "workflows"})
		}
		for _, cron := range one.crons() {
			text := "cron: " + quote(cron)
			if cronShape.MatchString(cron) {
				text = "cron"
			}
			if !slices.ContainsFunc(t.parts, func(p tree) bool { return p.text == text }) {
				t.parts = append(t.parts, tree{key: text, text: text})
			}
		}
		somePaths = somePaths && (slices.Contains(one.filters, "paths") || slices.Contains(one.filters, "paths-ignore"))
	}
	if somePaths {
		t.parts = append(t.parts, tree{key: "paths", text: "paths"})
	}
	kinds := items("types", types, entry("types", child(first, "types")), "")
	kinds.all = anyType
	return t.with(kinds, items("inputs", inputs, entry("inputs", child(first, "inputs")), ""), items("branches", branches, "", ""))
}

// job is a job in normal form. similar says that it uses MergeXO as often as the one with which it is compared.
func (e *exam) job(u use, similar bool) tree {
	outputs := tree{key: "outputs", text: "outputs"}
	for _, p := range pairs(child(u.j.node, "outputs")) {
		outputs.parts = append(outputs.parts, leaf(p.key, p.value.Value, ""))
	}
	limits := u.j.concurrency.tree(u.w.path)
	if limits == nil && u.w.concurrency != nil && u.w != e.want { // of which there is a finding already
		limits = []tree{{key: "concurrency", all: true, free: true}}
	}
	t := tree{at: u.at(u.j.line), parts: limits}
	return t.with(items("needs", u.j.needs, entry("needs", child(u.j.node, "needs")), ""), outputs, u.condition(), u.steps(similar), e.rights(u))
}

// condition is the if: of a job with those of its steps and of the jobs before it.
func (u use) condition() tree {
	t := tree{key: "if", text: "if", at: u.at(cmp.Or(u.j.condition.line, u.j.line))}
	own, before, err := u.clauses()
	if err != nil {
		t.all, own, before = true, nil, nil
		t.parts = []tree{{text: "an error: " + err.Error()}}
	}
	return t.with(append(clauseTrees(own, false), clauseTrees(before, true)...)...)
}

// clauseTrees are clauses, each with the conditions that it joins by ||.
func clauseTrees(all []clause, free bool) (out []tree) {
	for _, c := range all {
		t := tree{key: c.key, text: c.text, yaml: "(" + c.text + ")", free: free}
		for _, a := range c.alternatives() {
			t.near, t.parts = append(t.near, a.key), append(t.parts, tree{key: a.key, text: "|| " + a.text})
		}
		out = append(out, t)
	}
	return out
}

// tree is a limit of runs at a time; none is no part of a workflow. Unless it says so, none is cancelled.
func (c *concurrency) tree(path string) []tree {
	if c == nil {
		return nil
	}
	t := tree{key: "concurrency", text: "concurrency", yaml: "concurrency: {group: \"" + c.group + "\", cancel-in-progress: false}", at: place(path, c.line)}
	group, err := canonical(c.group)
	if t.parts = []tree{{key: group, text: "the group of mergexo init"}}; err != nil {
		t.all, t.parts = true, []tree{{text: "an error: " + err.Error()}}
	}
	if c.cancel != "" && !strings.EqualFold(c.cancel, "false") {
		t.parts = append(t.parts, leaf("cancel-in-progress", c.cancel, ""))
	}
	return []tree{t}
}

// rights are the permissions of a job's token: its own, else those of the workflow, else the repository's. Who may write may read.
func (e *exam) rights(u use) tree {
	p := cmp.Or(u.j.permissions, u.w.permissions)
	t := tree{key: "permissions", text: "permissions", all: true}
	one := func(key string, free bool) { t.parts = append(t.parts, tree{key: key, text: key, free: free}) }
	switch actions := e.Hub.Facts.Actions; {
	case u.ownToken() && u.w != e.want: // the permissions are for the other steps
		t.at = u.at(u.s.line)
		one("another token", u.phase != agentPhase)
	case p != nil:
		each := p.each
		if t.all, t.at = p.all == "write-all", u.at(p.line); t.all {
			one("write-all", false)
		}
		if p.all == "read-all" {
			each = map[string]string{"actions": "read", "checks": "read", "contents": "read", "issues": "read", "pull-requests": "read", "statuses": "read"}
		}
		for _, name := range slices.Sorted(maps.Keys(each)) {
			if one(name+": "+each[name], false); each[name] == "write" {
				one(name+": read", true)
			}
		}
		t.yaml = entry("permissions", child(u.j.node, "permissions"))
	case actions.DefaultWrite:
		one("the repository's default, which may write everything", false)
	case actions.Known:
		one("the repository's default, which may only read", false)
	default:
		one("the repository's default", false)
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
// left out. Those of one action are near, of MergeXO's own only where the jobs are similar.
func (u use) steps(similar bool) tree {
	t := tree{key: "steps", text: "steps", ordered: true}
	for _, s := range u.j.steps {
		if s.uses.value == "" || strings.HasPrefix(s.uses.value, "./") {
			continue
		}
		action, does := s.action(), s.with["path"]
		inputs := tree{key: "with", text: "with"}
		if isAction(s.uses.value) {
			action, does = Action, commandOf(s)
			inputs.parts = []tree{{key: "command", text: "command", all: strings.Contains(s.with["command"], "${{"), parts: []tree{{key: does, text: does, yaml: "command: " + does}}}}
		}
		for _, name := range slices.Sorted(maps.Keys(s.with)) {
			input := leaf(name, s.with[name], "")
			if slices.Contains(secret, name) {
				input.key = name
			}
			if !slices.Contains(kept, name) && s.with[name] != "" {
				inputs.parts = append(inputs.parts, input)
			}
		}
		name := strings.TrimSuffix(action+" ("+does+")", " ()")
		id := leaf("id", s.id, "")
		id.free = !u.j.reads("steps." + s.id + ".")
		step := tree{key: strings.ToLower(name), text: name, yaml: inline(s.node), at: u.at(s.line)}.with(inputs, id)
		if action != Action || similar {
			step.near = []string{strings.ToLower(action)}
		}
		if !s.answers() { // whose condition goes with its job's
			all, err := clauses(s.condition.value)
			step = step.with(tree{key: "if", text: "if", all: err != nil}.with(clauseTrees(all, false)...))
		}
		t.parts = append(t.parts, step)
	}
	return t
}

// reads reports whether the outputs or the steps of a job depend on something.
func (j *job) reads(what string) bool {
	has := func(text string) bool { return strings.Contains(text, what) }
	return slices.ContainsFunc(slices.Collect(maps.Values(mapping(child(j.node, "outputs")))), has) ||
		slices.ContainsFunc(j.steps, func(s *step) bool { return has(s.condition.value) })
}

func (s *step) action() string {
	name, _, _ := strings.Cut(s.uses.value, "@")
	return name
}
