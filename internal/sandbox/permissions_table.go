package sandbox

const (
	readsIssue  demand = "issues=read; pull_requests=read"
	writesIssue demand = "issues=write; pull_requests=write"
)

// objectDemands are what GraphQL needs to show an object of a private repository. GitHub has no table of them; those of the
// same thing in REST hold. Seen are the checks (https://github.com/facebook/sapling/issues/993), one status among them
// (https://github.com/philips-software/pull-request-report-action/issues/557) and the run of a check
// (https://github.com/tellahq/opensession/pull/212).
var objectDemands = map[string]demand{
	"Issue":             "issues=read",
	"PullRequest":       "pull_requests=read",
	"Ref":               "contents=read",
	"GitObject":         "contents=read",
	"StatusCheckRollup": "checks=read; statuses=read",
	"CheckRun":          "checks=read",
	"CheckSuite":        "checks=read",
	"StatusContext":     "statuses=read",
	"WorkflowRun":       "actions=read",
}
