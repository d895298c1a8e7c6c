package merge

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// barring says of a demand of the base what keeps a push out, in words for "ruleset 42 of branch main ...", and what helps.
// Only the head itself may have what some ask of the commit.
var barring = map[model.DemandKind]struct {
	says, fix string
	ofCommit  bool
}{
	model.DemandPull:       {"accepts changes only by pull request", hasGitHub, false},
	model.DemandQueue:      {"accepts changes only from its merge queue", "strategy=" + model.StrategyQueue + " uses it", false},
	model.DemandPushers:    {"does not let MergeXO's token push", addPusher, false},
	model.DemandLocked:     {"accepts no changes, because the branch is locked", "unlock it", false},
	model.DemandChecks:     {"accepts only commits that have passed", hasGitHub, true},
	model.DemandSignatures: {"accepts only signed commits", hasGitHub, true},
	model.DemandForce:      {"forbids force pushes", "", false}, // of a head
}

const hasGitHub = "strategy=" + model.StrategyAPI + " lets GitHub merge instead"

// addPusher is for a rule that GitHub's own merge obeys as well: https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#restrict-who-can-push-to-matching-branches
const addPusher = "add MergeXO to those who may push, since GitHub's own merge needs that, too"

// RefusedBy says which demand of the base refuses the push of tip, and what helps, as a sentence without its end; "" for none.
// Checks are of one commit: what was made for a merge has none, and a push of it would be refused when the head has moved to it
// already, unless the merge train has it checked first. An empty tip is one that is not known yet.
func RefusedBy(way Way, pull model.Pull, facts model.MergeFacts, tip string) string {
	if model.ByGitHub(way.Strategy) || way.Strategy == "" {
		return ""
	}
	made := tip != "" && tip != facts.HeadSHA || way.Strategy == model.StrategyNoFF // which is never the head
	for _, d := range facts.Demands {
		bar, known := barring[d.Kind]
		if !known || bar.ofCommit && !made || d.Kind == model.DemandChecks && way.Train {
			continue
		}
		said := fmt.Sprintf("%s of branch %q %s", d.Source, pull.BaseRef, bar.says)
		if d.Kind == model.DemandChecks {
			said += names(" ", d.Names)
		}
		if bar.ofCommit {
			said += fmt.Sprintf(", and strategy %s would push %s, which is not the head and does not have that", way.Strategy, either(tip == "", "a merge commit", markdown.Short(tip)))
		}
		said += "; " + bar.fix
		if bar.ofCommit && way.Strategy == model.StrategyRebase {
			said += fmt.Sprintf(", and a branch that is up to date with %q lands unchanged", pull.BaseRef)
		}
		if d.Bypass {
			said += ", or let MergeXO's App bypass the ruleset"
		}
		return said + way.Note(" (%s)")
	}
	return ""
}

// bound are the checks that the base demands of the very commit that is pushed.
func bound(facts model.MergeFacts) []string {
	var names []string
	for _, d := range facts.Demands {
		if d.Kind == model.DemandChecks {
			names = append(names, d.Names...)
		}
	}
	return names
}

// MethodOf is the way in which GitHub merges a pull request; "": the rules of the base accept none that the repository allows.
func MethodOf(facts model.MergeFacts) string {
	demands := facts.Demands
	if facts.LinearHistory {
		demands = append(slices.Clone(demands), model.Demand{Kind: model.DemandLinear})
	}
	return model.MergeMethod(facts.Methods, demands)
}

// SignedOnly is what has the base take signed commits only; nil: nothing does.
func SignedOnly(facts model.MergeFacts) *model.Demand {
	at := slices.IndexFunc(facts.Demands, func(d model.Demand) bool { return d.Kind == model.DemandSignatures })
	if at < 0 {
		return nil
	}
	return &facts.Demands[at]
}

// linear says that the base takes no merge commits.
func linear(facts model.MergeFacts) bool {
	return facts.LinearHistory || slices.ContainsFunc(facts.Demands, func(d model.Demand) bool { return d.Kind == model.DemandLinear })
}
