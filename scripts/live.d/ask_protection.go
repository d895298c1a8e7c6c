package main

import (
	"context"
	"fmt"
	"net/url"
)

// askProtection protects a branch in each of GitHub's two ways, and asks with each kind of token what is told of it and what
// it may do to it.
func askProtection(ctx context.Context, w *world) (any, error) {
	base, one, _, err := chain(ctx, w)
	if err != nil {
		return nil, err
	}
	classic, ruled := prefix+"/protected/classic", prefix+"/protected/ruled"
	if err := w.git.place(ctx, map[string]string{"refs/heads/" + classic: base, "refs/heads/" + ruled: base}); err != nil {
		return nil, err
	}
	a, err := w.admin.rest(ctx, "PUT", "~/branches/"+url.PathEscape(classic)+"/protection", facts{
		"required_status_checks": facts{"strict": false, "contexts": []string{"ci"}}, "enforce_admins": true, "restrictions": nil,
		"required_pull_request_reviews": nil, "required_linear_history": true,
	})
	if a, err = a.want(err, 200); err != nil {
		return nil, fmt.Errorf("protect a branch: %w", err)
	}
	made, err := w.admin.rest(ctx, "POST", "~/rulesets", facts{
		"name": prefix + " ruled", "target": "branch", "enforcement": "active", "conditions": facts{"ref_name": facts{"include": []string{"refs/heads/" + ruled}, "exclude": []string{}}},
		"rules": []facts{{"type": "deletion"}, {"type": "non_fast_forward"}, {"type": "pull_request", "parameters": facts{
			"required_approving_review_count": 0, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false}},
			{"type": "required_status_checks", "parameters": facts{"strict_required_status_checks_policy": false, "required_status_checks": []facts{{"context": "ci"}}}}},
	})
	if made, err = made.want(err, 201); err != nil {
		return nil, fmt.Errorf("make a ruleset: %w", err)
	}
	out := facts{"protection": facts{"rest shape": shape(a.body)}, "ruleset": facts{"rest shape": shape(made.body)}}
	for _, c := range w.callers() {
		of := facts{}
		for name, b := range map[string]string{"classic": classic, "ruled": ruled} {
			if of[name], err = tried(ctx, w, c, b, made.str("id"), one); err != nil {
				return nil, err
			}
		}
		out[c.kind] = of
	}
	return out, nil
}

// tried is what a token is told about a branch, and what moving it to another commit gets.
func tried(ctx context.Context, w *world, c *caller, b, ruleset, to string) (facts, error) {
	told, err := toldOf(ctx, w, c, b, ruleset)
	if err != nil {
		return nil, err
	}
	if told["a push"], err = w.git.push(ctx, c, nil, to+":refs/heads/"+b); err != nil {
		return nil, err
	}
	if told["a deletion"], err = w.git.push(ctx, c, nil, ":refs/heads/"+b); err != nil {
		return nil, err
	}
	moved, err := c.rest(ctx, "PATCH", "~/git/refs/heads/"+b, facts{"sha": to})
	told["by the API"] = moved.refusal()
	return told, err
}

// toldOf is what a token is told about a branch.
func toldOf(ctx context.Context, w *world, c *caller, b, ruleset string) (facts, error) {
	out := facts{}
	for name, path := range map[string]string{
		"branch": "~/branches/" + url.PathEscape(b), "protection": "~/branches/" + url.PathEscape(b) + "/protection",
		"rules": "~/rules/branches/" + url.PathEscape(b), "ruleset": "~/rulesets/" + ruleset, "checks": "~/commits/" + url.PathEscape(b) + "/check-runs",
	} {
		a, err := c.rest(ctx, "GET", path, nil)
		if err != nil {
			return nil, err
		}
		f := a.refusal()
		switch name {
		case "branch":
			f["protected"], f["protection"] = a.at("protected"), a.at("protection")
		case "rules":
			var types []any
			for _, r := range a.list() {
				types = append(types, facts{"type": at(r, "type"), "checks": at(r, "parameters.required_status_checks")})
			}
			f["rules"] = types
		case "ruleset":
			f["bypass"] = a.at("current_user_can_bypass")
		}
		out[name] = f
	}
	a, err := c.graph(ctx, `query($owner: String!, $name: String!, $ref: String!) { repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) {
		refUpdateRule { viewerCanPush requiredStatusCheckContexts requiredApprovingReviewCount requiresLinearHistory } } } }`,
		facts{"owner": w.repo.Owner, "name": w.repo.Name, "ref": "refs/heads/" + b})
	if err != nil {
		return nil, err
	}
	out["refUpdateRule"] = facts{"errors": graphErrors(a), "rule": a.at("data.repository.ref.refUpdateRule")}
	return out, nil
}
