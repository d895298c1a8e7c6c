package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/model"
)

// Way is how a pull request is merged.
type Way struct {
	Strategy              string
	Why                   string // which rule, default or command chose it, as part of a sentence
	BaseWins, UnionFields []string
}

// Choose picks the way of a pull request: what was asked for, else the first enabled rule that matches the head branch,
// else no-ff for a fork and the default for the rest. What a rule says of conflicts and fields holds whatever was asked
// for. The error is a *Refusal.
func Choose(p Policy, pull model.Pull, facts model.MergeFacts, asked string) (Way, error) {
	way := Way{Strategy: p.Strategy, Why: "the default of the settings"}
	at := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Enabled && matches(r.Branch, pull.HeadRef) })
	switch {
	case at >= 0:
		r := p.Rules[at]
		way = Way{r.Strategy, fmt.Sprintf("the settings' rule for %q", r.Branch), r.BaseWins, r.UnionFields}
	case held(facts) != "":
		way = Way{Strategy: model.StrategyNoFF, Why: "the default for this head branch: " + held(facts)}
	case pull.CrossRepo:
		way = Way{Strategy: model.StrategyNoFF, Why: "the default for a fork: its commits stay as they are"}
	}
	if asked != "" {
		if off := switchedOff(p, pull, asked, way); off != "" {
			return Way{}, refuse("strategy %q is switched off for branch %q: the settings' rule for %q is not enabled", asked, pull.HeadRef, off)
		}
		way.Strategy, way.Why = asked, "the command"
	}
	if problem := unusable(way, pull, facts); problem != "" {
		return Way{}, refuse("%s", problem)
	}
	return way, nil
}

// ChooseFor is Choose for a request. One that lands a mirror goes by the name of the mirror. What that has stays as it is,
// since GitHub shows a pull request as merged only where its own commits are on the base.
func ChooseFor(p Policy, pull model.Pull, facts model.MergeFacts, m model.MergeMarker) (Way, error) {
	if m.Mirror == "" {
		return Choose(p, pull, facts, m.Asked)
	}
	pull.HeadRef, pull.CrossRepo = m.Mirror, true
	way, err := Choose(p, pull, facts, m.Asked)
	switch {
	case err != nil:
		return Way{}, err
	case way.Strategy == model.StrategyCherryPick:
		return Way{}, refuse("strategy %s makes other commits of those of branch %q; strategy=%s leaves them as they are", way.Strategy, m.Mirror, model.StrategyNoFF)
	case way.Strategy == model.StrategyAPI && m.MirrorSHA != m.Head:
		return Way{}, refuse("strategy %s has GitHub merge the head alone, without the commits on top of it on branch %q; strategy=%s merges them all",
			way.Strategy, m.Mirror, model.StrategyNoFF)
	}
	return way, nil
}

func refuse(format string, args ...any) *Refusal {
	return &Refusal{model.CodeStrategy, fmt.Sprintf(format, args...)}
}

// switchedOff is the branch of the disabled rule that the strategy would be back by; "" where it comes from elsewhere too.
func switchedOff(p Policy, pull model.Pull, asked string, way Way) string {
	if asked == way.Strategy || asked == p.Strategy {
		return ""
	}
	for _, r := range p.Rules {
		if !r.Enabled && r.Strategy == asked && matches(r.Branch, pull.HeadRef) {
			return r.Branch
		}
	}
	return ""
}

// matches says that a glob names a branch, or a directory that the branch is in: "gh-pr-*" is about "gh-pr-7/fix" too.
// No branch can have the name of a directory of another one, so this is never about two things.
func matches(glob, branch string) bool {
	for end := len(branch); end > 0; end = strings.LastIndexByte(branch[:end], '/') {
		// The settings were checked: the pattern is well-formed.
		if ok, _ := doublestar.Match(glob, branch[:end]); ok {
			return true
		}
	}
	return false
}

// movesHead says that a strategy moves the head branch to what it has made, so that GitHub shows the pull request as merged.
// The branch of a fork is never moved: a pull request whose commits were picked from there is closed with a link instead.
func movesHead(strategy string, pull model.Pull) bool {
	return !pull.CrossRepo && (strategy == model.StrategyRebase || strategy == model.StrategySquash || strategy == model.StrategyCherryPick)
}

// unusable says why a strategy cannot be had for a pull request; "" where it can.
func unusable(way Way, pull model.Pull, facts model.MergeFacts) string {
	s := way.Strategy
	switch {
	case !slices.Contains(model.Strategies(), s):
		return fmt.Sprintf("strategy %q is unknown; there are %s", s, strings.Join(model.Strategies(), ", "))
	case s == model.StrategyUnion && len(way.UnionFields) == 0:
		return fmt.Sprintf("strategy %s needs a rule for branch %q that names union_fields", s, pull.HeadRef)
	case pull.CrossRepo && (s == model.StrategyRebase || s == model.StrategySquash):
		return fmt.Sprintf("strategy %s moves the head branch, which is in a fork; strategy=%s leaves it as it is", s, model.StrategyNoFF)
	case movesHead(s, pull) && held(facts) != "":
		return fmt.Sprintf("strategy %s moves the head branch, but %s; strategy=%s leaves it as it is", s, held(facts), model.StrategyNoFF)
	case s == model.StrategyNoFF && facts.LinearHistory:
		return fmt.Sprintf("strategy %s makes a merge commit, and the rules of branch %q demand a linear history; strategy=%s merges in a way that they allow",
			s, pull.BaseRef, model.StrategyAPI)
	case s == model.StrategyAPI && facts.LinearHistory && len(facts.Methods) > 0 && !slices.Contains(facts.Methods, "squash") && !slices.Contains(facts.Methods, "rebase"):
		return fmt.Sprintf("the rules of branch %q demand a linear history, and the repository allows GitHub only to make merge commits", pull.BaseRef)
	}
	return ""
}

// held says why the head branch has to stay where it is; "" where it may be moved.
func held(facts model.MergeFacts) string {
	switch {
	case facts.DefaultHead:
		return "it is the default branch of its repository"
	case len(facts.Users) > 0:
		return fmt.Sprintf("pull request %d comes from it or goes to it as well", facts.Users[0])
	}
	return ""
}
