package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// steps compares the steps with which a job gets the repository, runs MergeXO, and passes on what it leaves.
func steps(e *exam) []Finding {
	var out []Finding
	for _, m := range e.matches {
		out = append(out, m.steps(e)...)
	}
	return e.compared(out, "the steps are those of mergexo init")
}

func (m match) steps(e *exam) []Finding {
	var out []Finding
	left := slices.DeleteFunc(slices.Clone(m.got.j.steps), func(s *step) bool { return s.uses.value == "" })
	var last *step
	for _, want := range m.want.j.steps {
		if want.uses.value == "" || strings.HasPrefix(want.uses.value, "./") { // installs something
			continue
		}
		got := want.among(left, len(m.want.j.ofMergeXO()) == len(m.got.j.ofMergeXO()))
		if got == nil {
			out = append(out, differs("steps", m.at(m.got.j.line), strings.TrimSpace("lacks the step "+want.action()+" "+want.with["path"]), "add `uses: "+want.uses.value+"`"+want.inputs()))
			continue
		}
		left = slices.DeleteFunc(left, func(s *step) bool { return s == got })
		if last != nil && got.line < last.line {
			out = append(out, differs("steps", m.at(got.line), "runs "+got.action()+" before "+last.action(), "put it behind it"))
		} else {
			last = got
		}
		out = append(out, m.step(want, got)...)
	}
	for _, s := range left {
		if s.answers() && m.got.phase == agentPhase {
			out = append(out, differs("steps", m.at(s.line), "runs `"+commandOf(s)+"` besides `run --phase agent`", "give it a job of its own"))
		}
	}
	for i := range out {
		if out[i].Level == Warning && e.Settings.TestsInCheckout && m.got.phase != agentPhase && untested.MatchString(out[i].Text) {
			out[i].Level, out[i].Text = Problem, out[i].Text+`, and merge.tests_in is "checkout", so that no merge can be tested`
		}
	}
	return out
}

// untested matches findings after which the tests have no checkout, or half of one.
var untested = regexp.MustCompile(`lacks the step actions/checkout|sparse-checkout`)

// at is a line of a job.
func (m match) at(line int) string { return fmt.Sprintf("%s: jobs.%s", m.got.at(line), m.got.j.id) }

// among finds the step that does the same, or at least runs the same action; MergeXO itself only where alike says so.
func (s *step) among(all []*step, alike bool) *step {
	var near *step
	for _, other := range all {
		switch {
		case !sameAction(s, other):
		case commandOf(s) == commandOf(other) && s.with["path"] == other.with["path"]:
			return other
		case alike || !isAction(s.uses.value):
			near = cmp.Or(near, other)
		}
	}
	return near
}

// kept are inputs that may be others than init writes: they name things, or another check looks at them. Of secret ones only that there
// is one counts.
var (
	kept   = []string{"name", "token", "command", "signing-key", "if-no-files-found", "retention-days", "overwrite", "include-hidden-files"}
	secret = []string{"app-id", "private-key"}
)

// step compares the inputs of a step, its command and its id.
func (m match) step(want, got *step) []Finding {
	var out []Finding
	at := m.at(got.line) + ": " + got.action()
	if isAction(want.uses.value) && commandOf(got) != commandOf(want) && !strings.Contains(got.with["command"], "${{") {
		out = append(out, differs("steps", at, "runs the command `"+commandOf(got)+"`, not `"+commandOf(want)+"`", "set command: "+cmp.Or(want.with["command"], "run")))
	}
	if want.id != "" && got.id != want.id && m.want.j.reads("steps."+want.id+".") {
		out = append(out, differs("steps", at, "lacks id: "+want.id, "set id: "+want.id))
	}
	for _, name := range slices.Sorted(maps.Keys(want.with)) {
		is, _ := canonical(got.with[name])
		given := slices.Contains(secret, name) && is != ""
		if should, _ := canonical(want.with[name]); !given && !slices.Contains(kept, name) && !strings.EqualFold(is, should) {
			out = append(out, differs("steps", at, "lacks "+name+": "+want.with[name], "set "+name+": "+want.with[name]+" below with:"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got.with)) {
		if want.with[name] == "" && strings.HasPrefix(want.uses.value, "actions/checkout@") && slices.Contains([]string{"path", "repository", "ref", "sparse-checkout"}, name) {
			out = append(out, differs("steps", at, "has "+name+": "+got.with[name], "remove it"))
		}
	}
	if !want.answers() { // whose condition goes with its job's
		wants, _ := clauses(want.condition.value)
		has, err := clauses(got.condition.value)
		for _, c := range without(wants, has) {
			if err == nil {
				out = append(out, differs("steps", at+" "+want.with["path"], "lacks if: "+c.text, "set if: "+want.condition.value))
			}
		}
	}
	return out
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

func sameAction(a, b *step) bool {
	return strings.EqualFold(a.action(), b.action()) || isAction(a.uses.value) && isAction(b.uses.value)
}

// inputs lists the inputs of a step, for people who add it.
func (s *step) inputs() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.with)) {
		all = append(all, name+": "+s.with[name])
	}
	if len(all) == 0 {
		return ""
	}
	return " with " + list(all)
}
