package github

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestStates(t *testing.T) {
	w := newWorld(t)
	open, closed := w.issue("one"), w.issue("two")
	w.as("octo", "PATCH", "issues/2", map[string]any{"state": "closed"})
	pull := w.pull()
	many := w.pulls(120)
	w.as("octo", "PATCH", "pulls/101", map[string]any{"state": "closed"})
	w.as("octo", "PUT", "pulls/102/merge", map[string]any{})
	c := w.client("actions")
	got := must.Get(c.Threads.States(t.Context(), widgets, append([]int{open, closed, pull, 999}, many...)))(t)
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c))
	assert.Len(t, got, 123)
	for n, want := range map[int]model.PullState{open: "OPEN", closed: "CLOSED", pull: "OPEN", 101: "CLOSED", 102: "MERGED", 103: "OPEN", 220: "OPEN", 999: ""} {
		assert.Equal(t, want, got[n].State, "#%d", n)
		assert.Equal(t, n > 100 && want != "" && want != "OPEN", !got[n].ClosedAt.IsZero(), "#%d", n)
	}
	assert.NotContains(t, got, 999)
	assert.Empty(t, must.Get(c.Threads.States(t.Context(), widgets, nil))(t))
	assert.Equal(t, "0 REST, 3 GraphQL", calls(c))
}

// What GitHub fails to tell is not taken for something that does not exist.
func TestAStateThatIsNotTold(t *testing.T) {
	for kind, want := range map[string]Kind{"FORBIDDEN": Forbidden, "SERVICE_UNAVAILABLE": Unavailable} {
		l := dial(t, Options{}, reply{200, `{"data": {"repository": {"p0": null, "p1": {"state": "OPEN"}}}, "errors": [{"type": "` + kind + `", "path": ["repository", "p0"], "message": "no"}]}`, nil})
		fails(l.Threads.States(t.Context(), widgets, []int{1, 2}))(t, want)
	}
}

func TestThreadsThatPeopleHaveResolved(t *testing.T) {
	w, _ := newPull(t)
	assert.Empty(t, must.Get(w.client("actions").Threads.Resolved(t.Context(), widgets, []int{1, 999}))(t))
}
