package doctor

import (
	"fmt"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// refusals says which strategies a demand of the branch rules out. All but "api" push to it.
var refusals = map[model.DemandKind]struct {
	refuses func(strategy string) bool
	says    string
	fix     string
}{
	model.DemandPull:       {pushes, "accepts changes only by pull request", fixAPI + fixPass},
	model.DemandChecks:     {pushes, "accepts commits only after their checks have passed", fixAPI + fixPass},
	model.DemandLinear:     {joins, "accepts no merge commits", "choose rebase, squash or cherry-pick"},
	model.DemandSignatures: {pushes, "accepts only signed commits", fixAPI + " and sign" + fixPass},
	model.DemandPushers:    {all, "accepts changes only from some", "run mergexo init --github --app, and put that App on the list"},
	model.DemandLocked:     {all, "is locked", "unlock it"},
	model.DemandQueue:      {notQueue, "accepts changes only from its merge queue", "set it to \"github-queue\""},
}

const (
	fixAPI  = "set it to \"api\", which lets GitHub merge"
	fixPass = ", or run mergexo init --github --app, and let that App bypass the rule"
)

func pushes(strategy string) bool   { return !model.ByGitHub(strategy) }
func notQueue(strategy string) bool { return strategy != model.StrategyQueue }
func all(string) bool               { return true }

func joins(strategy string) bool {
	s, _ := model.StrategyNamed(strategy)
	return s.Joins
}

// protection compares the default branch's demands with how pull requests are to land.
func protection(e *exam) {
	d, main := e.Hub.Facts.Demands, e.Hub.Facts.DefaultBranch
	if !d.Known {
		e.unchecked("merging: some rules of %s were not checked: %s", main, d.Why)
	}
	if !e.readable() {
		return
	}
	for _, demand := range d.List {
		if demand.Kind != model.DemandChecks || !e.hasTrain() { // which has them run on what lands
			refused(e, demand)
		}
	}
	unlike(e)
	e.otherwise("merging: %s accepts the result of %s", main, list(sorted(each(e.Settings.Strategies, func(s Strategy) string { return s.Name }))))
}

func refused(e *exam, d model.Demand) {
	r := refusals[d.Kind]
	var places []string
	for _, s := range e.Settings.Strategies {
		if rulesOut(d, s.Name, e.ownToken()) {
			places = append(places, fmt.Sprintf("%s = %s", s.Place, quote(s.Name)))
		}
	}
	if len(places) == 0 {
		return
	}
	level, unless := Problem, ""
	// Not everybody can see who may bypass a rule. The workflow's own bot never may:
	// https://github.com/orgs/community/discussions/25305
	if e.ownToken() && d.Kind != model.DemandLocked {
		level, unless = Warning, unlessBypassed
	}
	e.report(level, r.fix, "merging: %s %s (%s), which rules out %s in %s%s", e.Hub.Facts.DefaultBranch, r.says, sourceOf(d), list(places), e.Settings.Path, unless)
}

const unlessBypassed = ", unless the action's token may bypass it"

// workflowBot is the account behind the workflow's own token.
const workflowBot = "github-actions[bot]"

func sourceOf(d model.Demand) string {
	if len(d.Names) == 0 {
		return d.Source
	}
	return d.Source + ": " + markdown.Cut(list(each(d.Names, quote)), 120)
}

// hindrances says which rules keep the agent from pushing its branches, and what follows.
var hindrances = map[model.DemandKind]struct{ says, follows string }{
	model.DemandCreators:   {"only some may create them", unkept},
	model.DemandPushers:    {"only some may push to them", unkept},
	model.DemandDeleters:   {"only some may delete them", "those of finished work stay"},
	model.DemandName:       {"their names are not allowed", unkept},
	model.DemandPull:       {"changes need a pull request", unkept},
	model.DemandChecks:     {"commits need passed checks", unkept},
	model.DemandSignatures: {"commits need a signature", unkept},
	model.DemandForce:      {"force pushes are forbidden", "they are merged with a merge commit, which leaves them as they are"},
}

const unkept = "the agent's work cannot be saved there"

// workBranches are the patterns of branches for unfinished work and for issues, each with a sample name. Checkpoint
// branches are deleted once their work has landed.
var workBranches = []struct {
	pattern, example string
	deleted          bool
}{{"agent/**", "agent/small/1-example", false}, {"mergexo/checkpoint/**", "mergexo/checkpoint/1/example", true}}

// WorkBranches asks for the demands on one sample branch of each pattern.
func WorkBranches(ask func(branch string) model.BranchDemands) []Branches {
	var out []Branches
	for _, b := range workBranches {
		out = append(out, Branches{b.pattern, b.deleted, ask(b.example)})
	}
	return out
}

// ownBranches finds rules, usually written for people's branches, that block the agent's own.
func ownBranches(e *exam) {
	var free []string
	for _, b := range e.Hub.Branches {
		before := len(e.found)
		if !b.Demands.Known {
			e.unchecked("branches %s: rulesets not checked: %s", b.Pattern, b.Demands.Why)
		}
		for _, d := range b.Demands.List {
			hindered(e, b, d)
		}
		if len(e.found) == before {
			free = append(free, b.Pattern)
		}
	}
	if len(free) > 0 {
		e.ok("branches %s: no ruleset blocks them", list(free))
	}
}

func hindered(e *exam, b Branches, d model.Demand) {
	h, known := hindrances[d.Kind]
	if !known || d.Kind == model.DemandDeleters && !b.Deleted || d.Kind == model.DemandForce && b.Deleted {
		return
	}
	level, unless := Problem, ""
	if e.ownToken() {
		level, unless = Warning, unlessBypassed
	} else if h.follows != unkept {
		level = Warning
	}
	e.report(level, "remove "+b.Pattern+" from the ruleset's branches, or run mergexo init --github --app, and let that App bypass it",
		"branches %s: %s (%s): %s%s", b.Pattern, h.says, sourceOf(d), h.follows, unless)
}
