package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// An issue whose answer was lost is found by what is in its body.
func TestOurIssues(t *testing.T) {
	w := newWorld(t)
	c := w.client("actions")
	assert.Empty(t, must.Get(c.Issues.Ours(t.Context(), widgets))(t))

	n, url, err := c.Issues.Open(t.Context(), widgets, "Flaky: <b>", "body one")
	require.NoError(t, err)
	assert.Equal(t, w.snapshot(c, Query{Number: n}).Issue().URL, url)
	w.tick()
	w.issue("of somebody else")
	w.tick()
	w.control("faults", map[string]any{"after": true, "drop": true, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/"}})
	_, _, err = c.Issues.Open(t.Context(), widgets, "Flaky", "body two")
	failure(t, err, Unclear)
	w.as("octo", "PATCH", fmt.Sprintf("issues/%d", n), map[string]any{"state": "closed"})
	got := must.Get(c.Issues.Ours(t.Context(), widgets))(t)
	require.Len(t, got, 2)
	assert.True(t, got[0].Open)
	assert.Equal(t, OurIssue{Number: n, URL: url, Body: "body one", Ours: true, Title: "Flaky: <b>"}, got[1])
	assert.Equal(t, "body two", got[0].Body)

	for _, s := range []struct{ others, ours int }{{250, 2}, {60, 0}} {
		for range s.others {
			w.tick()
			w.issue("of somebody else")
		}
		c = w.client("actions")
		assert.Len(t, must.Get(c.Issues.Ours(t.Context(), widgets))(t), s.ours)
		assert.Equal(t, "0 REST, 3 GraphQL", calls(c), "bounded")
	}
	for i := range 31 {
		w.tick()
		_, _, err := c.Issues.Open(t.Context(), widgets, "Flaky", fmt.Sprint(i))
		require.NoError(t, err)
	}
	c = w.client("actions")
	got = must.Get(c.Issues.Ours(t.Context(), widgets))(t)
	assert.Len(t, got, 30)
	assert.Equal(t, []string{"30", "1"}, []string{got[0].Body, got[29].Body})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
}

func TestAnIssueThatIsRefused(t *testing.T) {
	l := dial(t, Options{}, reply{410, `{"message": "Issues are disabled for this repo"}`, nil})
	_, _, err := l.Issues.Open(t.Context(), widgets, "t", "b")
	e := failure(t, err, Gone)
	assert.Equal(t, "open an issue in octo/widgets: Issues are disabled for this repo (410)", e.Error())
	assert.Contains(t, e.Fix, "turn on Issues")
	_, _, err = dial(t, Options{}, reply{201, `{}`, nil}).Issues.Open(t.Context(), widgets, "t", "b")
	failure(t, err, Unclear)
	_, _, err = l.Issues.Open(t.Context(), model.Repo{Owner: "a/b"}, "t", "b")
	failure(t, err, Invalid)
}

func TestRemoveLabel(t *testing.T) {
	w := newWorld(t)
	n := w.issue("one")
	c := w.client("actions")
	for _, name := range []string{"external:accept", "a/b ?#%", "kept"} {
		w.as("ada", "POST", fmt.Sprintf("issues/%d/labels", n), map[string]any{"labels": []string{name}})
	}
	for _, name := range []string{"external:accept", "a/b ?#%", "a/b ?#%", "never there"} {
		require.NoError(t, c.Issues.RemoveLabel(t.Context(), widgets, n, name))
	}
	for _, name := range []string{"", ".", ".."} {
		failure(t, c.Issues.RemoveLabel(t.Context(), widgets, n, name), Invalid)
	}
	assert.Equal(t, []string{"kept"}, w.snapshot(c, Query{Number: n}).Issue().Labels)
	failure(t, dial(t, Options{}, reply{403, `{"message": "Resource not accessible by integration"}`, nil}).Issues.RemoveLabel(t.Context(), widgets, 1, "x"), Forbidden)
}
