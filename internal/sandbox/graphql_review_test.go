package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Everything of a review is created when it is drafted and published when it is submitted.
func TestGraphQLADraftIsPublishedLater(t *testing.T) {
	w := newGQLWorld(t)
	draft := w.reviewBy("ann", "PENDING", "Later", &ReviewComment{Post: Post{Body: "why?"}, OriginalLine: 5})
	const times = `reviews(last: 1) { nodes { createdAt publishedAt submittedAt comments(first: 1) { nodes { createdAt draftedAt publishedAt } } } }`
	noon, later := "2026-03-01T12:00:00Z", "2026-03-03T12:00:00Z"
	a := w.ask("ann", gqlInPull(times), nil).fine()
	assert.Equal(t, map[string]any{"createdAt": noon, "publishedAt": nil, "submittedAt": nil, "comments": map[string]any{"nodes": []any{
		map[string]any{"createdAt": noon, "draftedAt": noon, "publishedAt": nil},
	}}}, a.pull("reviews", "nodes", 0))
	w.now = gqlNoon.Add(48 * time.Hour)
	w.pulls.submit(draft, "COMMENTED", w.world.user("ann"))
	a = w.ask("ann", gqlInPull(times), nil).fine()
	assert.Equal(t, map[string]any{"createdAt": noon, "publishedAt": later, "submittedAt": later, "comments": map[string]any{"nodes": []any{
		map[string]any{"createdAt": noon, "draftedAt": noon, "publishedAt": later},
	}}}, a.pull("reviews", "nodes", 0))
}
