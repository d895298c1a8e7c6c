package github

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

var seven = map[string]string{"number": "7"}

func TestDispatch(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/workflows/mergexo.yml", "on:\n  workflow_dispatch:\n    inputs:\n      number: {}\n")
	w.put("main", ".github/workflows/ci.yml", "on: push\n")
	sha := w.tip("main")
	c := w.client("actions")
	require.NoError(t, c.Actions.Dispatch(t.Context(), widgets, "mergexo.yml", "main", seven))
	assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
	runs := must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
	require.Len(t, runs, 1)
	assert.Equal(t, []any{"workflow_dispatch", ".github/workflows/mergexo.yml", false}, []any{runs[0].Event, runs[0].Path, runs[0].Completed})

	e := failure(t, c.Actions.Dispatch(t.Context(), widgets, "ci.yml", "main", seven), Invalid)
	assert.Equal(t, "start workflow ci.yml of octo/widgets: Workflow does not have 'workflow_dispatch' trigger (422)", e.Error())
	assert.Equal(t, "add to the workflow on the default branch: `on: workflow_dispatch: inputs: number`", e.Fix)
	e = failure(t, c.Actions.Dispatch(t.Context(), widgets, "mergexo.yml", "main", map[string]string{"pr": "7"}), Invalid)
	assert.Contains(t, e.Error(), `Unexpected inputs provided: ["pr"]`)
	assert.Contains(t, failure(t, c.Actions.Dispatch(t.Context(), widgets, "mergexo.yml", "nope", seven), Invalid).Fix, "name a branch")
	assert.Contains(t, failure(t, c.Actions.Dispatch(t.Context(), widgets, "none.yml", "main", seven), NotFound).Fix, "into .github/workflows")

	// What must not be asked at all.
	c = w.client("actions")
	for _, name := range []string{"", ".", "..", ".github/workflows/mergexo.yml"} {
		failure(t, c.Actions.Dispatch(t.Context(), widgets, name, "main", seven), Invalid)
	}
	failure(t, c.Actions.Dispatch(t.Context(), widgets, "mergexo.yml", "", seven), Invalid)
	failure(t, c.Actions.Dispatch(t.Context(), model.Repo{Owner: "octo", Name: "a/b"}, "mergexo.yml", "main", seven), Invalid)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	failure(t, c.Actions.Dispatch(over, widgets, "mergexo.yml", "main", seven), Unavailable)
	assert.Equal(t, "0 REST, 0 GraphQL", calls(c))

	// An answer that is lost is not asked for again: the run is there.
	w.control("faults", map[string]any{"after": true, "status": 502, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/"}})
	failure(t, c.Actions.Dispatch(t.Context(), widgets, "mergexo.yml", "main", seven), Unclear)
	assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
	assert.Len(t, must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t), 2)
}

func TestADispatchThatIsAnswered(t *testing.T) {
	for _, r := range []struct {
		reply reply
		want  Kind // empty: it began
		fix   string
	}{
		{reply{204, "", nil}, "", ""},
		{reply{200, `{"workflow_run_id": 5, "run_url": "https://api.github.com/x", "html_url": "https://github.com/x"}`, nil}, "", ""},
		{reply{403, `{"message": "Resource not accessible by integration"}`, nil}, Forbidden, "actions: write"},
		{reply{403, `{"message": "Resource not accessible by integration"}`, map[string]string{"X-Accepted-Github-Permissions": "actions=write"}}, Forbidden, "`actions: write`"},
		{reply{404, `{"message": "Not Found"}`, nil}, NotFound, "default branch"},
		{reply{422, `{"message": "Cannot trigger a 'workflow_dispatch' on a disabled workflow"}`, nil}, Invalid, "enable the workflow"},
		{reply{422, `{"message": "Unexpected inputs provided: [\"number\"]"}`, nil}, Invalid, "inputs: number"},
		{reply{400, `{"message": "Problems parsing JSON"}`, nil}, Invalid, ""},
		{reply{429, `{}`, map[string]string{"Retry-After": "3600"}}, RateLimited, ""},
		{reply{502, `{}`, nil}, Unclear, ""},
	} {
		l := dial(t, Options{}, r.reply)
		err := l.Actions.Dispatch(t.Context(), widgets, "odd name#.yml", "main", seven)
		require.Len(t, l.seen, 1)
		assert.Equal(t, "/api/v3/repos/octo/widgets/actions/workflows/odd%20name%23.yml/dispatches", l.seen[0].URL.EscapedPath())
		if r.want == "" {
			require.NoError(t, err)
			continue
		}
		assert.Contains(t, failure(t, err, r.want).Fix, r.fix, r.reply.body)
	}
}
