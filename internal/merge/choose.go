package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/model"
)

// Way is how a pull request is merged.
type Way struct {
	Strategy              string
	Why                   string // which rule, default or command chose it, as part of a sentence
	BaseWins, UnionFields []string
}

// Choose picks the way of a pull request: what was asked for, else the first enabled rule that matches the head branch,
// else what is the default for a fork, and the default of the settings for the rest. A fork goes by the name of its mirror
// too. What a rule says of conflicts and fields holds whatever was asked for. The error is a *Refusal.
func Choose(p Policy, pull model.Pull, facts model.MergeFacts, asked string) (Way, error) {
	way := Way{Strategy: p.Strategy, Why: "the default of the settings"}
	names := namesOf(pull)
	at := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Enabled && r.names(names) })
	switch {
	case at >= 0:
		r := p.Rules[at]
		way = Way{r.Strategy, fmt.Sprintf("the settings' rule for %q", r.Branch), r.BaseWins, r.UnionFields}
	case held(facts) != "":
		way = Way{Strategy: model.StrategyNoFF, Why: "the default for this head branch: " + held(facts)}
	case pull.CrossRepo:
		way = forkWay(p, pull)
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

// forkWay is how a fork's pull request is merged where no rule says so. Its own commits land, so that GitHub shows it as
// merged. A rule for mirrors that is not enabled backs out of that: its commits are picked, and it is closed with a link.
func forkWay(p Policy, pull model.Pull) Way {
	for _, r := range p.Rules {
		if !r.Enabled && strings.HasPrefix(r.Branch, mirrorRoot) && r.Strategy != model.StrategyCherryPick && r.names(mirrorNames(pull)) {
			return Way{Strategy: model.StrategyCherryPick, Why: fmt.Sprintf("the settings' rule for %q: it is not enabled, so a fork's commits are picked", r.Branch)}
		}
	}
	return Way{Strategy: model.StrategyNoFF, Why: "the default for a fork: its commits stay as they are"}
}

// mirrorRoot is how the branches begin that mirror the pull requests of forks.
const mirrorRoot = "gh-pr-"

// mirrorNames are the names by which rules know the mirror that a fork's pull request has or would have.
func mirrorNames(pull model.Pull) []string {
	root := fmt.Sprintf("%s%d", mirrorRoot, pull.Number)
	if strings.HasPrefix(pull.HeadRef, mirrorRoot) {
		return []string{pull.HeadRef, root}
	}
	return []string{root + "/" + pull.HeadRef, root}
}

// namesOf are the branches by which rules know a pull request: its head, and the mirror of a fork's.
func namesOf(pull model.Pull) []string {
	if !pull.CrossRepo {
		return []string{pull.HeadRef}
	}
	return append([]string{pull.HeadRef}, mirrorNames(pull)...)
}

// names says that a rule is about one of these branches.
func (r Rule) names(branches []string) bool {
	return slices.ContainsFunc(branches, func(b string) bool { return matches(r.Branch, b) })
}

// ChooseFor is Choose for a request. One that lands a mirror goes by the name of the mirror.
func ChooseFor(p Policy, pull model.Pull, facts model.MergeFacts, m model.MergeMarker) (Way, error) {
	if m.Mirror == "" {
		return Choose(p, pull, facts, m.Asked)
	}
	pull.HeadRef, pull.CrossRepo = m.Mirror, true
	way, err := Choose(p, pull, facts, m.Asked)
	switch {
	case err != nil:
		return Way{}, err
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
		means := r.Strategy == asked || r.Strategy == "" && pull.CrossRepo && asked == model.StrategyNoFF
		if !r.Enabled && means && r.names(namesOf(pull)) {
			return r.Branch
		}
	}
	return ""
}

// matches says that the pattern of a rule names a branch. The mirror of a fork's pull request, gh-pr-7/fix, also goes by the
// number alone: "gh-pr-*" is about all of them, whatever the forks call their branches.
func matches(pattern, branch string) bool {
	mirror, _, nested := strings.Cut(branch, "/")
	patterns := []string{pattern}
	return branchfilter.Match(patterns, branch) || nested && strings.HasPrefix(mirror, mirrorPrefix) && branchfilter.Match(patterns, mirror)
}

// mirrorPrefix begins the names of the branches that mirror pull requests of forks.
const mirrorPrefix = "gh-pr-"

// movesHead says that a strategy moves the head branch to what it has made, so that GitHub shows the pull request as merged.
// The branch of a fork is never moved: a pull request whose commits were picked from there is closed with a link instead.
func movesHead(strategy string, pull model.Pull) bool {
	s, _ := model.StrategyNamed(strategy)
	return s.MovesHead && !pull.CrossRepo
}

// Unshown says that GitHub will not show a pull request as merged, although what it changes has landed: other commits
// are on the base than those of its head, which stays where it is.
func Unshown(strategy string, pull model.Pull) bool {
	s, _ := model.StrategyNamed(strategy)
	return pull.CrossRepo && s.MovesHead && s.TakesForks
}

// unusable says why a strategy cannot be had for a pull request; "" where it can.
func unusable(way Way, pull model.Pull, facts model.MergeFacts) string {
	s := way.Strategy
	known, ok := model.StrategyNamed(s)
	switch {
	case !ok:
		return fmt.Sprintf("strategy %q is unknown; there are %s", s, strings.Join(model.Strategies(), ", "))
	case known.NeedsFields && len(way.UnionFields) == 0:
		return fmt.Sprintf("strategy %s needs a rule for branch %q that names union_fields", s, pull.HeadRef)
	case pull.CrossRepo && !known.TakesForks:
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
