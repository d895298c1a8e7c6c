package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What one request tells of many commits is what one tells of each.
func TestRunsOn(t *testing.T) {
	w := newWorld(t)
	main := w.tip("main")
	w.put("main", "b.txt", "b")
	second := w.tip("main")
	w.put("main", "c.txt", "c")
	quiet := w.tip("main")
	for i, run := range []map[string]any{
		{"head_sha": main, "name": "ci", "path": ".github/workflows/ci.yml", "status": "completed", "conclusion": "timed_out"},
		{"head_sha": main, "name": "ci", "path": ".github/workflows/ci.yml", "status": "completed", "conclusion": "failure"},
		{"head_sha": main, "name": "lint", "path": ".github/workflows/lint.yml", "status": "in_progress", "event": "push"},
		{"head_sha": second, "status": "queued"},
	} {
		w.tick()
		w.control(fmt.Sprint("runs/", 700+i), run)
	}
	w.tick()
	w.control("runs/700", map[string]any{"status": "completed", "conclusion": "success", "attempt": 2})
	w.as("github-actions[bot]", "POST", "check-runs", map[string]any{"name": "of an App", "head_sha": main, "conclusion": "failure"})

	c := w.client("actions")
	nothing := fmt.Sprintf("%040d", 1)
	got := must.Get(c.Actions.RunsOn(t.Context(), widgets, []string{main, nothing, second, quiet}))(t)
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	want := map[string][]model.CIRun{quiet: {}}
	for _, sha := range []string{main, second} {
		runs := must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
		for i := range runs {
			runs[i].Attempt, runs[i].Branch = 0, "" // which only this one tells
		}
		want[sha] = runs
	}
	require.Len(t, want[main], 3)
	assert.Equal(t, want, got)
	assert.Equal(t, []any{int64(700), true, "success"}, []any{got[main][2].ID, got[main][2].Completed, got[main][2].Conclusion})
	assert.True(t, got[main][2].UpdatedAt.After(got[main][0].UpdatedAt))

	c = w.client("actions")
	many := []string{main}
	for i := range 50 {
		many = append(many, fmt.Sprintf("%040d", i+1))
	}
	assert.Len(t, must.Get(c.Actions.RunsOn(t.Context(), widgets, append(many, second)))(t), 2)
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Empty(t, must.Get(c.Actions.RunsOn(t.Context(), widgets, nil))(t))
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
}

func TestRunsOnThatCannotBeSeen(t *testing.T) {
	w := newWorld(t)
	l := dial(t, Options{}, reply{http.StatusOK, `{"data": {"repository": {"p0": {"checkSuites": null}}}, "errors": [{"type": "FORBIDDEN", "path": ["repository", "p0", "checkSuites"], "message": "Resource not accessible by integration"}]}`, nil})
	_, err := l.Actions.RunsOn(t.Context(), widgets, []string{"x"})
	assert.Contains(t, failure(t, err, Forbidden).Fix, "checks: read", "no runs are not what is not shown")

	fine := must.Get(New(Options{APIURL: w.urls.API, GraphQLURL: w.urls.GraphQL, Token: "github_pat_sandbox-octo"}))(t)
	_, err = fine.Actions.RunsOn(t.Context(), widgets, []string{w.tip("main")})
	assert.Equal(t, "give MergeXO the workflow's own token or that of a GitHub App", failure(t, err, Forbidden).Fix, "no permission helps this one")

	// A run whose file is gone, the suite of another App, and an id that needs 64 bits.
	l = dial(t, Options{}, reply{http.StatusOK, `{"data": {"repository": {"p0": {"checkSuites": {"nodes": [
		{"status": "QUEUED", "conclusion": null, "workflowRun": null},
		{"status": "COMPLETED", "conclusion": "ACTION_REQUIRED", "workflowRun": {"event": "pull_request", "url": "https://github.com/octo/widgets/actions/runs/11073456019",
		 "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:01Z", "file": null, "workflow": {"databaseId": 7, "name": "ci"}}}]}}}}}`, nil})
	got := must.Get(l.Actions.RunsOn(t.Context(), widgets, []string{"x"}))(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	assert.Equal(t, []model.CIRun{{ID: 11073456019, Workflow: 7, Name: "ci", Event: "pull_request", HeadSHA: "x", Completed: true, Conclusion: "action_required",
		CreatedAt: at, UpdatedAt: at.Add(time.Second), URL: "https://github.com/octo/widgets/actions/runs/11073456019"}}, got["x"])
}
