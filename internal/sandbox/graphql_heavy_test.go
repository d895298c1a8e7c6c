package sandbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const gqlConversation = `{ repository(owner: "octo", name: "widgets") { pullRequest(number: 2) { title
	comments(first: 5) { nodes { body } } closingIssuesReferences(first: 5) { nodes { number } } statusCheckRollup { state } } } }`

// control sends a request to the sandbox itself.
func (w *gqlWorld) control(method, path, body string) int {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(method, controlPrefix+path, strings.NewReader(body)))
	return rec.Code
}

// What cannot be null is lost together with what is above it, up to the first place that may be null.
func TestAPartialAnswer(t *testing.T) {
	w := newGQLWorld(t)
	for range 3 {
		w.say(w.pull, "ann", "hello", w.now)
	}
	set := func(limits string) {
		t.Helper()
		require.Equal(t, http.StatusNoContent, w.control("PUT", "queries", limits))
	}
	set(`{"answer": "partial", "nodes": 3}`)
	a := w.ask("ann", gqlConversation, nil)
	require.Len(t, a.Errors, 1)
	assert.Equal(t, []any{"RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.", []any{"repository", "pullRequest", "comments", "nodes", 2.0}},
		[]any{a.Errors[0]["type"], a.Errors[0]["message"], a.Errors[0]["path"]}, "one closing issue and two comments are counted before")
	assert.Nil(t, a.pull("comments", "nodes", 2))
	assert.Equal(t, "hello", a.pull("comments", "nodes", 1, "body"))

	set(`{"answer": "partial", "path": ["repository", "pullRequest", "comments"]}`)
	a = w.ask("ann", gqlConversation, nil)
	assert.Nil(t, a.pull(), "a connection of comments is never null, a pull request may be")
	assert.Equal(t, []any{"repository", "pullRequest", "comments"}, a.Errors[0]["path"])

	set(`{"answer": "partial", "path": ["repository", "pullRequest", "closingIssuesReferences"], "type": "FORBIDDEN", "message": "no"}`)
	a = w.ask("ann", gqlConversation, nil)
	assert.Nil(t, a.pull("closingIssuesReferences"))
	assert.Equal(t, "Fix it", a.pull("title"))
	assert.Equal(t, []any{"FORBIDDEN", "no"}, []any{a.Errors[0]["type"], a.Errors[0]["message"]})
	w.ask("ann", `{ viewer { login } }`, nil).fine()

	set(`{"answer": "partial", "path": ["viewer"]}`)
	a = w.ask("ann", `{ viewer { login } }`, nil)
	assert.Nil(t, a.Data)
	assert.Len(t, a.Errors, 1)
}
