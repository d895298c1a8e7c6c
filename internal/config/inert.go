package config

import (
	"errors"
	"fmt"
	"slices"
)

// inert is a key that has no effect beside the others: whoever sets it expects something that does not happen.
type inert struct {
	key  string
	set  bool // to something other than its default, which people copy from the manual
	idle bool
	why  string // and what to do
}

// checkInert finds keys that certainly have no effect, once everything else is in order: a misspelt key may be the cause.
// What is switched off by a key of its own keeps its other keys.
func (w *walk) checkInert(s Settings, withAgent bool) {
	if len(w.problems) > 0 {
		return
	}
	all := slices.Concat(inertMerge(s.Merge), w.inertExternal(s.External), inertReview(s))
	if withAgent {
		all = append(all, inertAgent(s)...)
	}
	for _, one := range all {
		if one.set && one.idle {
			w.add(one.key, errors.New("has no effect: "+one.why))
		}
	}
	for i, r := range s.Merge.Rules {
		if r.Enabled && slices.ContainsFunc(s.Merge.Rules[:i], func(first Rule) bool { return first.Enabled && first.Branch == r.Branch }) {
			w.add(fmt.Sprintf("merge.rule[%d].branch", i), fmt.Errorf("has no effect: an earlier rule is for %q too, and the first one counts; remove one of them", r.Branch))
		}
	}
}

func inertMerge(m Merge) []inert {
	d := Defaults().Merge
	local := m.Verify == VerifyLocal
	train := func(name string) string {
		return fmt.Sprintf(`there is no merge train with verify = "local"; set verify = "ci" or "both", or remove %s`, name)
	}
	return []inert{
		{"merge.batch", m.Batch != d.Batch, local, train("batch")},
		{"merge.speculate", m.Speculate != d.Speculate, local, train("speculate")},
		{"merge.ci_retries", m.CIRetries != d.CIRetries, local, train("ci_retries")},
		{"merge.ci_timeout", m.CITimeout != d.CITimeout, local, train("ci_timeout")},
		{"merge.auto_label", m.AutoLabel != d.AutoLabel, m.Auto != AutoLabel, `it is for auto = "label"; set that, or remove auto_label`},
		{"merge.setup", len(m.Setup.Argv) > 0, m.Tests.None, `nothing is set up with tests = "none"; set tests to a command, or remove setup`},
	}
}

// inertExternal lets evaluate and fix stay where somebody has written enabled = false.
func (w *walk) inertExternal(e External) []inert {
	off := !e.Enabled && w.lines["external.enabled"] == 0
	const enable = "pull requests from forks are not handled; add enabled = true"
	return []inert{
		{"external.label", e.Label != Defaults().External.Label, off, enable},
		{"external.evaluate", len(e.Evaluate) > 0, off, enable},
		{"external.fix", len(e.Fix) > 0, off, enable},
		{"external.fix", len(e.Fix) > 0, !off && len(e.Evaluate) == 0, "only an evaluation asks for a fix; add evaluate, or remove fix"},
	}
}

func inertReview(s Settings) []inert {
	d, r := Defaults().Review, s.Review
	return []inert{
		{"review.label", r.Label != d.Label, r.Auto != AutoLabel, `it is for auto = "label"; set that, or remove label`},
		{"review.rounds", r.Rounds != d.Rounds, len(r.On) == 0, `it is for the work that on names; add on = ["bugfix"] or other work, or remove rounds`},
	}
}

// inertAgent finds what the adapters do not read.
func inertAgent(s Settings) []inert {
	a, r := s.Agent, s.Reviewer()
	known := slices.Contains([]string{"codex", "claude", "suggestion"}, a.Adapter)
	modelless := func(adapter string) bool { return adapter == adapterCommand || adapter == "suggestion" }
	const model = `adapter %q is told no model; remove model, or set adapter to "codex" or "claude"`
	return []inert{
		{"agent.command", len(a.Command) > 0, known && (r.Adapter != adapterCommand || len(s.Review.Command) > 0), fmt.Sprintf(`adapter %q runs no command; set adapter = "command", or remove command`, a.Adapter)},
		{"agent.model", a.Model != "", modelless(a.Adapter), fmt.Sprintf(model, a.Adapter)},
		{"agent.extra_args", len(a.ExtraArgs) > 0, a.Adapter == "suggestion", `adapter "suggestion" runs no program; remove extra_args, or set another adapter`},
		{"review.model", s.Review.Model != "", modelless(r.Adapter), fmt.Sprintf(model, r.Adapter)},
		{"review.on", len(s.Review.On) > 0, a.None(), "no agent is set whose work could be reviewed; set adapter under [agent], or remove on"},
	}
}
