package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// gqlBodies are the bodies of a page of comments.
func gqlBodies(a *gqlAnswer) []string {
	a.t.Helper()
	var out []string
	for _, n := range a.pull("comments", "nodes").([]any) {
		out = append(out, n.(map[string]any)["body"].(string))
	}
	return out
}

func TestGraphQLPagesInBothDirections(t *testing.T) {
	w := newGQLWorld(t)
	var said []string
	for i := range 250 { // five in each second, so that pages end inside of one
		said = append(said, fmt.Sprint("c", i))
		w.say(w.pull, "ann", said[i], gqlNoon.Add(time.Duration(i/5)*time.Second))
	}
	reversed := make([]string, len(said))
	for i, s := range said {
		reversed[len(said)-1-i] = s
	}
	const page = `{ totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { body } edges { cursor } }`
	type row struct {
		size, cursor, order, next, more string
		want                            []string
		back                            bool
	}
	must.Each(t, map[string]row{
		"forward":                {"first", "after", "", "endCursor", "hasNextPage", said, false},
		"backward":               {"last", "before", "", "startCursor", "hasPreviousPage", said, true},
		"newest first":           {"first", "after", ", orderBy: {field: UPDATED_AT, direction: DESC}", "endCursor", "hasNextPage", reversed, false},
		"newest first, from end": {"last", "before", ", orderBy: {field: UPDATED_AT, direction: DESC}", "startCursor", "hasPreviousPage", reversed, true},
	}, func(t *testing.T, c row) {
		var got []string
		var cursor any
		for range 10 {
			a := w.ask("ann", fmt.Sprintf(`query($c: String) { repository(owner: "octo", name: "widgets") { pullRequest(number: 2) { comments(%s: 64, %s: $c%s) %s } } }`,
				c.size, c.cursor, c.order, page), map[string]any{"c": cursor}).fine()
			assert.EqualValues(t, 250, a.pull("comments", "totalCount"))
			if c.back {
				got = append(gqlBodies(a), got...)
			} else {
				got = append(got, gqlBodies(a)...)
			}
			cursor = a.pull("comments", "pageInfo", c.next)
			assert.Equal(t, a.pull("comments", "pageInfo", "startCursor"), a.pull("comments", "edges", 0, "cursor"))
			if a.pull("comments", "pageInfo", c.more) == false {
				break
			}
		}
		assert.Equal(t, c.want, got)
	})
}

func TestGraphQLACursorOutlivesItsComment(t *testing.T) {
	w := newGQLWorld(t)
	for i := range 6 {
		w.say(w.pull, "ann", fmt.Sprint("c", i), gqlNoon)
	}
	a := w.ask("ann", gqlInPull(`comments(first: 3) { nodes { body } pageInfo { endCursor } }`), nil).fine()
	cursor := a.pull("comments", "pageInfo", "endCursor")
	w.pull.Comments = append(w.pull.Comments[:2], w.pull.Comments[3:]...)
	a = w.ask("ann", gqlInPull(fmt.Sprintf(`comments(first: 3, after: %q) { nodes { body } }`, cursor)), nil).fine()
	assert.Equal(t, []string{"c3", "c4", "c5"}, gqlBodies(a))
}

func TestGraphQLLimits(t *testing.T) {
	w := newGQLWorld(t)
	nested := `pullRequests(first: 100) { nodes { comments(first: 100) { nodes { id } } labels(first: %d) { nodes { id } } } }`
	type row struct{ selection, kind, message string }
	must.Each(t, map[string]row{
		"no bounds": {`issues { nodes { id } }`, "MISSING_PAGINATION_BOUNDARIES",
			"You must provide a `first` or `last` value to properly paginate the `issues` connection."},
		"no bounds in a fragment": {`...F } } fragment F on Repository { issues { ... on IssueConnection { edges { cursor } } `, "MISSING_PAGINATION_BOUNDARIES",
			"You must provide a `first` or `last` value to properly paginate the `issues` connection."},
		"too many": {`issues(last: 101) { nodes { id } }`, "EXCESSIVE_PAGINATION",
			"Requesting 101 records on the `issues` connection exceeds the `last` limit of 100 records."},
		"both":     {`issues(first: 1, last: 1) { nodes { id } }`, "", "Passing both `first` and `last` to paginate the `issues` connection is not supported."},
		"negative": {`issues(first: -1) { nodes { id } }`, "", "`first` on the `issues` connection cannot be less than zero."},
		"too many nodes": {`a: issues(first: 100) { nodes { comments(first: 100) { nodes { id } } } } ` +
			`pullRequests(first: 100) { nodes { reviews(first: 100) { nodes { comments(first: 100) { nodes { id } } } } } }`,
			"MAX_NODE_LIMIT_EXCEEDED", "This query requests up to 1,020,200 possible nodes which exceeds the maximum limit of 500,000."},
	}, func(t *testing.T, c row) {
		a := w.ask("ann", `{ repository(owner: "octo", name: "widgets") { `+c.selection+` } }`, nil)
		require.Equal(t, 200, a.status)
		require.NotEmpty(t, a.Errors, a.raw)
		assert.Equal(t, c.message, a.Errors[0]["message"])
		if c.kind != "" {
			assert.Equal(t, c.kind, a.Errors[0]["type"])
		}
		assert.Nil(t, a.Data, "nothing is run")
	})
	// 1 + 100 + 100 requests make 2 points; what @include leaves out costs nothing.
	a := w.ask("ann", `query($more: Boolean!) { rateLimit { cost nodeCount } repository(owner: "octo", name: "widgets") { `+fmt.Sprintf(nested, 50)+`
		issues(first: 100) @include(if: $more) { nodes { comments(first: 100) { nodes { id } } } } } }`, map[string]any{"more": false}).fine()
	assert.EqualValues(t, 2, a.at("rateLimit", "cost"))
	assert.EqualValues(t, 100+100*100+100*50, a.at("rateLimit", "nodeCount"))

	ids := strings.TrimSuffix(strings.Repeat(`"x",`, 101), ",")
	a = w.ask("ann", `{ nodes(ids: [`+ids+`]) { id } }`, nil)
	assert.Equal(t, "You may not provide more than 100 node ids; you provided 101.", a.Errors[0]["message"])
}

// TestALongConversationIsCheap bounds work, not time: only what is on the page is rendered.
func TestGraphQLALongConversationIsCheap(t *testing.T) {
	w := newGQLWorld(t)
	for i := range 5000 {
		c := &Comment{Post: Post{ID: w.world.nextID(), Author: "ann", Body: fmt.Sprint("c", i), CreatedAt: gqlNoon, UpdatedAt: gqlNoon}}
		w.pull.Comments = append(w.pull.Comments, c)
	}
	w.world.indexIssue(w.repo, w.pull)
	w.pull.Comments[17].UpdatedAt = gqlNoon.Add(time.Second)
	a := w.ask("ann", gqlInPull(`comments(first: 100, orderBy: {field: UPDATED_AT, direction: DESC}) { totalCount nodes { body } }`), nil).fine()
	assert.Equal(t, []string{"c17", "c4999", "c4998"}, gqlBodies(a)[:3])
	wrapped, hundred := 0, int32(100)
	_ = must.Get(pageOf(pageArgs{First: &hundred}, listing[*Comment, gqlComment]{items: w.pull.Comments, key: inOrder[*Comment],
		wrap: func(*Comment) *gqlComment { wrapped++; return nil }}))(t)
	assert.Equal(t, 100, wrapped)
}
