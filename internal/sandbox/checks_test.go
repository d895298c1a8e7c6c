package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChecksTellWebhooksOfTheirPullRequests(t *testing.T) {
	w, c := townWithClone(t)
	sha := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	before := w.deliveries()
	check := w.as("github-actions[bot]", "POST", repoPath+"/check-runs", obj{"name": "ci", "head_sha": sha}).want(201).obj()
	at := fmt.Sprintf("%s/check-runs/%d", repoPath, id(check))
	w.grant("other[bot]", "write")
	w.as("other[bot]", "PATCH", at, obj{"conclusion": "success"}).want(403)
	w.as("github-actions[bot]", "PATCH", at, obj{"conclusion": "success"}).want(200)
	w.status(sha, "lint", "success")
	require.Equal(t, []string{"check_run.created", "check_run.completed", "check_suite.completed", "status"}, w.delivered(before))
	for _, d := range w.as("", "GET", "/_sandbox/deliveries", nil).want(200).list()[before:] {
		name, payload := d["event"].(string), d["payload"].(obj)
		if name == "status" {
			require.Equal(t, "x", payload["branches"].([]any)[0].(obj)["name"])
			continue
		}
		pulls := payload[name].(obj)["pull_requests"].([]any)
		require.Len(t, pulls, 1)
		require.EqualValues(t, n, pulls[0].(obj)["number"])
	}
}

func TestRollup(t *testing.T) {
	w := newTown(t)
	w.protect(obj{"checks": []string{"ci"}})
	c := w.clone("octo")
	sha := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	rollup := func() any {
		t.Helper()
		return w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { statusCheckRollup { state commit { oid }
			contexts(first: 10) { totalCount nodes { __typename
				... on CheckRun { name status conclusion isRequired(pullRequestNumber: %[1]d) checkSuite { app { slug } } }
				... on StatusContext { context state isRequired(pullRequestNumber: %[1]d) creator { login } } } } } } } }`, n))["repository"].(obj)["pullRequest"].(obj)["statusCheckRollup"]
	}
	require.Nil(t, rollup(), "nothing has checked the head")
	w.status(sha, "lint", "failure")
	w.status(sha, "lint", "success")
	require.Equal(t, "SUCCESS", rollup().(obj)["state"], "the newest of a context")
	check := w.as("github-actions[bot]", "POST", repoPath+"/check-runs", obj{"name": "ci", "head_sha": sha, "status": "in_progress"}).want(201).obj()
	require.Equal(t, obj{"state": "PENDING", "commit": obj{"oid": sha}, "contexts": obj{"totalCount": 2.0, "nodes": []any{
		obj{"__typename": "CheckRun", "name": "ci", "status": "IN_PROGRESS", "conclusion": nil, "isRequired": true, "checkSuite": obj{"app": obj{"slug": "github-actions"}}},
		obj{"__typename": "StatusContext", "context": "lint", "state": "SUCCESS", "isRequired": false, "creator": obj{"login": "octo"}},
	}}}, rollup())
	w.as("github-actions[bot]", "PATCH", fmt.Sprintf("%s/check-runs/%d", repoPath, id(check)), obj{"conclusion": "timed_out"}).want(200)
	require.Equal(t, "FAILURE", rollup().(obj)["state"])
}
