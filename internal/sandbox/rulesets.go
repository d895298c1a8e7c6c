package sandbox

import (
	"net/http"
	"strconv"
)

// listBranchRules is repos-get-branch-rules: the active rules of a branch, for everybody's eyes. Who may bypass them is not
// among them. https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func listBranchRules(q *request) (any, error) {
	out := []obj{}
	p := q.repo.Protections[q.r.PathValue("branch")]
	if p == nil || p.Ruleset == 0 {
		return out, nil
	}
	for _, rule := range p.rules() {
		rule["ruleset_source_type"], rule["ruleset_source"], rule["ruleset_id"] = "Repository", q.repo.FullName(), p.Ruleset
		out = append(out, rule)
	}
	return paginate(q, out, func(rule obj) obj { return rule }), nil
}

// rules are those of a ruleset.
func (p *Protection) rules() []obj {
	out := []obj{{"type": "deletion"}, {"type": "non_fast_forward"}}
	if p.Pull || p.Approvals > 0 {
		out = append(out, obj{"type": "pull_request", "parameters": obj{
			"required_approving_review_count": p.Approvals, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false,
		}})
	}
	if len(p.Checks) > 0 {
		checks := []obj{}
		for _, name := range p.Checks {
			checks = append(checks, obj{"context": name})
		}
		out = append(out, obj{"type": "required_status_checks", "parameters": obj{
			"required_status_checks": checks, "strict_required_status_checks_policy": p.Strict,
		}})
	}
	if p.Linear {
		out = append(out, obj{"type": "required_linear_history"})
	}
	return out
}

// getRuleset is repos-get-repo-ruleset. Everybody who may read is told whether they may bypass it, and only who may write it
// who else may: https://docs.github.com/en/rest/repos/rules#get-a-repository-ruleset
func getRuleset(q *request) (any, error) {
	id, _ := strconv.ParseInt(q.r.PathValue("ruleset_id"), 10, 64)
	for branch, p := range q.repo.Protections {
		if p.Ruleset == 0 || p.Ruleset != id {
			continue
		}
		may := "never"
		if p.letsPass(q.user.Login) {
			may = "always"
		}
		return obj{
			"id": id, "name": "rules of " + branch, "target": "branch", "source_type": "Repository", "source": q.repo.FullName(), "enforcement": "active",
			"current_user_can_bypass": may, "rules": p.rules(),
			"conditions": obj{"ref_name": obj{"include": []string{"refs/heads/" + branch}, "exclude": []string{}}},
		}, nil
	}
	return nil, &failure{status: http.StatusNotFound, message: "Not Found"}
}
