package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const resolves = `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved resolvedBy { login } } } }`

func TestAThreadIsResolvedByWhoMay(t *testing.T) {
	w := newGQLWorld(t)
	on5, on6 := &ReviewComment{Post: Post{Body: "why?"}, OriginalLine: 5}, &ReviewComment{Post: Post{Body: "and this?"}, OriginalLine: 6}
	w.reviewBy("ann", "COMMENTED", "", on5, on6)
	threads := w.ask("actions", gqlInPull(`reviewThreads(last: 100) { nodes { id resolvedBy { login } } }`), nil).fine()
	id := func(i int) map[string]any {
		return map[string]any{"id": threads.pull("reviewThreads", "nodes", i, "id")}
	}
	assert.Nil(t, threads.pull("reviewThreads", "nodes", 0, "resolvedBy"))
	refused := w.ask("eve", resolves, id(0))
	require.Len(t, refused.Errors, 1)
	assert.Equal(t, "FORBIDDEN", refused.Errors[0]["type"])
	assert.False(t, on5.Resolved)

	done := w.ask("actions", resolves, id(0)).fine().at("resolveReviewThread", "thread").(map[string]any)
	assert.Equal(t, true, done["isResolved"])
	assert.Nil(t, done["resolvedBy"], "a bot is no User")
	assert.Equal(t, map[string]any{"login": "ann"}, w.ask("ann", resolves, id(1)).fine().at("resolveReviewThread", "thread", "resolvedBy"))
	assert.Equal(t, map[string]any{"login": "ann"}, w.ask("actions", resolves, id(1)).fine().at("resolveReviewThread", "thread", "resolvedBy"), "it stays as it is")
	gone := w.ask("ann", resolves, map[string]any{"id": "PRRT_gone"})
	require.Len(t, gone.Errors, 1)
	assert.Equal(t, "NOT_FOUND", gone.Errors[0]["type"])

	require.Less(t, w.control("PUT", "permissions", `{"permissions": {"contents": "read", "pull_requests": "write"}}`), 300)
	refused = w.ask("actions", resolves, id(0))
	require.Len(t, refused.Errors, 1)
	assert.Equal(t, "Resource not accessible by integration", refused.Errors[0]["message"])
}
