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
