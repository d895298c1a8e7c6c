package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var branchRoutes = []route{
	{"GET /repos/{owner}/{repo}/branches", needRead, "contents=read", listBranches},
	{"GET /repos/{owner}/{repo}/branches/{branch}", needRead, "contents=read", getBranch},
	{"GET /repos/{owner}/{repo}/branches/{branch}/protection", needAdmin, "administration=read", getProtection},
	{"PUT /repos/{owner}/{repo}/branches/{branch}/protection", needAdmin, "administration=write", putProtection},
	{"DELETE /repos/{owner}/{repo}/branches/{branch}/protection", needAdmin, "administration=write", deleteProtection},
}

func (a addresses) branchProtection(r *Repository, branch string) string {
	return a.repositoryAPI(r) + "/branches/" + url.PathEscape(branch) + "/protection"
}

func listBranches(q *request) (any, error) {
	var names []string
	for ref := range q.repo.Refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && (q.query("protected") != "true" || q.repo.protection(name) != nil) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return paginate(q, names, func(name string) obj {
		sha := q.s.git.branchSHA(q.repo, name)
		return obj{
			"name": name, "commit": obj{"sha": sha, "url": q.s.urls.repositoryAPI(q.repo) + "/commits/" + sha},
			"protected": q.repo.protection(name) != nil, "protection_url": q.s.urls.branchProtection(q.repo, name),
		}
	}), nil
}

func getBranch(q *request) (any, error) {
	name := q.r.PathValue("branch")
	sha := q.s.git.branchSHA(q.repo, name)
	if sha == "" {
		return nil, &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	c, err := q.s.git.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	p := q.repo.classic(name)
	checks, level := []string{}, "off"
	if p != nil && len(p.Checks) > 0 {
		checks, level = p.Checks, "everyone"
	}
	self := q.s.urls.repositoryAPI(q.repo) + "/branches/" + url.PathEscape(name)
	return obj{
		"name": name, "commit": q.s.json.commit(q.repo, c), "_links": obj{"self": self, "html": q.s.urls.repository(q.repo) + "/tree/" + name},
		"protected": q.repo.protection(name) != nil, "protection_url": q.s.urls.branchProtection(q.repo, name),
		"protection": obj{
			"enabled":                p != nil,
			"required_status_checks": obj{"enforcement_level": level, "contexts": checks, "checks": []obj{}},
		},
	}, nil
}

// protection renders the schema protected-branch.
func (js views) protection(r *Repository, branch string) obj {
	p, self := r.Protections[branch], js.urls.branchProtection(r, branch)
	off := obj{"enabled": false}
	o := obj{
		"url": self, "enforce_admins": obj{"url": self + "/enforce_admins", "enabled": true}, "required_linear_history": off,
		"allow_force_pushes": obj{"enabled": p.Forces}, "allow_deletions": obj{"enabled": p.Deletes}, "block_creations": off, "required_conversation_resolution": off,
		"lock_branch": off, "allow_fork_syncing": off, "required_signatures": obj{"url": self + "/required_signatures", "enabled": p.Signed},
	}
	if len(p.Checks) > 0 {
		checks := []obj{}
		for _, c := range p.Checks {
			checks = append(checks, obj{"context": c, "app_id": nil})
		}
		o["required_status_checks"] = obj{
			"url": self + "/required_status_checks", "strict": p.Strict, "contexts": p.Checks, "checks": checks,
			"contexts_url": self + "/required_status_checks/contexts",
		}
	}
	o["required_linear_history"] = obj{"enabled": p.Linear}
	if p.Approvals > 0 || p.Pull {
		o["required_pull_request_reviews"] = obj{
			"url": self + "/required_pull_request_reviews", "required_approving_review_count": p.Approvals,
			"dismiss_stale_reviews": false, "require_code_owner_reviews": false, "require_last_push_approval": false,
		}
	}
	if p.Push != nil {
		o["restrictions"] = obj{
			"url": self + "/restrictions", "users_url": self + "/restrictions/users", "teams_url": self + "/restrictions/teams",
			"apps_url": self + "/restrictions/apps", "users": js.users(p.Push), "teams": []obj{}, "apps": []obj{},
		}
	}
	return o
}

func protectedBranch(q *request) (string, error) {
	name := q.r.PathValue("branch")
	switch {
	case q.s.git.branchSHA(q.repo, name) == "":
		return "", &failure{status: http.StatusNotFound, message: "Branch not found"}
	case q.repo.classic(name) == nil:
		return "", &failure{status: http.StatusNotFound, message: "Branch not protected"}
	}
	return name, nil
}

func getProtection(q *request) (any, error) {
	name, err := protectedBranch(q)
	if err != nil {
		return nil, err
	}
	return q.s.json.protection(q.repo, name), nil
}

func putProtection(q *request) (any, error) {
	name := q.r.PathValue("branch")
	if q.s.git.branchSHA(q.repo, name) == "" {
		return nil, &failure{status: http.StatusNotFound, message: "Branch not found"}
	}
	var in struct {
		Restrictions *struct{ Users, Apps []string }
		Checks       *struct {
			Strict   bool
			Contexts []string
		} `json:"required_status_checks"`
		Reviews *struct {
			Count *int `json:"required_approving_review_count"`
		} `json:"required_pull_request_reviews"`
		Linear  bool `json:"required_linear_history"`
		Forces  bool `json:"allow_force_pushes"`
		Deletes bool `json:"allow_deletions"`
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	p := &Protection{Linear: in.Linear, Forces: in.Forces, Deletes: in.Deletes}
	if in.Reviews != nil { // one, where no number is given: https://github.com/octokit/fixtures has it recorded
		p.Approvals = 1
		if in.Reviews.Count != nil {
			p.Approvals = *in.Reviews.Count
		}
		p.Pull = p.Approvals == 0
	}
	if in.Restrictions != nil {
		p.Push = append([]string{}, in.Restrictions.Users...)
		for _, app := range in.Restrictions.Apps {
			p.Push = append(p.Push, app+"[bot]")
		}
	}
	if in.Checks != nil {
		p.Strict, p.Checks = in.Checks.Strict, in.Checks.Contexts
	}
	q.repo.Protections[name] = p
	if err := q.s.refs.protectionChanged(q.repo); err != nil {
		return nil, err
	}
	return q.s.json.protection(q.repo, name), nil
}

func deleteProtection(q *request) (any, error) {
	name, err := protectedBranch(q)
	if err != nil {
		return nil, err
	}
	delete(q.repo.Protections, name)
	return &reply{status: http.StatusNoContent}, q.s.refs.protectionChanged(q.repo)
}
