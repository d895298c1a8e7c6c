package sandbox

// settingSteps set what administrators may, and try what follows from it.
var settingSteps = []step{
	{"octo", "GET", "~/actions/permissions/workflow", "", 200, ""},
	{"ann", "GET", "~/actions/permissions/workflow", "", 403, ""},
	{"actions", "GET", "~/actions/permissions/workflow", "", 403, ""},
	{"octo", "PUT", "~/actions/permissions/workflow", `{"default_workflow_permissions": "all"}`, 422, ""},
	{"octo", "PUT", "~/actions/permissions/workflow", `{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": false}`, 204, ""},
	{"ann", "PUT", "~/actions/permissions/workflow", `{"can_approve_pull_request_reviews": true}`, 403, ""},
	{"octo", "GET", "~/actions/permissions/workflow", "", 200, ""},
	{"ann", "POST", "~/git/refs", `{"ref": "refs/heads/late", "sha": "$commit"}`, 201, ""},
	{"actions", "POST", "~/pulls", `{"title": "Not by a workflow", "head": "late", "base": "main"}`, 403, ""},
	{"octo", "PUT", "~/actions/permissions/workflow", `{"can_approve_pull_request_reviews": true}`, 204, ""},
	{"actions", "POST", "~/pulls", `{"title": "By a workflow", "head": "late", "base": "main"}`, 201, ""},
	{"", "GET", "~/rules/branches/main", "", 200, ""},
	{"", "GET", "~/rules/branches/not-there-yet", "", 200, ""},
	{"", "GET", "/repos/octo/hidden/rules/branches/main", "", 404, ""},
	{"", "GET", "~/rules/branches/ruled", "", 200, ""},
	{"ann", "GET", "~/rulesets/42", "", 200, ""},
	{"", "GET", "~/rulesets/43", "", 404, ""},
	{"ann", "DELETE", "/repos/octo/spare", "", 403, ""},
	{"actions", "DELETE", "/repos/octo/spare", "", 403, ""},
	{"octo", "DELETE", "/repos/octo/spare", "", 204, ""},
	{"octo", "DELETE", "/repos/octo/spare", "", 404, ""},
	{"octo", "GET", "/repos/octo/spare", "", 404, ""},
}
