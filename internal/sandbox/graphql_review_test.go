package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const reviewSelection = `reviews(last: 50) { totalCount nodes { fullDatabaseId state body submittedAt author { login } comments(first: 100) { totalCount nodes {
	id fullDatabaseId body path line startLine originalLine outdated diffHunk subjectType state viewerDidAuthor url
	replyTo { fullDatabaseId } commit { oid } originalCommit { oid } pullRequestReview { fullDatabaseId } } } } }
	reviewThreads(last: 100) { totalCount nodes { id isResolved isOutdated diffSide line path startLine viewerCanResolve comments(first: 10) { totalCount nodes { fullDatabaseId } } } }`

func TestGraphQLReviewsAndThreads(t *testing.T) {
	w := newGQLWorld(t)
	on5, on6 := &ReviewComment{Post: Post{Body: "why?"}, OriginalLine: 5}, &ReviewComment{Post: Post{Body: "and this?"}, OriginalLine: 6, OriginalStartLine: 5}
	w.reviewBy("ann", "CHANGES_REQUESTED", "Two things", on5, on6)
	w.now = gqlNoon.Add(time.Minute)
	reply := &ReviewComment{Post: Post{Body: "because"}, OriginalLine: 5, InReplyTo: on5.ID}
	single := w.reviewBy(actionsLogin, "COMMENTED", "", reply)
	w.reviewBy("bob", "PENDING", "secret", &ReviewComment{Post: Post{Body: "not yet"}, OriginalLine: 5})
	on6.Resolved = true

	a := w.ask("actions", gqlInPull(reviewSelection), nil).fine()
	assert.EqualValues(t, 2, a.pull("reviews", "totalCount"), "nobody sees a pending review but its author")
	assert.EqualValues(t, 3, w.ask("bob", gqlInPull(reviewSelection), nil).fine().pull("reviews", "totalCount"))
	assert.EqualValues(t, 2, a.pull("reviews", "nodes", 0, "comments", "totalCount"))
	c := a.pull("reviews", "nodes", 0, "comments", "nodes", 0).(map[string]any)
	assert.Equal(t, []any{"a.txt", 5.0, false, "LINE"}, []any{c["path"], c["line"], c["outdated"], c["subjectType"]})
	assert.Regexp(t, `(?s)^@@ -2,7 \+2,8 @@.*\+line five$`, c["diffHunk"])
	r := a.pull("reviews", "nodes", 1, "comments", "nodes", 0).(map[string]any)
	assert.Equal(t, map[string]any{"fullDatabaseId": fmt.Sprint(on5.ID)}, r["replyTo"])
	assert.Equal(t, map[string]any{"fullDatabaseId": fmt.Sprint(single.ID)}, r["pullRequestReview"])
	assert.Equal(t, true, r["viewerDidAuthor"])

	assert.EqualValues(t, 2, a.pull("reviewThreads", "totalCount"))
	first := a.pull("reviewThreads", "nodes", 0).(map[string]any)
	assert.Equal(t, false, first["isResolved"])
	assert.Equal(t, "RIGHT", first["diffSide"])
	assert.EqualValues(t, 2, a.pull("reviewThreads", "nodes", 0, "comments", "totalCount"), "the reply is in the thread")
	assert.Equal(t, true, a.pull("reviewThreads", "nodes", 1, "isResolved"))
	assert.EqualValues(t, 5, a.pull("reviewThreads", "nodes", 1, "startLine"))

	n := w.ask("ann", `query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on PullRequestReviewComment { body } ... on PullRequestReviewThread { path } } }`,
		map[string]any{"ids": []any{c["id"], first["id"]}}).fine()
	assert.Equal(t, []any{map[string]any{"__typename": "PullRequestReviewComment", "body": "why?"}, map[string]any{"__typename": "PullRequestReviewThread", "path": "a.txt"}}, n.at("nodes"))

	half := w.ask("ann", `query($ids: [ID!]!) { nodes(ids: $ids) { __typename } }`, map[string]any{"ids": []any{c["id"], "PRRC_gone"}})
	assert.Equal(t, []any{map[string]any{"__typename": "PullRequestReviewComment"}, nil}, half.at("nodes"))
	require.Len(t, half.Errors, 1)
	assert.Equal(t, map[string]any{"type": "NOT_FOUND", "path": []any{"nodes", 1.0}, "locations": []any{map[string]any{"line": 1.0, "column": 23.0}},
		"message": "Could not resolve to a node with the global id of 'PRRC_gone'"}, half.Errors[0])
}

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

func TestGraphQLACommentOutlivesItsLine(t *testing.T) {
	w := newGQLWorld(t)
	gone, moved := &ReviewComment{Post: Post{Body: "gone"}, OriginalLine: 6}, &ReviewComment{Post: Post{Body: "moved"}, OriginalLine: 8}
	w.reviewBy("ann", "COMMENTED", "", gone, moved)
	before := w.pulls.headSHA(w.pull)
	after := w.commit("agent/bugfix/1-x", "", map[string]string{"a.txt": "top\n" + strings.Replace(gqlLines(1, 20), "line 5\n", "line five\n", 1)})
	require.NotEqual(t, before, after)

	a := w.ask("actions", gqlInPull(reviewSelection), nil).fine()
	comments := func(i int) map[string]any {
		return a.pull("reviews", "nodes", 0, "comments", "nodes", i).(map[string]any)
	}
	for i, want := range []obj{
		{"outdated": true, "line": nil, "originalLine": 6.0, "commit": obj{"oid": before}},
		{"outdated": false, "line": 8.0, "commit": obj{"oid": after}, "originalCommit": obj{"oid": before}},
	} {
		assert.Subset(t, comments(i), want)
	}
	assert.Equal(t, true, a.pull("reviewThreads", "nodes", 0, "isOutdated"))
}
