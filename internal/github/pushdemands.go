package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Pusher is who would push to a branch, as far as that is known.
type Pusher struct {
	Login       string
	Administers bool // the repository, so that branch protection need not hold
	// RuleKnown says that GitHub has told the branch protection already, as MergeFacts reads it. It does not tell it to
	// administrators: https://github.com/fpicalausa/remove-stale-branches/issues/76
	RuleKnown bool
}

// PushDemands reads what a branch demands of a push by this token: one or two calls, and one more for each ruleset that may
// hold for it. What GitHub does not show is left out.
func (c Repositories) PushDemands(ctx context.Context, repo model.Repo, branch string, who Pusher) ([]model.Demand, error) {
	op := fmt.Sprintf("read the rules of branch %s of %s", branch, repo)
	rules, err := c.binding(ctx, op, repo, branch, ruleKinds)
	if err != nil || who.RuleKnown {
		return rules, err
	}
	more, err := c.protects(ctx, op, repo, branch, who)
	return append(rules, more...), err
}

// headKinds keep a branch from being rewritten.
var headKinds = map[string]model.DemandKind{
	"non_fast_forward": model.DemandForce, "update": model.DemandPushers, "pull_request": model.DemandPull, "merge_queue": model.DemandQueue,
	"required_status_checks": model.DemandChecks, "required_signatures": model.DemandSignatures,
}

// HeadDemands reads what keeps this token from rewriting the branch of a pull request: one call where nothing protects it, and one
// for its rules and one for each ruleset of them where those do. What branch protection allows in detail is for administrators to
// see, so that it keeps everybody out. The list is never nil.
// https://docs.github.com/rest/branches/branches#list-branches has it that rulesets protect a branch, too
func (c Repositories) HeadDemands(ctx context.Context, repo model.Repo, branch string) ([]model.Demand, error) {
	op := fmt.Sprintf("read what protects branch %s of %s", oneLine(branch), repo)
	seen, err := c.branch(ctx, op, repo, branch)
	switch {
	case unlessHidden(err) != nil:
		return nil, err
	case err != nil || !seen.Protected:
		return []model.Demand{}, nil
	case seen.Protection.Enabled:
		return []model.Demand{{Kind: model.DemandForce, Source: branchProtection}}, nil
	}
	rules, err := c.binding(ctx, op, repo, branch, headKinds)
	if err != nil {
		return nil, err
	}
	return append([]model.Demand{}, rules...), nil
}

// unlessHidden is err, or nil where GitHub does not show something to this token, or does not have it.
func unlessHidden(err error) error { return unless(err, Forbidden, NotFound) }

// binding are the demands of rulesets that this token may not bypass. An older server has none, or does not tell who may.
// https://docs.github.com/rest/repos/rules#get-a-repository-ruleset
func (c Repositories) binding(ctx context.Context, op string, repo model.Repo, branch string, kinds map[string]model.DemandKind) ([]model.Demand, error) {
	rules, err := c.rules(ctx, op, repo, branch, kinds)
	if err != nil {
		return nil, unlessHidden(err)
	}
	passes := map[int64]bool{}
	for _, d := range rules {
		if _, asked := passes[d.Ruleset]; asked {
			continue
		}
		var node struct {
			Bypass string `json:"current_user_can_bypass"`
		}
		if err := unlessHidden(c.read(ctx, op, repo, fmt.Sprintf("rulesets/%d", d.Ruleset), &node)); err != nil {
			return nil, err
		}
		passes[d.Ruleset] = node.Bypass == "always" || node.Bypass == "exempt"
	}
	return slices.DeleteFunc(rules, func(d model.Demand) bool { return passes[d.Ruleset] }), nil
}

// protects are the demands of branch protection that hold for a push. Only administrators see all of it, and only for them it
// may not hold.
func (c Repositories) protects(ctx context.Context, op string, repo model.Repo, branch string, who Pusher) ([]model.Demand, error) {
	seen, err := c.branch(ctx, op, repo, branch)
	if err != nil || !seen.Protected {
		return nil, unlessHidden(err)
	}
	if who.Administers {
		protection, err := c.protection(ctx, op, repo, branch)
		switch {
		case err == nil && (protection == nil || protection.EnforceAdmins == nil || !protection.EnforceAdmins.Enabled):
			return nil, nil
		case err == nil:
			return slices.DeleteFunc(protectionDemands(protection), func(d model.Demand) bool { return lets(d, who.Login) }), nil
		case unlessHidden(err) != nil:
			return nil, err
		}
	}
	checks := seen.Protection.Checks
	if len(checks.Contexts) == 0 || who.Administers && checks.Level != "everyone" {
		return nil, nil
	}
	return []model.Demand{{Kind: model.DemandChecks, Source: branchProtection, Names: checks.Contexts}}, nil
}

// lets says that a demand names those who may push, and this account among them.
func lets(d model.Demand, login string) bool {
	return d.Kind == model.DemandPushers && slices.ContainsFunc(d.Names, func(n string) bool { return strings.EqualFold(n, login) })
}
