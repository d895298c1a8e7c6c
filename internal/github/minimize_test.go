package github

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestMinimizeHidesCommentsInOneRequest(t *testing.T) {
	w, n := newPull(t)
	c := w.client("actions")
	for _, body := range []string{"first", "second", "third"} {
		_ = must.Get(c.Comments.Create(t.Context(), widgets, n, body))(t)
	}
	snap := must.Get(c.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n}))(t)
	require.Len(t, snap.Comments, 3)
	updated := snap.Comments[0].UpdatedAt
	before, _ := c.Calls()
	err := c.Comments.Minimize(t.Context(), widgets, Minimized{Node: snap.Comments[0].NodeID}, Minimized{Node: "nobody"}, Minimized{Node: snap.Comments[1].NodeID, Body: "**Over.**"})
	failure(t, err, NotFound)
	after, _ := c.Calls()
	assert.Equal(t, before, after, "by GraphQL alone")
	snap = must.Get(c.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n}))(t)
	var got []any
	for _, one := range snap.Comments {
		got = append(got, one.Body, one.Minimized, one.EditedByOther)
	}
	assert.Equal(t, []any{"first", true, false, "**Over.**", true, false, "third", false, false}, got)
	assert.Equal(t, updated, snap.Comments[0].UpdatedAt, "hiding is no edit")
	failure(t, w.client("eve").Comments.Minimize(t.Context(), widgets, Minimized{Node: snap.Comments[2].NodeID}), Forbidden)
}
