package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// Way is how a pull request is merged.
type Way struct {
	Strategy              string
	Why                   string // which rule, default or command chose it, as part of a sentence
	Fixed                 string // why the default leaves the head branch as it is; "": it was not chosen for that
	BaseWins, UnionFields []string
	// Train says that the repository's own checks test what would land, in the merge train, and Both that the tests of the
	// settings do as well.
	Train, Both bool
}

// Note tells people why the default leaves the head branch as it is, in a format with one %s; "" where it was not chosen for that.
func (w Way) Note(format string) string {
	if w.Fixed == "" {
		return ""
	}
	return fmt.Sprintf(format, fmt.Sprintf("%s leaves the head branch as it is: %s", w.Strategy, w.Fixed))
}

// verified adds to a way what tests the result.
func (w Way) verified(p Policy, facts model.MergeFacts) Way {
	if w.Strategy == model.StrategyQueue { // which tests by itself
		return w
	}
	w.Train = p.Verify == verifyCI || p.Verify == verifyBoth || p.Verify == "" && len(bound(facts)) > 0
	w.Both = p.Verify == verifyBoth
	return w
}

// The values of Policy.Verify that name the checks of the repository.
const (
	verifyCI   = "ci"
	verifyBoth = "both"
)

// Choose picks the way to merge a pull request: the requested strategy, else the first enabled rule that matches the head
// branch, else the default for forks and for heads that must not be moved, or that of the settings. A fork also matches by its
// mirror's name. A rule's options for conflicts and fields apply whatever was requested. The error is a *Refusal.
func Choose(p Policy, pull model.Pull, facts model.MergeFacts, asked string) (Way, error) {
	way := Way{Strategy: p.Strategy, Why: "default"}
	names, fixed := namesOf(pull), HeadOf(p, pull, facts).Fixed
	at := slices.IndexFunc(p.Rules, func(r Rule) bool { return r.Enabled && r.names(names) })
	switch {
	case at >= 0:
		r := p.Rules[at]
		way = Way{Strategy: r.Strategy, Why: fmt.Sprintf("the settings' rule for %q", r.Branch), BaseWins: r.BaseWins, UnionFields: r.UnionFields}
	case fixed != "" && movesHead(p.Strategy, pull):
		way = Way{Strategy: model.StrategyNoFF, Why: "the default for this head branch: " + fixed, Fixed: fixed}
	case pull.CrossRepo:
		way = forkWay(p, pull)
	}
	if asked != "" {
		if off := switchedOff(p, pull, asked, way); off != "" {
			return Way{}, refuse("strategy %q is disabled for branch %q: the settings' rule for %q is not enabled", asked, pull.HeadRef, off)
		}
		way.Strategy, way.Why, way.Fixed = asked, "the command", ""
	}
	if problem := unusable(way, pull, facts, fixed); problem != "" {
		return Way{}, refuse("%s%s", problem, way.Note(" (%s)"))
	}
	return way.verified(p, facts), nil
}

// forkWay is the default for forks. Their own commits land, so that GitHub shows them as merged. A disabled rule for
// mirrors opts out of that: the commits are picked, and the pull request is closed with a link.
func forkWay(p Policy, pull model.Pull) Way {
	for _, r := range p.Rules {
		if !r.Enabled && strings.HasPrefix(r.Branch, mirrorRoot) && r.Strategy != model.StrategyCherryPick && r.names(mirrorNames(pull)) {
			return Way{Strategy: model.StrategyCherryPick, Why: fmt.Sprintf("the settings' rule for %q: it is not enabled, so a fork's commits are cherry-picked", r.Branch)}
		}
	}
	return Way{Strategy: model.StrategyNoFF, Why: "the default for a fork: its commits stay as they are"}
}

// mirrorRoot is the common prefix of branches that mirror forks' pull requests.
const mirrorRoot = "gh-pr-"

// mirrorNames are the names of the mirror that a fork's pull request has or would have, for rules.
func mirrorNames(pull model.Pull) []string {
	root := fmt.Sprintf("%s%d", mirrorRoot, pull.Number)
	if strings.HasPrefix(pull.HeadRef, mirrorRoot) {
		return []string{pull.HeadRef, root}
	}
	return []string{root + "/" + pull.HeadRef, root}
}

// namesOf are the branches by which rules match a pull request: its head, and a fork's mirror.
func namesOf(pull model.Pull) []string {
	if !pull.CrossRepo {
		return []string{pull.HeadRef}
	}
	return append([]string{pull.HeadRef}, mirrorNames(pull)...)
}

// names reports whether a rule matches one of these branches.
func (r Rule) names(branches []string) bool {
	return slices.ContainsFunc(branches, func(b string) bool { return matches(r.Branch, b) })
}

// ChooseFor is Choose for a request. A mirror matches by the mirror's name.
func ChooseFor(p Policy, pull model.Pull, facts model.MergeFacts, m model.MergeMarker) (Way, error) {
	if m.Mirror == "" {
		return Choose(p, pull, facts, m.Asked)
	}
	pull.HeadRef, pull.CrossRepo = m.Mirror, true
	way, err := Choose(p, pull, facts, m.Asked)
	switch {
	case err != nil:
		return Way{}, err
	case model.ByGitHub(way.Strategy) && m.MirrorSHA != m.Head:
		return Way{}, refuse("with strategy %s GitHub merges only the head, without the commits on top of it on branch %q; strategy=%s merges them all",
			way.Strategy, m.Mirror, model.StrategyNoFF)
	}
	return way, nil
}

func refuse(format string, args ...any) *Refusal {
	return &Refusal{model.CodeStrategy, fmt.Sprintf(format, args...)}
}

// switchedOff is the branch of the disabled rule that would enable the strategy; "" if something else enables it too.
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

// matches reports whether a rule's pattern matches a branch. A mirror, gh-pr-7/fix, also matches by its number alone:
// "gh-pr-*" matches all of them, whatever the forks call their branches.
func matches(pattern, branch string) bool {
	mirror, _, nested := strings.Cut(branch, "/")
	patterns := []string{pattern}
	return branchfilter.Match(patterns, branch) || nested && strings.HasPrefix(mirror, mirrorRoot) && branchfilter.Match(patterns, mirror)
}

// movesHead reports whether a strategy moves the head branch to its result, so that GitHub shows the pull request as
// merged. A fork's branch is never moved: if its commits were picked, its pull request is closed with a link instead.
func movesHead(strategy string, pull model.Pull) bool {
	s, _ := model.StrategyNamed(strategy)
	return s.MovesHead && !pull.CrossRepo
}

// NeverShown reports whether GitHub never shows a pull request as merged although its changes have landed: the base has
// other commits than those of its head, which stays.
func NeverShown(strategy string, pull model.Pull) bool {
	s, _ := model.StrategyNamed(strategy)
	return pull.CrossRepo && s.MovesHead && s.TakesForks
}

// unusable says why a strategy cannot be used for a pull request; "" if it can.
func unusable(way Way, pull model.Pull, facts model.MergeFacts, fixed string) string {
	s := way.Strategy
	known, ok := model.StrategyNamed(s)
	switch {
	case !ok:
		return fmt.Sprintf("strategy %q is unknown%s", s, nearest.Hint(s, model.Strategies()))
	case known.NeedsFields && len(way.UnionFields) == 0:
		return fmt.Sprintf("strategy %s needs a rule for branch %q that names union_fields", s, pull.HeadRef)
	case pull.CrossRepo && !known.TakesForks:
		return fmt.Sprintf("strategy %s moves the head branch, which is in a fork; strategy=%s leaves it as it is", s, model.StrategyNoFF)
	case movesHead(s, pull) && fixed != "":
		return fmt.Sprintf("strategy %s moves the head branch, but %s; strategy=%s leaves it as it is", s, fixed, model.StrategyNoFF)
	case known.Joins && linear(facts):
		return fmt.Sprintf("strategy %s makes a merge commit, but the rules of branch %q require a linear history; use strategy=%s",
			s, pull.BaseRef, model.StrategyAPI)
	case s == model.StrategyAPI && MethodOf(facts) == "":
		return fmt.Sprintf("the rules of branch %q accept none of the ways to merge that the repository allows: %s", pull.BaseRef, strings.Join(facts.Methods, ", "))
	}
	return ""
}
