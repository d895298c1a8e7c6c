package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// check finds problems between values. Invalid values have been reported and kept their default.
func (w *walk) check(s Settings, withAgent bool) {
	// A misspelled key may be the cause: report what is wrong before what is missing.
	if withAgent && s.Agent.None() && w.wantsAgent() && len(w.problems) == 0 {
		if w.lines[agentCommand] == 0 && w.lines["agent.adapter"] != 0 {
			w.lines[agentCommand] = w.lines["agent.adapter"]
		}
		w.add(agentCommand, errors.New(needsProgram))
	}
	w.checkReview(s)
	w.checkLabels(s)
	for i, r := range s.Merge.Rules {
		place := fmt.Sprintf("merge.rule[%d]", i)
		w.require(place, "branch", r.Branch != "")
		w.require(place, "strategy", r.Strategy != "" || !r.Enabled)
		way, _ := model.StrategyNamed(r.Strategy)
		w.require(place, "union_fields", !way.NeedsFields || len(r.UnionFields) > 0)
	}
	if way, _ := model.StrategyNamed(s.Merge.Strategy); way.NeedsFields {
		w.add("merge.strategy", errors.New(way.Name+" is for a [[merge.rule]], which names its union_fields"))
	}
	if s.Merge.Auto == AutoApproval && s.Merge.Approvals == 0 {
		w.add("merge.auto", errors.New("\"approval\" needs approvals of at least 1, or nothing would be asked for"))
	}
	for i, t := range s.Tests {
		w.require(fmt.Sprintf("tests[%d]", i), "run", t.Run != "")
	}
	var seen []string
	for i, g := range s.Merge.Groups {
		place := fmt.Sprintf("merge.group[%d]", i)
		w.require(place, "name", g.Name != "")
		w.require(place, "repositories", len(g.Repositories) > 0)
		if g.Name != "" && slices.Contains(seen, g.Name) {
			w.add(place+".name", fmt.Errorf("another group is called %q already", g.Name))
		}
		seen = append(seen, g.Name)
	}
}

const (
	agentCommand = "agent.command"
	needsProgram = `the adapter "command" needs a program, such as command = ["./agent"]`
)

// wantsAgent reports whether the settings configure an agent, and not only tests or nothing of the kind.
func (w *walk) wantsAgent() bool {
	return slices.ContainsFunc([]string{"adapter", "command", "model", "extra_args", "pass_env"}, func(key string) bool { return w.lines["agent."+key] != 0 })
}

// NoAgent is the error for something that needs an agent if none is set; what names it within a sentence.
func NoAgent(source, what string) error {
	return &Error{Source: source, Problems: []Problem{{Key: agentCommand, Text: fmt.Sprintf("no agent is configured, but %s needs one: %s", what, needsProgram)}}}
}

// checkLabels requires different labels: GitHub ignores their case.
func (w *walk) checkLabels(s Settings) {
	l := s.Labels
	seen := map[string]string{}
	for _, one := range []struct {
		key, label string
		used       bool
	}{
		{"labels.design", l.Design, true}, {"labels.roadmap", l.Roadmap, true}, {"labels.bugfix", l.Bugfix, true}, {"labels.small_job", l.SmallJob, true},
		{"labels.ignore", l.Ignore, true}, {"labels.freeze", l.Freeze, true},
		{"external.label", s.External.Label, s.External.Enabled}, {"merge.auto_label", s.Merge.AutoLabel, s.Merge.Auto == AutoLabel},
		{"review.label", s.Review.Label, s.Review.Auto == AutoLabel},
	} {
		label := strings.ToLower(one.label)
		if label == "" || !one.used {
			continue
		}
		if first, ok := seen[label]; ok {
			w.add(one.key, fmt.Errorf("%s has the same label: one label cannot mean two things", first))
		}
		seen[label] = one.key
	}
}

// checkReview requires a reviewer's program.
func (w *walk) checkReview(s Settings) {
	if s.Review.Adapter == adapterCommand && s.Reviewer().None() && len(w.problems) == 0 {
		w.add("review.command", errors.New(needsProgram))
	}
	if used := s.Reviewer().Adapter; len(s.Review.Command) > 0 && slices.Contains([]string{"codex", "claude", "suggestion"}, used) && len(w.problems) == 0 {
		w.add("review.command", fmt.Errorf("adapter %q runs no command: add adapter = \"command\" here, or remove command", used))
	}
}

// require reports a missing key, unless it has been reported already.
func (w *walk) require(place, name string, there bool) {
	if !there && !w.reported(place) && !w.reported(place+"."+name) {
		w.add(place+"."+name, errors.New("missing"))
	}
}

func (w *walk) reported(place string) bool {
	return slices.ContainsFunc(w.problems, func(p Problem) bool { return p.place == place })
}
