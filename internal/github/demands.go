package github

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// demands reads what a branch demands of a push: from its protection, which is for administrators, and from the rules of
// rulesets, which everybody may see. Whether the branch is protected at all, and by which checks, everybody may see too.
func (c Repositories) demands(ctx context.Context, repo model.Repo, branch string) model.BranchDemands {
	rules, err := c.rules(ctx, "read the rules of a branch", repo, branch, ruleKinds)
	if err != nil {
		return model.BranchDemands{Why: c.unseen("read the rules of a branch", err)}
	}
	d := model.BranchDemands{Known: true, List: rules}
	seen, err := c.branch(ctx, "read a branch", repo, branch)
	switch {
	case err != nil:
		d.Known, d.Why = false, c.unseen("read a branch", err)
		return d
	case !seen.Protected:
		return d
	}
	protection, err := c.protection(ctx, "read the branch protection", repo, branch)
	if d.List = append(d.List, protectionDemands(protection)...); err != nil {
		d.Known, d.Why = false, c.unseen("read the branch protection", err)
		if checks := seen.Protection.Checks.Contexts; len(checks) > 0 {
			d.List = append(d.List, model.Demand{Kind: model.DemandChecks, Source: branchProtection, Names: checks})
		}
	}
	return d
}

const branchProtection = "branch protection"

// branchFacts is what everybody may see of a branch. go-github leaves out how it is protected.
type branchFacts struct {
	Protected  bool
	Protection struct {
		Enabled bool // there is branch protection
		Checks  struct {
			Contexts []string
			Level    string `json:"enforcement_level"` // "off", "non_admins", or "everyone"
		} `json:"required_status_checks"`
	}
}

// https://docs.github.com/rest/branches/branches#get-a-branch
func (c Repositories) branch(ctx context.Context, op string, repo model.Repo, branch string) (branchFacts, error) {
	var node branchFacts
	return node, c.read(ctx, op, repo, "branches/"+url.PathEscape(branch), &node)
}

// protection is the protection of a branch; nil: it has none, since rulesets alone make a branch protected, too.
// https://docs.github.com/rest/branches/branch-protection#get-branch-protection
func (c Repositories) protection(ctx context.Context, op string, repo model.Repo, branch string) (*gogithub.Protection, error) {
	p := new(gogithub.Protection)
	err := c.read(ctx, op, repo, fmt.Sprintf("branches/%s/protection", url.PathEscape(branch)), p)
	if e, ok := err.(*Error); ok && strings.Contains(e.Message, "Branch not protected") {
		return nil, nil
	}
	return p, err
}

// classic are the demands of branch protection.
type classic []model.Demand

// add adds a demand, if it is there.
func (c *classic) add(there bool, d model.Demand) {
	if there {
		d.Source = branchProtection
		*c = append(*c, d)
	}
}

// protectionDemands translates branch protection.
func protectionDemands(p *gogithub.Protection) (out classic) {
	if p == nil {
		return nil
	}
	reviews, checks := p.GetRequiredPullRequestReviews(), p.GetRequiredStatusChecks()
	bypass := false
	if reviews != nil && reviews.BypassPullRequestAllowances != nil {
		b := reviews.BypassPullRequestAllowances
		bypass = len(b.Users)+len(b.Teams)+len(b.Apps) > 0
	}
	out.add(reviews != nil, model.Demand{Kind: model.DemandPull, Bypass: bypass})
	out.add(checks != nil, model.Demand{Kind: model.DemandChecks, Names: checkNames(checks)})
	out.add(p.RequireLinearHistory != nil && p.RequireLinearHistory.Enabled, model.Demand{Kind: model.DemandLinear})
	out.add(p.GetRequiredSignatures().GetEnabled(), model.Demand{Kind: model.DemandSignatures})
	out.add(p.GetLockBranch().GetEnabled(), model.Demand{Kind: model.DemandLocked})
	if r := p.GetRestrictions(); r != nil {
		var names []string
		for _, u := range r.Users {
			names = append(names, u.GetLogin())
		}
		for _, a := range r.Apps {
			names = append(names, a.GetSlug()+"[bot]")
		}
		for _, t := range r.Teams {
			names = append(names, "team "+t.GetSlug())
		}
		out.add(true, model.Demand{Kind: model.DemandPushers, Names: names})
	}
	return out
}

// checkNames are the checks that have to pass. An older server names them elsewhere.
func checkNames(checks *gogithub.RequiredStatusChecks) (names []string) {
	if checks == nil {
		return nil
	}
	if checks.Checks != nil {
		for _, one := range *checks.Checks {
			names = append(names, one.Context)
		}
	}
	if len(names) == 0 && checks.Contexts != nil {
		names = *checks.Contexts
	}
	return names
}

// ruleNode is one rule of a ruleset. go-github's own type loses which ruleset it is of, and refuses rules that it does
// not know.
type ruleNode struct {
	Type       string
	Ruleset    int64 `json:"ruleset_id"`
	Parameters struct {
		Checks  []struct{ Context string } `json:"required_status_checks"`
		Methods []string                   `json:"allowed_merge_methods"`
	}
}

var ruleKinds = map[string]model.DemandKind{
	"pull_request": model.DemandPull, "required_status_checks": model.DemandChecks, "required_linear_history": model.DemandLinear,
	"required_signatures": model.DemandSignatures, "update": model.DemandPushers, "merge_queue": model.DemandQueue,
}

// newBranchKinds are those that bear on a branch which is made, pushed to and deleted again.
var newBranchKinds = map[string]model.DemandKind{
	"creation": model.DemandCreators, "update": model.DemandPushers, "deletion": model.DemandDeleters, "branch_name_pattern": model.DemandName,
	"pull_request": model.DemandPull, "required_status_checks": model.DemandChecks, "required_signatures": model.DemandSignatures,
	"non_fast_forward": model.DemandForce,
}

// NewBranchDemands reads what a branch of this name would be held to, which need not be there. Rulesets tell; of branch
// protection with a pattern only administrators see anything, and it is left out.
func (c Repositories) NewBranchDemands(ctx context.Context, repo model.Repo, branch string) model.BranchDemands {
	rules, err := c.rules(ctx, "read the rules of a branch", repo, branch, newBranchKinds)
	if err != nil {
		return model.BranchDemands{Why: c.unseen("read the rules of a branch", err)}
	}
	return model.BranchDemands{Known: true, List: rules}
}

// rules reads the active rules of the given kinds that apply to a branch; who may bypass them is not in the answer.
// https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
func (c Repositories) rules(ctx context.Context, op string, repo model.Repo, branch string, kinds map[string]model.DemandKind) ([]model.Demand, error) {
	nodes, err := listOf[ruleNode](ctx, c.conn, op, repo, "rules/branches/"+url.PathEscape(branch), url.Values{}, mostRefPages)
	if err != nil {
		return nil, err
	}
	var out []model.Demand
	for _, n := range nodes {
		kind, ok := kinds[n.Type]
		if !ok {
			continue
		}
		d := model.Demand{Kind: kind, Source: fmt.Sprintf("ruleset %d", n.Ruleset), Ruleset: n.Ruleset, Bypass: true, Methods: n.Parameters.Methods}
		for _, check := range n.Parameters.Checks {
			d.Names = append(d.Names, check.Context)
		}
		out = append(out, d)
	}
	return out, nil
}
