package main

import (
	"context"
	"net/url"
)

// askProtection protects a branch in each of GitHub's two ways, and asks with each kind of token what is told of it and what
// it may do to it.
func askProtection(ctx context.Context, w *world) any {
	base, one, _ := chain(ctx, w)
	classic, ruled := prefix+"/protected/classic", prefix+"/protected/ruled"
	check(w.git.place(ctx, map[string]string{"refs/heads/" + classic: base, "refs/heads/" + ruled: base}))
	a, err := w.admin.need(ctx, "PUT", "~/branches/"+url.PathEscape(classic)+"/protection", facts{
		"required_status_checks": facts{"strict": false, "contexts": []string{"ci"}}, "enforce_admins": true, "restrictions": nil,
		"required_pull_request_reviews": nil, "required_linear_history": true,
	}, 200)
	check(named("protect a branch", err))
	made, err := w.admin.need(ctx, "POST", "~/rulesets", facts{
		"name": prefix + " ruled", "target": "branch", "enforcement": "active", "conditions": facts{"ref_name": facts{"include": []string{"refs/heads/" + ruled}, "exclude": []string{}}},
		"rules": []facts{{"type": "deletion"}, {"type": "non_fast_forward"}, {"type": "pull_request", "parameters": facts{
			"required_approving_review_count": 0, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false}},
			{"type": "required_status_checks", "parameters": facts{"strict_required_status_checks_policy": false, "required_status_checks": []facts{{"context": "ci"}}}}},
	}, 201)
	check(named("make a ruleset", err))
	out := facts{"protection": facts{"rest shape": shape(a.body)}, "ruleset": facts{"rest shape": shape(made.body)}}
	for _, c := range w.callers() {
		of := facts{}
		for name, b := range map[string]string{"classic": classic, "ruled": ruled} {
			of[name] = tried(ctx, w, c, b, made.str("id"), one)
		}
		out[c.kind] = of
	}
	return out
}

// tried is what a token is told about a branch, and what moving it to another commit gets.
func tried(ctx context.Context, w *world, c *caller, b, ruleset, to string) facts {
	told := toldOf(ctx, w, c, b, ruleset)
	told["a push"] = got(w.git.push(ctx, c, nil, to+":refs/heads/"+b))
	told["a deletion"] = got(w.git.push(ctx, c, nil, ":refs/heads/"+b))
	told["by the API"] = got(c.rest(ctx, "PATCH", "~/git/refs/heads/"+b, facts{"sha": to})).refusal()
	return told
}

// toldOf is what a token is told about a branch.
func toldOf(ctx context.Context, w *world, c *caller, b, ruleset string) facts {
	out := facts{}
	for name, path := range map[string]string{
		"branch": "~/branches/" + url.PathEscape(b), "protection": "~/branches/" + url.PathEscape(b) + "/protection",
		"rules": "~/rules/branches/" + url.PathEscape(b), "ruleset": "~/rulesets/" + ruleset, "checks": "~/commits/" + url.PathEscape(b) + "/check-runs",
	} {
		a := got(c.rest(ctx, "GET", path, nil))
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
	a := got(c.graph(ctx, `query($owner: String!, $name: String!, $ref: String!) { repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) {
		refUpdateRule { viewerCanPush requiredStatusCheckContexts requiredApprovingReviewCount requiresLinearHistory } } } }`,
		facts{"owner": w.repo.Owner, "name": w.repo.Name, "ref": "refs/heads/" + b}))
	out["refUpdateRule"] = facts{"errors": graphErrors(a), "rule": a.at("data.repository.ref.refUpdateRule")}
	return out
}
