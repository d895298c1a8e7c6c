package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

const resolving = "[feedback]\nresolve = true"

// resolvedThreads are the comments that begin a resolved thread.
func (w *world) resolvedThreads() []string {
	w.t.Helper()
	query := fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { reviewThreads(last: 100) { nodes { isResolved comments(first: 1) { nodes { body } } } } } } }`, w.number)
	out := []string{}
	for _, n := range w.api("octo", "POST", "/api/graphql", object{"query": query}).at("data", "repository", "pullRequest", "reviewThreads", "nodes").([]any) {
		thread := object(n.(map[string]any))
		if thread["isResolved"] == true {
			out = append(out, object(thread.at("comments", "nodes").([]any)[0].(map[string]any))["body"].(string))
		}
	}
	return out
}

func TestThreadsThatATurnAnswersAreResolvedOnceItsCommitIsPushed(t *testing.T) {
	w := newWorld(t, "", resolving)
	rep := w.done(w.handle(w.remark("alice", "Greet people.")))
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 10, "one more than a turn on a pull request that is not tracked")
	assert.Equal(t, []string{"Greet people."}, w.resolvedThreads())
	w.settled(1, 1, 1)

	w.review("alice", "And who is this?") // another thread on that line
	look := w.review("alice", "Look at this.")
	w.meanwhile(deed{"eve", "POST", w.pull(fmt.Sprintf("/comments/%d/replies", look)), `{"body": "Wait for me."}`})
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
	assert.NotContains(t, w.resolvedThreads(), "Look at this.", "somebody goes on talking")
	assert.Contains(t, w.resolvedThreads(), "And who is this?")
}

func TestAThreadIsNotResolvedWithoutACommitOrTheSetting(t *testing.T) {
	type row struct{ agent, settings string }
	each(t, map[string]row{"no commit": {"claims", resolving}, "no setting": {"answer", ""}}, func(t *testing.T, _ string, c row) {
		w := newWorld(t, "", c.settings).whoseAgent(c.agent)
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Greet people.")).Result)
		assert.Len(t, w.replies(), 1)
		assert.Empty(t, w.resolvedThreads())
	})
}

func TestWhatTheAgentsJobSaysIsDoneIsResolvedByTheOther(t *testing.T) {
	w := newWorld(t, "", resolving).whoseAgent("picky")
	w.review("alice", "Delete all of it.")
	w.done(w.inTwo(w.remark("bob", "Greet people.")))
	assert.Equal(t, []string{"Greet people."}, w.resolvedThreads())
}

func TestAThreadThatMayNotBeResolvedHoldsNothingUp(t *testing.T) {
	w := newWorld(t, "", resolving)
	w.gate.answers(func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/graphql") && strings.Contains(readAll(r), "resolveReviewThread")
	}, func(rw http.ResponseWriter) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(rw, `{"data": {"resolveReviewThread": null}, "errors": [{"type": "FORBIDDEN", "path": ["resolveReviewThread"], "message": "Resource not accessible by integration"}]}`)
	})
	w.done(w.handle(w.remark("alice", "Greet people.")))
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "the threads could not be resolved: ")
}
