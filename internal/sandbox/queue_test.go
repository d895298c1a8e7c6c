package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// queueTown has a merge queue on main, and pull requests with one file each that may go into it.
func queueTown(t *testing.T, names ...string) (*town, []int) {
	t.Helper()
	w, c := townWithClone(t)
	var numbers []int
	for _, name := range names {
		w.status(c.branch(name, name+".txt", name+"\n"), "ci", "success")
		numbers = append(numbers, w.pull("octo", name))
	}
	w.protect(obj{"ruleset": 7, "queue": "SQUASH", "checks": []string{"ci"}})
	return w, numbers
}

// mutate gives the words with which a mutation is refused, or "".
func (w *town) mutate(login, name string, number int, more string) string {
	w.t.Helper()
	id := w.as("octo", "GET", pullPath(number), nil).want(200).obj()["node_id"]
	key := map[string]string{"enqueuePullRequest": "pullRequestId", "dequeuePullRequest": "id"}[name]
	query := fmt.Sprintf(`mutation { %s(input: {%s: %q%s}) { mergeQueueEntry { position } } }`, name, key, id, more)
	got := w.request(login, "POST", graphqlPath, obj{"query": query}).want(200).obj()
	if errs, refused := got["errors"].([]any); refused {
		return errs[0].(obj)["message"].(string)
	}
	return ""
}

func TestWhatDoesNotGetIntoTheMergeQueue(t *testing.T) {
	w, numbers := queueTown(t, "x")
	n := numbers[0]
	c := w.clone("octo")
	require.Equal(t, "Head sha didn't match expected head", w.mutate("octo", "enqueuePullRequest", n, `, expectedHeadOid: "`+c.git("rev-parse", "origin/main")+`"`))
	require.Contains(t, w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(405).obj()["message"], queueOnly)
	c.git("fetch", "-q", "origin", "x")
	require.Contains(t, c.fails("push", "origin", "FETCH_HEAD:main"), "- "+queueOnly)
	rules := w.as("octo", "GET", repoPath+"/rules/branches/main", nil).want(200).list()
	require.Equal(t, "SQUASH", rules[len(rules)-1]["parameters"].(obj)["merge_method"])

	w.grant("eve", "read")
	require.Contains(t, w.mutate("eve", "enqueuePullRequest", n, ""), "correct permissions")
	w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": obj{"contents": "read", "pull_requests": "write"}}).want(200)
	require.Equal(t, notAccessible, w.mutate("actions", "enqueuePullRequest", n, ""))
	w.as("", "PUT", "/_sandbox/permissions", obj{}).want(200)
	was := w.deliveries()
	require.Empty(t, w.mutate("actions", "enqueuePullRequest", n, ""))
	require.Equal(t, []string{"pull_request.enqueued"}, w.delivered(was), "no workflow is started for the token of workflows")
	require.Equal(t, "Pull request is already in the queue", w.mutate("octo", "enqueuePullRequest", n, ""))
	w.protect(obj{})
	require.Equal(t, "Merge queue is not enabled for the base branch", w.mutate("octo", "enqueuePullRequest", n, ""))
}
