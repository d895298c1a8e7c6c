package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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

type mergeFactsData struct {
	Repository *struct {
		MergeCommitAllowed, SquashMergeAllowed, RebaseMergeAllowed bool
		ViewerCanAdminister, DeleteBranchOnMerge                   bool
		Heads, Bases, Past, Below, Fed                             connection[userNode]
		PullRequest                                                *mergeNode
	}
}

type userNode struct {
	Number              int
	IsCrossRepository   bool
	BaseRefName         string
	CreatedAt, MergedAt time.Time
}

type mergeNode struct {
	HeadRefOID  string `json:"headRefOid"`
	BaseRefOID  string `json:"baseRefOid"`
	Mergeable   string
	MergeCommit *struct{ OID string }
	Commits     struct{ TotalCount int }
	BaseRef     *struct {
		Target *struct{ OID string }
		Rule   *updateRuleNode
	}
	Opinions *connection[*opinionNode]
	Awaited  connection[struct{ RequestedReviewer struct{ Login, Slug string } }]
	Checks   *rollupNode
}

type updateRuleNode struct {
	ViewerCanPush                bool
	RequiredStatusCheckContexts  []string
	RequiredApprovingReviewCount int
	RequiresLinearHistory        bool
	RequiresSignatures           bool
}

type opinionNode struct {
	Author      *actorNode
	State       string
	Commit      *struct{ OID string }
	SubmittedAt *time.Time
	URL         string
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

type rollupNode struct {
	Commit   *struct{ OID string }
	Contexts contextsNode
}

// MergeFacts reads what has to be known before pull request number may be merged: one GraphQL request, and up to three
// more where there are more than 100 checks or reviews, of which it reads 400 each. head is the pull request's head branch where that is in the same
// repository, to find who else uses it; "" asks for no Users. base is its base where that may be the branch of a merged pull request;
// "" does not ask. Parts that the token may not see are named in Missing.
func (c Threads) MergeFacts(ctx context.Context, repo model.Repo, number int, head, base string) (model.MergeFacts, error) {
	op := fmt.Sprintf("read what a merge of %s#%d needs", repo, number)
	if err := checkRepo(repo); err != nil {
		return model.MergeFacts{}, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name, "number": number, "branch": head, "askBranch": head != "", "base": base, "askBase": base != ""}
	r := factsReading{repo: repo, number: number}
	n, err := c.mergePage(ctx, op, mergeFactsDocument, variables, &r)
	if err != nil {
		return model.MergeFacts{}, err
	}
	r.start(n, number)
	for pages := 1; (r.opinions.more || r.checks.more) && r.read < mostChecks && pages < mostPages; pages++ {
		if _, err := c.mergePage(ctx, op, mergeMoreDocument, r.further(), &r); err != nil {
			return model.MergeFacts{}, err
		}
	}
	return r.told(), nil
}

// mergePage reads one page of checks and reviews into r.
func (c Threads) mergePage(ctx context.Context, op, document string, variables map[string]any, r *factsReading) (*mergeFactsData, error) {
	may := []string{"requestedReviewer"}
	for _, p := range factParts {
		may = append(may, p.alias)
	}
	var data *mergeFactsData
	var missing []string
	err := c.inPages(ctx, pagesOfFacts, func(ctx context.Context, step int) (err error) {
		data, variables["page"] = new(mergeFactsData), pageLimits[step]
		_, missing, err = c.queryParts(ctx, op, document, variables, data, may...)
		if err == nil {
			r.read += pageLimits[step]
		}
		return err
	})
	if err != nil {
		return nil, named(err, Query{Repo: r.repo, Number: r.number})
	}
	if data.Repository == nil || data.Repository.PullRequest == nil {
		return nil, named(&Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Fix: fixHidden}, Query{Repo: r.repo, Number: r.number})
	}
	r.refused(missing)
	if slices.Contains(missing, "checks") {
		r.facts.ChecksHidden = c.checksHidden()
	}
	r.take(data.Repository.PullRequest)
	return data, nil
}

// factsReading gathers the facts from page to page.
type factsReading struct {
	repo             model.Repo
	number           int
	facts            model.MergeFacts
	opinions, checks cursor
	read             int // how many checks and reviews each were asked for
}

func (r *factsReading) refused(aliases []string) {
	for _, p := range factParts {
		if slices.Contains(aliases, p.alias) && !slices.Contains(r.facts.Missing, p.name) {
			r.facts.Missing = append(r.facts.Missing, p.name)
		}
	}
}

// start takes what only the first page has.
func (r *factsReading) start(data *mergeFactsData, number int) {
	f, n := &r.facts, data.Repository.PullRequest
	f.HeadSHA, f.BaseRecorded, f.Conflicting, f.Commits = n.HeadRefOID, n.BaseRefOID, n.Mergeable == "CONFLICTING", n.Commits.TotalCount
	for _, asked := range n.Awaited.Nodes {
		f.Awaited = append(f.Awaited, cmp.Or(asked.RequestedReviewer.Login, asked.RequestedReviewer.Slug, "a team that the token may not see"))
	}
	if n.MergeCommit != nil {
		f.MergeCommit = n.MergeCommit.OID
	}
	if n.BaseRef != nil && n.BaseRef.Target != nil {
		f.BaseSHA = n.BaseRef.Target.OID
	}
	f.Administers, f.DeletesHeads = data.Repository.ViewerCanAdminister, data.Repository.DeleteBranchOnMerge
	if n.BaseRef != nil && n.BaseRef.Rule != nil {
		r.rule(n.BaseRef.Rule)
	}
	for _, method := range []struct {
		name    string
		allowed bool
	}{{"merge", data.Repository.MergeCommitAllowed}, {"squash", data.Repository.SquashMergeAllowed}, {"rebase", data.Repository.RebaseMergeAllowed}} {
		if method.allowed {
			f.Methods = append(f.Methods, method.name)
		}
	}
	r.branches(data, number)
}

// branches takes what other pull requests do with the head branch and the base.
func (r *factsReading) branches(data *mergeFactsData, number int) {
	f, repository := &r.facts, data.Repository
	f.Onto = r.users(repository.Bases, number, false)
	f.Users = append(r.users(repository.Heads, number, true), f.Onto...)
	slices.Sort(f.Users)
	f.Users = slices.Compact(f.Users)
	if past := repository.Past.Nodes; len(past) > 0 {
		f.Past = past[0].Number
	}
	f.Fed, f.BaseFed = firstMerge(repository.Past.Nodes), firstMerge(repository.Fed.Nodes)
	for _, n := range repository.Below.Nodes {
		if !n.IsCrossRepository && n.Number != 0 {
			f.Below = model.Merged{Number: n.Number, Base: n.BaseRefName, Opened: n.CreatedAt}
			break
		}
	}
}

// firstMerge is when the first of some pull requests was merged; zero: none was.
func firstMerge(list []userNode) (first time.Time) {
	for _, n := range list {
		if !n.MergedAt.IsZero() && (first.IsZero() || n.MergedAt.Before(first)) {
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
	if rule.RequiredApprovingReviewCount > 0 {
		f.Demands = append(f.Demands, model.Demand{Kind: model.DemandPull, Source: branchProtection})
	}
	if rule.RequiresSignatures {
		f.Demands = append(f.Demands, model.Demand{Kind: model.DemandSignatures, Source: branchProtection})
	}
	if len(rule.RequiredStatusCheckContexts) > 0 {
		f.Demands = append(f.Demands, model.Demand{Kind: model.DemandChecks, Source: branchProtection, Names: rule.RequiredStatusCheckContexts})
	}
}

// users are the other pull requests of a list; those of forks have a branch of the same name and not this one.
func (r *factsReading) users(list connection[userNode], number int, heads bool) (out []int) {
	for _, n := range list.Nodes {
		if n.Number != 0 && n.Number != number && !(heads && n.IsCrossRepository) {
			out = append(out, n.Number)
		}
	}
	if list.PageInfo.HasNextPage {
		r.refused([]string{"heads"})
	}
	return out
}

// take reads a page. What is null in it was refused.
func (r *factsReading) take(n *mergeNode) {
	if n.Opinions != nil {
		for _, o := range n.Opinions.Nodes {
			if o == nil {
				r.refused([]string{"opinions"})
				continue
			}
			r.facts.Reviews = append(r.facts.Reviews, o.review())
		}
		r.step(&r.opinions, "opinions", n.Opinions.PageInfo.HasNextPage, n.Opinions.PageInfo.EndCursor)
	}
	if n.Checks == nil {
		return // no check of any kind, or one that is refused
	}
	for _, o := range n.Checks.Contexts.Nodes {
		if o == nil || o.Typename == "" {
			r.refused([]string{"checks"})
			continue
		}
		if !o.dropped() {
			r.facts.Checks = append(r.facts.Checks, o.check())
		}
	}
	r.step(&r.checks, "checks", n.Checks.Contexts.PageInfo.HasNextPage, n.Checks.Contexts.PageInfo.EndCursor)
}

// step goes on to the next page. What is behind a page that has no end is missing.
func (r *factsReading) step(c *cursor, alias string, more bool, at string) {
	if c.step(more, at); more && !c.more {
		r.refused([]string{alias})
	}
}

func (r *factsReading) further() map[string]any {
	return map[string]any{
		"owner": r.repo.Owner, "name": r.repo.Name, "number": r.number,
		"moreOpinions": r.opinions.more, "opinionsAfter": orNull(r.opinions.at), "moreChecks": r.checks.more, "checksAfter": orNull(r.checks.at),
	}
}

// told gives the facts: the checks that count, in the order of their names.
func (r *factsReading) told() model.MergeFacts {
	if r.opinions.more {
		r.refused([]string{"opinions"})
	}
	if r.checks.more {
		r.refused([]string{"checks"})
	}
	f := r.facts
	f.Partial = len(f.Missing) > 0
	f.Checks = model.Current(f.Checks)
	slices.SortStableFunc(f.Checks, func(a, b model.Check) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.App, b.App))
	})
	return f
}

func (n *opinionNode) review() model.Review {
	r := model.Review{Login: n.Author.actor().Login, State: n.State, URL: n.URL}
	if n.Commit != nil {
		r.SHA = n.Commit.OID
	}
	if n.SubmittedAt != nil {
		r.At = n.SubmittedAt.UTC()
	}
	return r
}
