package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	// mostChecks is how many checks and how many reviews are read. With more of either the facts are Partial.
	mostChecks = 400
	// furtherPages is how many requests of 100 that takes beside the first one, and mostPages how many smaller ones there are
	// at most.
	furtherPages = mostChecks/100 - 1
	mostPages    = 40
)

// factParts are the parts of an answer that a token may be refused, by their aliases, and what they are called.
var factParts = []struct{ alias, name string }{
	{"opinions", "reviews"}, {"checks", "checks"}, {"rule", "rule"}, {"heads", "users"}, {"bases", "users"},
	{"past", "users"}, {"below", "users"}, {"fed", "users"},
}

type updateRuleNode struct {
	ViewerCanPush                bool
	RequiredStatusCheckContexts  []string
	RequiredApprovingReviewCount int
	RequiresLinearHistory        bool
	RequiresSignatures           bool
}

type contextsNode struct {
	connection[*checkNode]
	// Of all pages, where they are asked for.
	CheckRunCountsByState, StatusContextCountsByState []stateCountNode
}

type stateCountNode struct {
	State string
	Count int
}

type rollupNode struct{ Contexts contextsNode }

// MergeFacts reads what has to be known before pull request number may be merged: one GraphQL request, and up to three
// more where there are more than 100 checks or reviews, of which it reads 400 each. head is the pull request's head branch where that is in the same
// repository, to find who else uses it; "" asks for no Users. base is its base where that may be the branch of a merged pull request;
// "" does not ask. Parts that the token may not see are named in Missing.
func (c Threads) MergeFacts(ctx context.Context, repo model.Repo, number int, head, base string) (model.MergeFacts, error) {
	op := fmt.Sprintf("read what a merge of %s#%d needs", repo, number)
	ours := question{op, documents["mergefacts"], repo, number, "merge facts", []string{"requestedReviewer"}}
	for _, p := range factParts {
		ours.may = append(ours.may, p.alias)
	}
	r := factsReading{}
	variables := map[string]any{"branch": head, "askBranch": head != "", "base": base, "askBase": base != ""}
	for page := 1; page == 1 || (r.opinions.more || r.checks.more) && r.read < mostChecks && page <= mostPages; page++ {
		size := 0
		data, err := c.ask(ctx, ours, func(step int) map[string]any {
			size = pageLimits[step]
			variables["page"] = size
			return variables
		})
		if err != nil {
			return model.MergeFacts{}, err
		}
		r.read += size
		r.refused(data.missing...)
		if slices.Contains(data.missing, "checks") {
			r.facts.ChecksHidden = c.checksHidden()
		}
		r.take(data.Repository.PullRequest)
		if page == 1 {
			r.start(data.Repository, number)
		}
		ours.document, variables = documents["mergemore"], map[string]any{
			"moreOpinions": r.opinions.more, "opinionsAfter": orNull(r.opinions.at),
			"moreChecks": r.checks.more, "checksAfter": orNull(r.checks.at),
		}
	}
	return r.told(), nil
}

// factsReading gathers the facts from page to page.
type factsReading struct {
	facts            model.MergeFacts
	opinions, checks cursor
	read             int // how many checks and reviews each were asked for
}

// refused notes that parts of an answer are missing, by their aliases.
func (r *factsReading) refused(aliases ...string) {
	for _, p := range factParts {
		if slices.Contains(aliases, p.alias) && !slices.Contains(r.facts.Missing, p.name) {
			r.facts.Missing = append(r.facts.Missing, p.name)
		}
	}
}

// start takes what only the first page has.
func (r *factsReading) start(d *repositoryNode, number int) {
	f, n := &r.facts, d.PullRequest
	f.HeadSHA, f.BaseRecorded, f.Conflicting, f.Commits = n.HeadRefOID, n.BaseRefOID, n.Mergeable == "CONFLICTING", n.Commits.TotalCount
	for _, asked := range n.Awaited.Nodes {
		f.Awaited = append(f.Awaited, cmp.Or(asked.RequestedReviewer.Login, asked.RequestedReviewer.Slug, "a team that the token may not see"))
	}
	f.MergeCommit, f.BaseSHA = n.MergeCommit.OID, n.BaseRef.Target.OID
	f.Administers, f.DeletesHeads = d.ViewerCanAdminister, d.DeleteBranchOnMerge
	if n.BaseRef.Rule != nil {
		r.rule(n.BaseRef.Rule)
	}
	f.Methods = methods(d.MergeCommitAllowed, d.SquashMergeAllowed, d.RebaseMergeAllowed)
	r.branches(d, number)
}

// branches takes what other pull requests do with the head branch and the base.
func (r *factsReading) branches(repository *repositoryNode, number int) {
	f := &r.facts
	f.Onto = r.users(repository.Bases, number, false)
	f.Users = append(r.users(repository.Heads, number, true), f.Onto...)
	slices.Sort(f.Users)
	f.Users = slices.Compact(f.Users)
	if past := repository.Past.Nodes; len(past) > 0 && past[0] != nil {
		f.Past = past[0].Number
	}
	f.Fed, f.BaseFed = firstMerge(repository.Past.Nodes), firstMerge(repository.Fed.Nodes)
	for _, n := range repository.Below.Nodes {
		if n != nil && !n.IsCrossRepository {
			f.Below = model.Merged{Number: n.Number, Base: n.BaseRefName, Opened: n.CreatedAt}
			break
		}
	}
}

// firstMerge is when the first of some pull requests was merged; zero: none was.
func firstMerge(list []*threadNode) (first time.Time) {
	for _, n := range list {
		if n != nil && !n.MergedAt.IsZero() && (first.IsZero() || n.MergedAt.Before(first)) {
			first = n.MergedAt
		}
	}
	return first
}

// rule takes the branch protection of the base.
func (r *factsReading) rule(rule *updateRuleNode) {
	f := &r.facts
	f.RuleKnown, f.PushRefused = true, !rule.ViewerCanPush
	f.RequiredApprovals, f.RequiredChecks, f.LinearHistory = rule.RequiredApprovingReviewCount, rule.RequiredStatusCheckContexts, rule.RequiresLinearHistory
	var demands classic
	demands.add(f.RequiredApprovals > 0, model.Demand{Kind: model.DemandPull})
	demands.add(rule.RequiresSignatures, model.Demand{Kind: model.DemandSignatures})
	demands.add(len(f.RequiredChecks) > 0, model.Demand{Kind: model.DemandChecks, Names: f.RequiredChecks})
	f.Demands = demands
}

// users are the other pull requests of a list; those of forks have a branch of the same name and not this one.
func (r *factsReading) users(list threads, number int, heads bool) (out []int) {
	for _, n := range list.Nodes {
		if n != nil && n.Number != number && !(heads && n.IsCrossRepository) {
			out = append(out, n.Number)
		}
	}
	if list.PageInfo.HasNextPage {
		r.refused("heads")
	}
	return out
}

// take reads a page. What is null in it was refused.
func (r *factsReading) take(n *threadNode) {
	if n.Opinions != nil {
		for _, o := range n.Opinions.Nodes {
			if o == nil {
				r.refused("opinions")
				continue
			}
			r.facts.Reviews = append(r.facts.Reviews, o.review())
		}
		r.step(&r.opinions, "opinions", n.Opinions.PageInfo)
	}
	if n.Checks == nil {
		return // on a further page, those behind the earlier ones are missing
	}
	for _, o := range n.Checks.Contexts.Nodes {
		if o == nil || o.Typename == "" {
			r.refused("checks")
			continue
		}
		if !o.dropped() {
			r.facts.Checks = append(r.facts.Checks, o.check())
		}
	}
	r.step(&r.checks, "checks", n.Checks.Contexts.PageInfo)
}

// step goes on to the next page. What is behind a page that has no end is missing.
func (r *factsReading) step(c *cursor, alias string, p pageInfo) {
	if !c.next(p) && p.HasNextPage {
		r.refused(alias)
	}
}

// told gives the facts: the checks that count, in the order of their names.
func (r *factsReading) told() model.MergeFacts {
	if r.opinions.more {
		r.refused("opinions")
	}
	if r.checks.more {
		r.refused("checks")
	}
	f := r.facts
	f.Partial = len(f.Missing) > 0
	f.Checks = model.Current(f.Checks)
	slices.SortStableFunc(f.Checks, func(a, b model.Check) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.App, b.App))
	})
	return f
}
