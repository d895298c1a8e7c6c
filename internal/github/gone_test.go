package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// An issue may go while a run is at work on it. Reading it finds nothing, and what is written to it says where it is.
func TestIssuesThatAreGone(t *testing.T) {
	w := newWorld(t)
	w.control("users/octo", map[string]any{"permission": "admin"})
	w.send("POST", w.urls.Server+"/_sandbox/repositories", "", map[string]any{"full_name": "octo/gears"})
	deleted, transferred, converted := w.issue("one"), w.issue("two"), w.issue("three")
	c := w.client("actions")
	var ours []model.Comment
	for _, n := range []int{deleted, transferred, converted} {
		ours = append(ours, must.Get(c.Comments.Create(t.Context(), widgets, n, "at work"))(t))
	}
	w.control("issues", map[string]any{"number": deleted, "state": "deleted"})
	w.control("issues", map[string]any{"number": transferred, "state": "transferred", "to": "octo/gears"})
	w.control("issues", map[string]any{"number": converted, "state": "converted"})

	for _, n := range []int{deleted, transferred} {
		_, err := c.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: n})
		assert.Equal(t, fmt.Sprintf("read octo/widgets#%d: octo/widgets#%d does not exist, or the token may not see it", n, n), failure(t, err, NotFound).Error())
	}
	thread := w.snapshot(c, Query{Number: converted}).Issue()
	assert.Equal(t, []bool{true, true}, []bool{thread.Closed, thread.Locked}, "GitHub tells no more")

	_, err := c.Comments.Create(t.Context(), widgets, deleted, "x")
	assert.Equal(t, fmt.Sprintf("comment on octo/widgets#%d: This issue was deleted (410)", deleted), failure(t, err, Gone).Error())
	e := fails(c.Comments.Create(t.Context(), widgets, transferred, "x"))(t, Moved)
	assert.Regexp(t, `^http://.*/api/v3/repositories/\d+/issues/1/comments$`, e.Location)
	assert.Contains(t, e.Error(), e.Location)
	assert.Contains(t, fails(c.Comments.Create(t.Context(), widgets, converted, "x"))(t, Forbidden).Fix, "became a discussion")
	failure(t, c.Comments.Edit(t.Context(), widgets, ours[0].ID, "x"), NotFound)
	failure(t, c.Comments.Edit(t.Context(), widgets, ours[1].ID, "x"), NotFound)

	there := must.Get(c.Threads.Snapshot(t.Context(), Query{Repo: model.Repo{Owner: "octo", Name: "gears"}, Number: 1}))(t)
	assert.Equal(t, []string{"at work"}, bodies(there.Comments), "nothing was said where it went")
}

func TestAnEmptyRepository(t *testing.T) {
	w := newWorld(t)
	w.send("POST", w.urls.Server+"/_sandbox/repositories", "", map[string]any{"full_name": "octo/bare", "empty": true})
	w.send("POST", w.urls.API+"/repos/octo/bare/issues", "octo", map[string]any{"title": "Begin"})
	snap := must.Get(w.client("actions").Threads.Snapshot(t.Context(), Query{Repo: model.Repo{Owner: "octo", Name: "bare"}, Number: 1, Branch: "agent/small/1-begin"}))(t)
	assert.Equal(t, []any{"", "", "", false}, []any{snap.DefaultBranch, snap.DefaultSHA, snap.Branch.SHA, snap.SettingsFound})
	assert.Equal(t, "Begin", snap.Issue().Title)
}
