package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// methodOf is the way to merge of GitHub's that does the like of a strategy.
var methodOf = map[string]string{
	model.StrategyRebase: "rebase", model.StrategyCherryPick: "rebase", model.StrategySquash: "squash", model.StrategyNoFF: "merge", model.StrategyUnion: "merge",
}

// customary reports whether a repository's settings let people merge in the way of a strategy, as far as they are known. They
// hold for the buttons on GitHub, and for no push.
func customary(methods []string, strategy string) bool {
	return len(methods) == 0 || methodOf[strategy] == "" || slices.Contains(methods, methodOf[strategy])
}

// usual is the strategy that does the like of what a repository's settings allow.
func usual(methods []string) string {
	all := []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF}
	return all[max(0, slices.IndexFunc(all, func(s string) bool { return customary(methods, s) }))]
}

// StrategyFor is a strategy that the rules of the default branch let a token use: was if they do, else one that does the like of
// what the repository's settings allow, else one by which GitHub merges. app says that the token is an App's, which has the merge
// train pass the checks that the branch demands.
func StrategyFor(was string, f model.RepositoryFacts, app bool) string {
	if refused := func(d model.Demand) bool { return binds(d, was, app) }; was != "" && !slices.ContainsFunc(f.Demands.List, refused) {
		return was
	}
	own := usual(f.Methods)
	for _, s := range []string{own, model.StrategyRebase, model.StrategyAPI, model.StrategyQueue} {
		if !slices.ContainsFunc(f.Demands.List, func(d model.Demand) bool {
			return rulesOut(d, s, app) && !(app && d.Kind == model.DemandChecks)
		}) {
			return s
		}
	}
	return cmp.Or(was, own)
}

// rulesOut reports whether a demand rules a strategy out, for the workflow's own token or another one.
func rulesOut(d model.Demand, strategy string, another bool) bool {
	r, known := refusals[d.Kind]
	free := d.Kind == model.DemandPushers && !another && slices.ContainsFunc(d.Names, func(n string) bool { return strings.EqualFold(n, workflowBot) })
	return known && !free && r.refuses(strategy)
}

// binds reports whether a demand surely rules a strategy out. An App may be one of those that a rule lets through, and has the
// merge train pass the checks that the branch demands.
func binds(d model.Demand, strategy string, app bool) bool {
	passes := d.Kind == model.DemandChecks || d.Bypass || d.Kind == model.DemandPushers && len(d.Names) > 0
	return rulesOut(d, strategy, app) && !(app && passes)
}

// Refused tells why the rules of the default branch rule out a strategy for the workflow's own token, or an App's, and what
// helps; "" twice: they do not.
func Refused(strategy string, f model.RepositoryFacts, app bool) (why, fix string) {
	for _, d := range f.Demands.List {
		switch {
		case !binds(d, strategy, app):
		case d.Kind == model.DemandPushers && len(d.Names) > 0:
			return fmt.Sprintf("only %s may push to %s (%s)", list(d.Names), f.DefaultBranch, d.Source), refusals[d.Kind].fix
		default:
			return fmt.Sprintf("%s %s (%s)", f.DefaultBranch, refusals[d.Kind].says, sourceOf(d)), refusals[d.Kind].fix
		}
	}
	return "", ""
}

// unlike finds strategies that do what the repository's settings do not allow people, and ways of GitHub's that a rule refuses.
func unlike(e *exam) {
	methods := e.Hub.Facts.Methods
	for _, s := range e.Settings.Strategies {
		if !customary(methods, s.Name) {
			fix := fmt.Sprintf("allow %s merging in the repository: Settings, General, Pull Requests", methodOf[s.Name])
			if other := StrategyFor("", e.Hub.Facts, e.ownToken()); other != s.Name {
				fix = fmt.Sprintf("set it to %s, or %s", quote(other), fix)
			}
			e.warn(fix, "merging: the settings of %s allow people only %s, but %s = %s in %s does not follow them", e.Repository, list(methods), s.Place, quote(s.Name), e.Settings.Path)
		}
		if s.Name == model.StrategyAPI && model.MergeMethod(methods, e.Hub.Facts.Demands.List) == "" {
			e.problem("allow another way to merge in the repository: Settings, General, Pull Requests",
				"merging: the rules of %s accept none of the ways to merge that the settings of %s allow, which rules out %s = %s in %s",
				e.Hub.Facts.DefaultBranch, e.Repository, s.Place, quote(s.Name), e.Settings.Path)
		}
	}
}
