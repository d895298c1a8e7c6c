package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Thousands are opened by one request: each with its marker, and some that cannot be merged beside each other.
func TestPullRequestsInNumbers(t *testing.T) {
	w := newTown(t)
	w.as("octo", "POST", repoPath+"/issues", obj{"title": "One"}).want(201)
	for field, bad := range map[string]obj{
		"count:": {}, "branch:": {"count": 2, "branch": "same"}, "overlap:": {"count": 2, "overlap": -1}, "repository:": {"count": 2, "repository": "octo/nope"},
		"base branch": {"count": 2, "base": "nope"}, "is not a branch name": {"count": 1, "branch": "a..b $NUMBER"},
	} {
		require.Contains(t, string(w.as("", "PUT", "/_sandbox/pulls", bad).want(422).body), field)
	}
	told := w.deliveries()
	made := w.as("", "PUT", "/_sandbox/pulls", obj{"count": 30, "overlap": 10, "label": "agent:small-job", "branch": "agent/small/$NUMBER-é",
		"body": "Fixes #1", "comment": "Of $NUMBER, $BRANCH at $HEAD."}).want(201).obj()
	require.Equal(t, obj{"first": 2.0, "last": 31.0}, made)
	require.Equal(t, told, w.deliveries())
	p := w.as("", "GET", repoPath+"/pulls/12", nil).want(200).obj()
	require.Equal(t, "agent/small/12-é", p["head"].(obj)["ref"])
	head := p["head"].(obj)["sha"].(string)
	said := w.as("", "GET", repoPath+"/issues/12/comments", nil).want(200).list()
	require.Equal(t, "Of 12, agent/small/12-é at "+head+".", said[0]["body"])
	require.Equal(t, actionsLogin, said[0]["user"].(obj)["login"])
	require.Equal(t, "agent:small-job", p["labels"].([]any)[0].(obj)["name"])

	c := w.clone("octo")
	out, err := c.try("merge-tree", "--write-tree", "origin/agent/small/2-é", "origin/agent/small/12-é")
	require.Error(t, err, "they change one line")
	require.Contains(t, out, "changes/shared.txt")
	c.git("merge-tree", "--write-tree", "origin/agent/small/2-é", "origin/agent/small/3-é")
	c.git("checkout", "-q", "agent/small/12-é")
	now := c.push("more.txt", "more\n")
	require.Equal(t, now, w.as("", "GET", repoPath+"/pulls/12", nil).obj()["head"].(obj)["sha"])
	c.git("push", "-q", "origin", ":agent/small/13-é")

	w.restart()
	require.Equal(t, now, w.as("", "GET", repoPath+"/pulls/12", nil).obj()["head"].(obj)["sha"])
	require.Equal(t, "closed", w.as("", "GET", repoPath+"/pulls/13", nil).obj()["state"])
	w.as("", "PUT", "/_sandbox/pulls", obj{"count": 2}).want(201)
	require.Equal(t, "open", w.as("", "GET", repoPath+"/pulls/33", nil).want(200).obj()["state"])
}

// Whether they can be merged is asked of git at once for all whose test has begun.
func TestManyAreTestedTogether(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/pulls", obj{"count": 20, "overlap": 4}).want(201)
	c := w.clone("octo")
	c.push("changes/shared.txt", "As main has it.\n")
	shown := func() map[string]int {
		t.Helper()
		count := map[string]int{}
		for _, n := range w.ask(`{ repository(owner: "octo", name: "widgets") { pullRequests(first: 50) { nodes { mergeable } } } }`)["repository"].(obj)["pullRequests"].(obj)["nodes"].([]any) {
			count[n.(obj)["mergeable"].(string)]++
		}
		return count
	}
	require.Equal(t, map[string]int{"UNKNOWN": 20}, shown())
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
	require.NotEmpty(t, w.s.world.repository("octo", "widgets").Issues[20].Pull.Test.Result)
	c.git("push", "-q", "origin", "main^:refs/heads/elsewhere")
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
	c.push("more.txt", "more\n")
	require.Equal(t, map[string]int{"UNKNOWN": 20}, shown(), "the base moved")
	require.Equal(t, map[string]int{"MERGEABLE": 15, "CONFLICTING": 5}, shown())
}
