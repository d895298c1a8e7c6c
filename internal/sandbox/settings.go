package sandbox

import (
	"net/http"
)

// settingRoutes are what a repository's administrators set and others only feel.
var settingRoutes = []route{
	{"GET /repos/{owner}/{repo}/actions/permissions/workflow", needAdmin, "administration=read", getWorkflowRights},
	{"PUT /repos/{owner}/{repo}/actions/permissions/workflow", needAdmin, "administration=write", withBody(putWorkflowRights)},
	{"GET /repos/{owner}/{repo}/rules/branches/{branch}", needRead, "metadata=read", listBranchRules},
	{"GET /repos/{owner}/{repo}/rulesets", needRead, "metadata=read", listRulesets},
	{"POST /repos/{owner}/{repo}/rulesets", needAdmin, "administration=write", createRuleset},
	{"GET /repos/{owner}/{repo}/rulesets/{ruleset_id}", needRead, "metadata=read", getRuleset},
	{"DELETE /repos/{owner}/{repo}/rulesets/{ruleset_id}", needAdmin, "administration=write", deleteRuleset},
}

// WorkflowRights are what workflows may do. The zero value is what a repository of the sandbox begins with: GitHub's
// own default is the opposite, since 2023, but most of what is tried here needs it set.
type WorkflowRights struct {
	ReadOnly bool `json:",omitempty"` // the token of a workflow without permissions may only read
	NoPulls  bool `json:",omitempty"` // workflows may not open or approve pull requests
}

// getWorkflowRights is actions-get-default-workflow-permissions:
// https://docs.github.com/en/rest/actions/permissions#get-default-workflow-permissions-for-a-repository
func getWorkflowRights(q *request) (any, error) {
	word := "write"
	if q.repo.WorkflowRights.ReadOnly {
		word = "read"
	}
	return obj{"default_workflow_permissions": word, "can_approve_pull_request_reviews": !q.repo.WorkflowRights.NoPulls}, nil
}

// putWorkflowRights leaves what is not named as it is.
func putWorkflowRights(q *request, in struct {
	Default *string `json:"default_workflow_permissions"`
	Pulls   *bool   `json:"can_approve_pull_request_reviews"`
}) (any, error) {
	rights := q.repo.WorkflowRights
	if in.Default != nil {
		if *in.Default != "read" && *in.Default != "write" {
			return nil, unprocessable("Invalid request.\n\n" + *in.Default + " is not a member of [\"read\", \"write\"].")
		}
		rights.ReadOnly = *in.Default == "read"
	}
	if in.Pulls != nil {
		rights.NoPulls = !*in.Pulls
	}
	q.repo.WorkflowRights = rights
	return q.changed()
}

// mayOpenPulls refuses a pull request of a workflow's token where the repository's settings do.
func mayOpenPulls(q *request) error {
	if q.repo.WorkflowRights.NoPulls && q.user.Login == actionsLogin {
		return &failure{status: http.StatusForbidden, message: "GitHub Actions is not permitted to create or approve pull requests."}
	}
	return nil
}

// mergeSettings are the ways to merge, and what becomes of a branch then, as PATCH of a repository has them.
type mergeSettings struct {
	Merge  *bool `json:"allow_merge_commit"`
	Squash *bool `json:"allow_squash_merge"`
	Rebase *bool `json:"allow_rebase_merge"`
	Delete *bool `json:"delete_branch_on_merge"`
}

// setMethods switches ways to merge on and off; one has to stay. https://docs.github.com/en/rest/repos/repos#update-a-repository
func setMethods(q *request, in mergeSettings) error {
	off := map[string]bool{}
	for method, on := range map[string]*bool{"merge": in.Merge, "squash": in.Squash, "rebase": in.Rebase} {
		if on == nil && q.repo.NoMethods[method] || on != nil && !*on {
			off[method] = true
		}
	}
	if len(off) == 3 {
		return invalidText("Repository", "merge_commit_allowed", "Sorry, need to allow at least one merge strategy. (no_merge_method)")
	}
	q.repo.NoMethods = off
	if in.Delete != nil {
		q.repo.DeletesHeads = *in.Delete
	}
	return nil
}
