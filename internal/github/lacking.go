package github

import (
	"slices"
	"strings"
)

// lackingFix says where the permissions are given that a token lacks. needs are in the form of GitHub's header
// X-Accepted-GitHub-Permissions: "issues=write; pull_requests=write" where one of both is enough, "administration=write,contents=read"
// where both are needed.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
func lackingFix(needs string) string {
	var ways []string
	for set := range strings.SplitSeq(needs, ";") {
		var each []string
		for one := range strings.SplitSeq(set, ",") {
			name, level, ok := strings.Cut(strings.TrimSpace(one), "=")
			if !ok {
				return "give the token the permission " + needs
			}
			each = append(each, strings.ReplaceAll(name, "_", "-")+": "+level)
		}
		ways = append(ways, "`"+strings.Join(each, ", ")+"`")
	}
	return "add " + strings.Join(ways, " or ") + " to the job's `permissions` in the workflow's file, or use a token that has it"
}

// fieldNeeds are the permissions by which GitHub shows a field of a private repository, by the names and aliases that our
// queries have for it. GraphQL does not tell them; those of the same thing in REST hold:
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
var fieldNeeds = []struct {
	needs  string
	fields []string
}{
	{"checks=read,statuses=read", []string{"statusCheckRollup", "checks"}},
	{"checks=read", []string{"checkSuites"}},
	{"actions=read", []string{"workflowRun"}},
	{"pull_requests=read", []string{"pullRequest", "pullRequests", "branchPulls", "heads", "bases", "associatedPullRequests", "closedBy", "reviewThreads"}},
	{"issues=read", []string{"issue", "issues", "closingIssuesReferences"}},
	{"issues=read,pull_requests=read", []string{"issueOrPullRequest"}},
	{"contents=read", []string{"defaultBranchRef", "branch", "baseRef", "headRef", "ref", "refs", "object"}},
}

// lacks is what the token needs to see the field that an error of a query is about, or "" where that is not known.
func (e graphError) lacks() string {
	for _, step := range slices.Backward(e.Path) {
		for _, f := range fieldNeeds {
			if name, ok := step.(string); ok && slices.Contains(f.fields, name) {
				return f.needs
			}
		}
	}
	return ""
}

// where is the path of an error of a query, without the places in lists: "repository.pullRequest".
func (e graphError) where() string {
	var names []string
	for _, step := range e.Path {
		if name, ok := step.(string); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ".")
}
