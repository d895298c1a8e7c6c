package github

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// queued is a pull request on a base with a merge queue, and its head.
func (w *world) queued() (number int, head string) {
	w.t.Helper()
	number = w.pull()
	head = w.tip("agent/7")
	w.as("octo", "POST", "statuses/"+head, map[string]any{"state": "success", "context": "ci"})
	w.control("protection", map[string]any{"ruleset": 7, "queue": "MERGE", "checks": []string{"ci"}})
	return number, head
}

func TestTheMergeQueue(t *testing.T) {
	w := newWorld(t)
	number, head := w.queued()
	c := w.client("actions")
	read := func() model.QueueView {
		t.Helper()
		return must.Get(c.Threads.Queue(t.Context(), widgets, number))(t)
	}
	view := read()
	assert.Equal(t, model.QueueView{Node: view.Node, State: model.PullOpen, HeadSHA: head, Enabled: true}, view)
	require.NoError(t, c.Pulls.Enqueue(t.Context(), widgets, view.Node, head))
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Equal(t, &model.QueueEntry{State: "AWAITING_CHECKS", Position: 1, By: model.Actor{Login: "github-actions[bot]", ID: 41898282, Bot: true}}, read().Entry)

	err := c.Pulls.Enqueue(t.Context(), widgets, view.Node, head)
	assert.Equal(t, Invalid, KindOf(err))
	assert.EqualError(t, err, "put a pull request into the merge queue of octo/widgets: Pull request is already in the queue")
	require.NoError(t, c.Pulls.Dequeue(t.Context(), widgets, view.Node))
	after := read()
	require.NotNil(t, after.Left)
	assert.Equal(t, []any{"manual", "github-actions[bot]"}, []any{after.Left.Reason, after.Left.By.Login})
	assert.Equal(t, Invalid, KindOf(c.Pulls.Dequeue(t.Context(), widgets, view.Node)))

	require.NoError(t, c.Pulls.Enqueue(t.Context(), widgets, view.Node, head))
	w.control("protection", map[string]any{"ruleset": 7, "queue": "MERGE", "checks": []string{"ci"}})
	w.control("permissions", map[string]any{"permissions": map[string]string{"contents": "read", "pull_requests": "read"}})
	assert.Equal(t, Forbidden, KindOf(c.Pulls.Dequeue(t.Context(), widgets, view.Node)))
	_, err = c.Threads.Queue(t.Context(), widgets, 99)
	assert.Equal(t, NotFound, KindOf(err))
}

// A mutation whose answer is lost, or says nothing, is not sent again: it may have taken effect.
func TestAMutationIsSentOnce(t *testing.T) {
	w := newWorld(t)
	number, head := w.queued()
	c := w.client("actions")
	view := must.Get(c.Threads.Queue(t.Context(), widgets, number))(t)
	for name, fault := range map[string]map[string]any{
		"the connection breaks": {"drop": true},
		"an error of GitHub's":  {"status": 502},
		"no answer to speak of": {"status": 200, "body": map[string]any{"data": nil, "errors": []any{map[string]any{"message": "Something went wrong", "type": "INTERNAL"}}}},
		"a page of HTML":        {"status": 200, "body": "<html>"},
	} {
		fault["match"], fault["after"], fault["times"] = map[string]any{"path": "/api/graphql"}, true, 1
		w.control("faults", []any{fault})
		was := calls(c)
		err := c.Pulls.Enqueue(t.Context(), widgets, view.Node, head)
		assert.Equal(t, Unclear, KindOf(err), "%s: %v", name, err)
		assert.NotEqual(t, was, calls(c), name)
		require.NotNil(t, must.Get(c.Threads.Queue(t.Context(), widgets, number))(t, name).Entry, name)
		require.NoError(t, c.Pulls.Dequeue(t.Context(), widgets, view.Node), name)
	}
}
