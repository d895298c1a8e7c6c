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

const queueFields = `{ isMergeQueueEnabled isInMergeQueue mergeQueueEntry { state position enqueuer { login } headCommit { oid } }
	timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) { nodes { ... on RemovedFromMergeQueueEvent { id reason beforeCommit { oid } } } } }`

func (w *town) inQueue(number int) obj {
	w.t.Helper()
	got := w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) %s } }`, number, queueFields))
	return got["repository"].(obj)["pullRequest"].(obj)
}

// left is why a pull request left the queue last, and which commit was tested.
func (w *town) left(number int) (reason any, before string) {
	w.t.Helper()
	nodes := w.inQueue(number)["timelineItems"].(obj)["nodes"].([]any)
	require.Len(w.t, nodes, 1)
	last := nodes[0].(obj)
	if c, ok := last["beforeCommit"].(obj); ok {
		before = c["oid"].(string)
	}
	return last["reason"], before
}

// group is the commit of a pull request in the queue.
func (w *town) group(number int) string {
	w.t.Helper()
	return w.inQueue(number)["mergeQueueEntry"].(obj)["headCommit"].(obj)["oid"].(string)
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

func TestTheMergeQueueLandsWhatHasPassed(t *testing.T) {
	w, numbers := queueTown(t, "x", "y")
	require.Empty(t, w.mutate("octo", "enqueuePullRequest", numbers[0], ""))
	require.Empty(t, w.mutate("octo", "enqueuePullRequest", numbers[1], ""))
	first, second := w.inQueue(numbers[0]), w.inQueue(numbers[1])
	require.Equal(t, obj{"login": "octo"}, first["mergeQueueEntry"].(obj)["enqueuer"])
	require.Equal(t, []any{true, true, 2.0, "AWAITING_CHECKS"}, []any{second["isMergeQueueEnabled"], second["isInMergeQueue"], second["mergeQueueEntry"].(obj)["position"], second["mergeQueueEntry"].(obj)["state"]})
	groups := []string{w.group(numbers[0]), w.group(numbers[1])}
	w.status(groups[1], "ci", "success")
	require.Equal(t, "open", w.as("octo", "GET", pullPath(numbers[1]), nil).want(200).obj()["state"], "it waits for the one before it")
	w.status(groups[0], "ci", "success")
	for i, n := range numbers {
		got := w.as("octo", "GET", pullPath(n), nil).want(200).obj()
		require.Equal(t, []any{true, groups[i], queueBot}, []any{got["merged"], got["merge_commit_sha"], got["merged_by"].(obj)["login"]})
		reason, before := w.left(n)
		require.Equal(t, []any{"merged", groups[i]}, []any{reason, before})
	}
	require.Equal(t, groups[1], w.as("octo", "GET", repoPath+"/branches/main", nil).want(200).obj()["commit"].(obj)["sha"])
}

func TestTheMergeQueueTakesOutWhatFails(t *testing.T) {
	w, numbers := queueTown(t, "x", "y")
	for _, n := range numbers {
		require.Empty(t, w.mutate("octo", "enqueuePullRequest", n, ""))
	}
	red, was := w.group(numbers[0]), w.group(numbers[1])
	w.status(red, "ci", "failure")
	reason, before := w.left(numbers[0])
	require.Equal(t, []any{"failed_checks", red}, []any{reason, before})
	require.NotEqual(t, was, w.group(numbers[1]), "what was behind it is built anew")

	require.Empty(t, w.mutate("octo", "dequeuePullRequest", numbers[1], ""))
	reason, _ = w.left(numbers[1])
	require.Equal(t, "manual", reason)
	require.Equal(t, "Pull request is not in the queue", w.mutate("octo", "dequeuePullRequest", numbers[1], ""))

	require.Empty(t, w.mutate("octo", "enqueuePullRequest", numbers[1], ""))
	w.as("octo", "PATCH", pullPath(numbers[1]), obj{"state": "closed"}).want(200)
	reason, _ = w.left(numbers[1])
	require.Nil(t, reason)
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
