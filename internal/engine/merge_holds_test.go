package engine_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// rename gives a pull request a title, of which no run hears.
func (w *world) rename(number int, title string) {
	w.t.Helper()
	w.later(time.Minute)
	w.api("bob", "PATCH", w.path(fmt.Sprintf("/pulls/%d", number)), object{"title": title})
}

// What holds a merge by other bots' customs: each is said, the sweep leaves it alone, and takes it up once it is gone.
func TestMergeIsHeldByWhatPeopleSayOfIt(t *testing.T) {
	type row struct {
		settings string
		hold     func(w *world)
		says     string
		free     func(w *world)
	}
	each(t, map[string]row{
		"a title": {"", func(w *world) { w.rename(1, "[WIP] Greet people") }, `- Its title begins with "WIP"`, func(w *world) { w.rename(1, "Greet people") }},
		"a reviewer": {`wait_for_reviewers = true`, func(w *world) {
			w.api("carol", "POST", w.pull("/requested_reviewers"), object{"reviewers": []string{"bob"}})
		}, "- Missing requested reviews: bob", func(w *world) { w.opinion("bob", "COMMENT") }},
	}, func(t *testing.T, name string, c row) {
		w := newMerge(t, c.settings)
		c.hold(w)
		w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
		assert.Contains(t, w.request(), c.says)
		w.sweep()
		assert.NotContains(t, fmt.Sprint(w.due()), "merge", "nothing has changed")
		c.free(w)
		if name == "a title" {
			w.handle(w.delivery("pull_request"))
		} else {
			w.sweep()
		}
		assert.Equal(t, "merged", w.badge(), w.logged.String())
	})
}

// A bot is heard where the settings name it, and no other one.
func TestABotThatTheSettingsNameIsHeard(t *testing.T) {
	t.Parallel()
	for user, heard := range map[string]int{"reviewer[bot]": 1, "alice": 0} {
		w := newWorld(t, fmt.Sprintf("allowed_users = [%q]", user))
		w.put("/_sandbox/users/reviewer[bot]", object{"type": "Bot", "repository": repo.String(), "permission": "write"})
		w.gives([]model.Result{model.ResultNothing, model.ResultDone}[heard], w.handle(w.remark("reviewer[bot]", "Greet everybody.")))
		w.sweep()
		assert.Len(t, w.replies(), heard)
		assert.Equal(t, heard, w.calls(), "once")
	}
}

// What people have hidden, and threads that people have resolved, are no feedback.
func TestWhatPeopleAreDoneWithIsNoFeedback(t *testing.T) {
	w := newWorld(t)
	line := w.review("alice", "Greet everybody.")
	said := w.talk("alice", "And be kind.")
	node := w.api("octo", "GET", w.path(fmt.Sprintf("/issues/comments/%d", said)), nil)["node_id"]
	w.api("octo", "POST", "/api/graphql", object{"query": `mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }`, "variables": object{"id": node}})
	w.put("/_sandbox/threads", object{"comments": []int64{line}, "by": "bob"})
	w.gives(model.ResultNothing, w.handle(w.delivery("issue_comment")))
	assert.NotContains(t, fmt.Sprint(w.due()), "feedback", "nobody is visited for nothing")
	w.sweep()
	assert.Zero(t, w.calls())

	status, out := w.send("eve", http.MethodPost, "/api/graphql", object{"query": `mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: SPAM}) { clientMutationId } }`, "variables": object{"id": node}})
	require.Equal(t, http.StatusOK, status)
	assert.Contains(t, string(out), "FORBIDDEN")
	w.done(w.handle(w.remark("alice", "Now do it.")))
	assert.Len(t, w.replies(), 1, "to the new thread only")
}
