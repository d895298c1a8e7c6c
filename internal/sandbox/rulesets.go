package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// listBranchRules is repos-get-branch-rules: the active rules of a branch, for everybody's eyes. Who may bypass them is not
// among them. https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func listBranchRules(q *request) (any, error) {
	out := []obj{}
	p := q.repo.protection(q.r.PathValue("branch"))
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
	out := []obj{}
	for _, rule := range []struct {
		there bool
		kind  string
	}{{!p.Deletes, "deletion"}, {!p.Forces, "non_fast_forward"}, {p.Signed, "required_signatures"}} {
		if rule.there {
			out = append(out, obj{"type": rule.kind})
		}
	}
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
	if p.Queue != "" {
		out = append(out, obj{"type": "merge_queue", "parameters": obj{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": p.Queue, "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
		}})
	}
	return out
}

// getRuleset is repos-get-repo-ruleset. Everybody who may read is told whether they may bypass it, and only who may write it
// who else may: https://docs.github.com/en/rest/repos/rules#get-a-repository-ruleset
func getRuleset(q *request) (any, error) {
	branch, err := rulesetNamed(q)
	if err != nil {
		return nil, err
	}
	return rulesetOf(q, branch, q.repo.Protections[branch]), nil
}

// everyBranch is the condition of a ruleset that holds for all branches, and the key of its protection. Refs that are no
// branches are no affair of a ruleset whose target is branches.
const everyBranch = "~ALL"

// protection is what protects a branch: its own rules, else those of all branches; nil for nothing.
func (r *Repository) protection(branch string) *Protection {
	if p := r.Protections[branch]; p != nil {
		return p
	}
	return r.Protections[everyBranch]
}

// rulesetInput is the body of repos-create-repo-ruleset, as far as the sandbox serves it.
type rulesetInput struct {
	Name, Target, Enforcement string
	Conditions                struct {
		Refs struct{ Include []string } `json:"ref_name"`
	}
	Rules []struct {
		Type       string
		Parameters struct {
			Approvals int                        `json:"required_approving_review_count"`
			Strict    bool                       `json:"strict_required_status_checks_policy"`
			Required  []struct{ Context string } `json:"required_status_checks"`
			Method    string                     `json:"merge_method"`
		}
	}
}

// protection is the protection that a ruleset is. What the sandbox does not serve is refused.
func (in rulesetInput) protection(id int64) (*Protection, error) {
	p := &Protection{Ruleset: id, Name: in.Name, Forces: true, Deletes: true}
	for _, rule := range in.Rules {
		switch rule.Type {
		case "deletion":
			p.Deletes = false
		case "non_fast_forward":
			p.Forces = false
		case "required_signatures":
			p.Signed = true
		case "pull_request":
			p.Pull, p.Approvals = true, rule.Parameters.Approvals
		case "required_status_checks":
			p.Strict = rule.Parameters.Strict
			for _, c := range rule.Parameters.Required {
				p.Checks = append(p.Checks, c.Context)
			}
		case "required_linear_history":
			p.Linear = true
		case "merge_queue":
			p.Queue = rule.Parameters.Method
		default:
			return nil, unprocessable("Invalid rule '" + rule.Type + "': the sandbox does not serve it")
		}
	}
	return p, nil
}

// createRuleset is repos-create-repo-ruleset, for active rulesets of one branch or of all that nobody bypasses; each branch
// has one protection here. https://docs.github.com/en/rest/repos/rules#create-a-repository-ruleset
func createRuleset(q *request) (any, error) {
	in := rulesetInput{Target: "branch"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	include := in.Conditions.Refs.Include
	if in.Name == "" || in.Target != "branch" || in.Enforcement != "active" || len(include) != 1 {
		return nil, unprocessable("Invalid request.\n\nThe sandbox serves active rulesets with a name for one branch, or for " + everyBranch + ".")
	}
	branch, isBranch := strings.CutPrefix(include[0], "refs/heads/")
	if !isBranch && branch != everyBranch {
		return nil, unprocessable("Validation Failed: Conditions Ref name: the sandbox serves refs/heads/NAME and " + everyBranch)
	}
	for _, p := range q.repo.Protections {
		if p.Ruleset != 0 && p.Name == in.Name {
			return nil, invalidText("Ruleset", "name", "Name must be unique")
		}
	}
	if q.repo.Protections[branch] != nil {
		return nil, unprocessable("The sandbox has one protection for each branch.")
	}
	p, err := in.protection(q.s.world.nextSmallID())
	if err != nil {
		return nil, err
	}
	q.repo.Protections[branch] = p
	return &reply{http.StatusCreated, rulesetOf(q, branch, p)}, q.s.refs.protectionChanged(q.repo)
}

// listRulesets is repos-get-repo-rulesets: without their rules.
func listRulesets(q *request) (any, error) {
	var branches []string
	for branch, p := range q.repo.Protections {
		if p.Ruleset != 0 {
			branches = append(branches, branch)
		}
	}
	slices.Sort(branches)
	return paginate(q, branches, func(branch string) obj {
		o := rulesetOf(q, branch, q.repo.Protections[branch])
		for _, detail := range []string{"rules", "conditions", "current_user_can_bypass"} {
			delete(o, detail)
		}
		return o
	}), nil
}

// deleteRuleset is repos-delete-repo-ruleset.
func deleteRuleset(q *request) (any, error) {
	branch, err := rulesetNamed(q)
	if err != nil {
		return nil, err
	}
	delete(q.repo.Protections, branch)
	return &reply{status: http.StatusNoContent}, q.s.refs.protectionChanged(q.repo)
}

// rulesetNamed is the branch whose ruleset a path names.
func rulesetNamed(q *request) (string, error) {
	id, _ := strconv.ParseInt(q.r.PathValue("ruleset_id"), 10, 64)
	for branch, p := range q.repo.Protections {
		if p.Ruleset != 0 && p.Ruleset == id {
			return branch, nil
		}
	}
	return "", errNotFound
}

// rulesetOf renders the schema repository-ruleset, as the request's caller sees it.
func rulesetOf(q *request, branch string, p *Protection) obj {
	may, include := "never", "refs/heads/"+branch
	if q.user != nil && p.letsPass(q.user.Login) {
		may = "always"
	}
	if branch == everyBranch {
		include = everyBranch
	}
	return obj{
		"id": p.Ruleset, "name": cmp.Or(p.Name, "rules of "+branch), "target": "branch", "source_type": "Repository",
		"source": q.repo.FullName(), "enforcement": "active", "current_user_can_bypass": may, "rules": p.rules(),
		"conditions": obj{"ref_name": obj{"include": []string{include}, "exclude": []string{}}},
	}
}
