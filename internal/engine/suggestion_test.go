package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A suggestion with which the tests fail is turned down in its thread: there is no repair without a model, and nothing to ask.
// Its author edits it, and it is applied.
func TestASuggestionThatFailsTheTestsIsTurnedDown(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "if grep -q broken greeting.txt; then echo it is broken; exit 1; fi"]`)
	w.agentSetting(`adapter = "command"`, `adapter = "suggestion"`)
	before := w.tip()
	w.api("alice", "POST", w.pull("/comments"), object{"body": "```suggestion\nbroken\n```", "commit_id": before, "path": "greeting.txt", "line": 1, "side": "RIGHT"})
	w.done(w.handle(w.delivery("pull_request_review_comment")))
	assert.Equal(t, before, w.tip())
	assert.Empty(t, w.marked("block", ""))
	require.Len(t, w.replies(), 1)
	assert.Contains(t, w.replies()[0]["body"], "Not applied: the tests fail with this suggestion. The end of the output:\n\n```text\nit is broken\n\nexit code 1\n```\n\nEdit the suggestion, or resolve the thread.")
	assert.Contains(t, w.receipt(), "no commit was needed")

	w.later(time.Minute)
	w.api("alice", "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", w.list("octo", w.pull("/comments"))[0].id())), object{"body": "```suggestion\nmended\n```"})
	w.done(w.handle(w.delivery("pull_request_review_comment")))
	assert.NotEqual(t, before, w.tip())
	assert.Contains(t, w.replies()[1]["body"], "Applied to line 1")
}
