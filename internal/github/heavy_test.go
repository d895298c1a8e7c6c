package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// patient is a client that does not wait.
func (w *world) patient() *Client {
	w.t.Helper()
	c := must.Get(New(Options{APIURL: w.urls.API, GraphQLURL: w.urls.GraphQL, Token: "sandbox-actions", Sleep: func(context.Context, time.Duration) error { return nil }}))(w.t)
	return c
}

// threads opens a pull request with so many review threads, every other one resolved, and so many comments.
func (w *world) threads(threads, comments int) int {
	w.t.Helper()
	numbers := w.pulls(1)
	require.NoError(w.t, w.s.Seed(func(d *sandbox.Seeder) error {
		for i := range comments {
			if err := d.Comment("octo/widgets", numbers[0], sandbox.SeedComment{Author: "ada", Body: fmt.Sprint("comment ", i)}); err != nil {
				return err
			}
		}
		return nil
	}))
	if threads == 0 {
		return numbers[0]
	}
	var many []any
	for i := range threads {
		many = append(many, map[string]any{"path": "changes/101.txt", "line": 1, "body": fmt.Sprint("thread ", i)})
	}
	w.tick()
	w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", numbers[0]), map[string]any{"event": "COMMENT", "comments": many})
	w.resolve(numbers[0])
	return numbers[0]
}

// resolve resolves every other thread of a pull request.
func (w *world) resolve(n int) {
	w.t.Helper()
	var every []int64
	for i, c := range w.snapshot(w.client("actions"), Query{Number: n}).Comments {
		if c.Kind == model.KindReview && i%2 == 0 {
			every = append(every, c.ID)
		}
	}
	w.control("threads", map[string]any{"comments": every})
}

func resolved(comments []model.Comment) (n int) {
	for _, c := range comments {
		if c.Resolved {
			n++
		}
	}
	return n
}

// asWhole holds a snapshot to be what a server without limits gives.
func (w *world) asWhole(got model.Snapshot, n int) {
	w.t.Helper()
	w.queries(map[string]any{})
	want := w.snapshot(w.client("actions"), Query{Number: n})
	want.ReadAt = got.ReadAt
	assert.Equal(w.t, want, got)
}

// However GitHub says that a query is too heavy, it is asked the same once more at most, and then for less.
func TestHeavyQueriesAreAskedForLess(t *testing.T) {
	for answer, equal := range map[string]int{"html": 1, "json": 1, "error": 1, "wrong": 1, "partial": 0} {
		t.Run(answer, func(t *testing.T) {
			w := newWorld(t)
			n := w.threads(0, 120)
			w.queries(map[string]any{"answer": answer, "nodes": 60})
			c := w.patient()
			got := w.snapshot(c, Query{Number: n})
			_, graphql := c.Calls()
			assert.Equal(t, 1+equal+5, graphql, "pages of 100, and then of 25")
			assert.True(t, got.CommentsComplete)
			before := graphql
			w.snapshot(c, Query{Number: n})
			_, graphql = c.Calls()
			assert.Equal(t, 5, graphql-before, "it is remembered")
			w.asWhole(got, n)
		})
	}
}

// Pages get smaller until one is answered, down to one thing a page.
func TestTheSmallestPages(t *testing.T) {
	w := newWorld(t)
	n := w.threads(0, 12)
	for limit, want := range map[int]int{14: 1, 9: 4 + 3, 4: 6 + 12} { // a file and a commit of the pull request count, too
		w.queries(map[string]any{"answer": "html", "nodes": limit})
		c := w.patient()
		got := w.snapshot(c, Query{Number: n})
		_, graphql := c.Calls()
		assert.Equal(t, want, graphql, "at most %d entries", limit)
		w.asWhole(got, n)
	}
	w.queries(map[string]any{"answer": "html", "nodes": 1})
	c := w.patient()
	e := fails(c.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n}))(t, TooHeavy)
	assert.Equal(t, "read octo/widgets#101: GitHub answered 502 Bad Gateway, however little it is asked for at once", e.Error())
	assert.Equal(t, "0 REST, 8 GraphQL", calls(c))
	w.queries(map[string]any{})
	w.snapshot(c, Query{Number: n})
	assert.Equal(t, "0 REST, 9 GraphQL", calls(c), "what never worked is not remembered")
}

// Review threads make a query heavy before anything else does: they are read by requests of their own then.
func TestThreadsAreReadOnTheirOwn(t *testing.T) {
	w := newWorld(t)
	n := w.threads(60, 3)
	w.queries(map[string]any{"answer": "html", "threads": 20})
	c := w.patient()
	got := w.snapshot(c, Query{Number: n})
	_, graphql := c.Calls()
	assert.Equal(t, 2+1+2+2+2+12, graphql, "twice with all, without threads, the rest of the review, threads by 100, by 25 and by 5")
	before := graphql
	w.snapshot(c, Query{Number: n})
	_, graphql = c.Calls()
	assert.Equal(t, 1+2+12, graphql-before, "remembered")
	assert.Equal(t, 30, resolved(got.Comments))
	w.asWhole(got, n)

	issue := w.issue("Wanted")
	before = graphql
	w.snapshot(c, Query{Number: issue})
	_, graphql = c.Calls()
	assert.Equal(t, 1, graphql-before, "an issue has none")
}

// Threads beyond the first hundred come along with older reviews, by themselves or not.
func TestOldThreadsAreReadOnTheirOwn(t *testing.T) {
	w := newWorld(t)
	n := w.threads(1, 0)
	for i := range 60 {
		w.tick()
		w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"event": "COMMENT", "comments": []any{
			map[string]any{"path": "changes/101.txt", "line": 1, "body": fmt.Sprint("one ", i)}, map[string]any{"path": "changes/101.txt", "line": 1, "body": fmt.Sprint("two ", i)}}})
	}
	w.resolve(n)
	w.queries(map[string]any{"answer": "wrong", "threads": 30})
	got := w.snapshot(w.patient(), Query{Number: n})
	assert.Len(t, got.Comments, 121)
	assert.Equal(t, 61, resolved(got.Comments))
	w.asWhole(got, n)
}

// A survey keeps to the pages that were answered, and gives every pull request once.
func TestASurveyAsksForLess(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(65)
	for limit, want := range map[int]int{40: 2 + 3, 20: 4 + 13, 4: 6 + 65} {
		w.queries(map[string]any{"answer": "html", "nodes": limit})
		c := w.patient()
		assert.Equal(t, numbers, numbersOf(w.survey(c, SurveyQuery{})))
		_, graphql := c.Calls()
		assert.Equal(t, want, graphql, "at most %d entries", limit)
	}
}

// The pull requests that were closed last, and those that are asked for by number, are as many on small pages.
func TestASurveyOfIssuesAsksForLess(t *testing.T) {
	w := newWorld(t)
	numbers := w.pulls(60)
	for _, n := range numbers[:30] {
		w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"state": "closed"})
	}
	read := func() (all []int) {
		_ = must.Get(w.patient().Threads.SurveyIssues(t.Context(), IssueSurveyQuery{Repo: widgets, Closed: 20, Also: numbers[:20]}, func(s model.Snapshot) error {
			all = append(all, s.Pull.Number)
			return nil
		}))(t)
		return all
	}
	want := read()
	require.Len(t, want, 30)
	w.queries(map[string]any{"answer": "html", "nodes": 12})
	assert.ElementsMatch(t, want, read())
}

// Lists of things to ask about are cut into shorter ones, too.
func TestLongListsAreAskedInParts(t *testing.T) {
	w, n := newPull(t)
	sha := w.tip("agent/7")
	// heavy is a server that does not answer about more than so many things at once.
	heavy := func(most int) *Client {
		w.queries(map[string]any{"answer": "html", "path": []any{"repository", fmt.Sprint("p", most)}})
		return w.patient()
	}
	ten := slices.Repeat([]string{sha}, 10)
	t.Run("states", func(t *testing.T) {
		var numbers []int
		for i := range 30 {
			numbers = append(numbers, n+i)
		}
		c := heavy(25)
		assert.Equal(t, map[int]model.PullRef{n: {Number: n, State: model.PullOpen}}, must.Get(c.Threads.States(t.Context(), widgets, numbers))(t))
		assert.Equal(t, "0 REST, 4 GraphQL", calls(c))
	})
	t.Run("permissions", func(t *testing.T) {
		var people []string
		for i := range 30 {
			people = append(people, fmt.Sprint("nobody", i))
		}
		c := heavy(25)
		assert.Equal(t, model.PermissionWrite, must.Get(c.Repositories.Permissions(t.Context(), widgets, append(people, "ada")))(t)["ada"])
		assert.Equal(t, "0 REST, 4 GraphQL", calls(c))
	})
	t.Run("pull requests of commits", func(t *testing.T) {
		c := heavy(5)
		assert.Len(t, must.Get(c.Pulls.OfCommits(t.Context(), widgets, ten))(t)[sha], 10)
		assert.Equal(t, "0 REST, 4 GraphQL", calls(c), "ten are no more than 25: only five are less")
	})
	t.Run("runs on commits", func(t *testing.T) {
		c := heavy(5)
		assert.Contains(t, must.Get(c.Actions.RunsOn(t.Context(), widgets, ten))(t), sha)
		assert.Equal(t, "0 REST, 4 GraphQL", calls(c), "ten are no more than 25: only five are less")
	})
	t.Run("issues of ours", func(t *testing.T) {
		for i := range 30 {
			w.issue(fmt.Sprint("Wanted ", i))
		}
		w.queries(map[string]any{"answer": "html", "nodes": 26})
		c := w.patient()
		assert.Len(t, must.Get(c.Issues.Ours(t.Context(), widgets, "octo", "ada"))(t), 30)
		assert.Equal(t, "0 REST, 4 GraphQL", calls(c))
	})
}

// Checks beyond the first page are found on small pages as on large ones.
func TestMergeFactsOnSmallPages(t *testing.T) {
	w, n := newPull(t)
	head := w.tip("agent/7")
	for i := range 130 {
		w.as("octo", "POST", "statuses/"+head, map[string]any{"context": fmt.Sprintf("lint %03d", i), "state": "success"})
	}
	want := w.facts(w.client("actions"), n, "agent/7")
	require.Len(t, want.Checks, 130)
	w.queries(map[string]any{"answer": "wrong", "nodes": 30})
	c := w.patient()
	assert.Equal(t, want, w.facts(c, n, "agent/7"))
	assert.Equal(t, "0 REST, 8 GraphQL", calls(c))
}

// An outage is no reason for small pages: a query that has no pages is repeated as any other read is.
func TestAnOutageIsWaitedOut(t *testing.T) {
	l := dial(t, Options{}, reply{502, "<html>", nil}, reply{500, "", nil}, reply{200, `{"data": {"repository": {"p0": {"state": "OPEN"}}}}`, nil})
	assert.Equal(t, model.PullOpen, must.Get(l.Pulls.Now(t.Context(), widgets, 7))(t).State)
	l = dial(t, Options{}, reply{502, "<html>", nil})
	e := fails(l.Pulls.Now(t.Context(), widgets, 7))(t, Unavailable)
	assert.Len(t, l.seen, tries)
	assert.Equal(t, "look at octo/widgets#7: GitHub answered 502 Bad Gateway", e.Error())
	l = dial(t, Options{}, reply{503, "", nil}, reply{503, "", nil}, graphAnswer(emptyPull, ""))
	_ = must.Get(l.read(t, Query{}))(t)
	assert.NotContains(t, l.log.String(), "smaller", "503 is no question of size")
	assert.Equal(t, 1, strings.Count(l.log.String(), "status=200"))
}
