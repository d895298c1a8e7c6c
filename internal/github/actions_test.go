package github

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// run makes a workflow run on a commit, completed with these jobs.
func (w *world) run(id int64, sha string, jobs ...map[string]any) {
	w.t.Helper()
	w.control(fmt.Sprint("runs/", id), map[string]any{"head_sha": sha, "status": "completed", "name": "CI", "path": ".github/workflows/ci.yml", "event": "push", "jobs": jobs})
}

func job(name, conclusion string) map[string]any {
	return map[string]any{"name": name, "conclusion": conclusion, "step": "Run go test", "log": "it\nfails\n"}
}

func TestRunsOf(t *testing.T) {
	w := newWorld(t)
	sha := w.tip("main")
	w.put("main", "a.txt", "a\n")
	first := w.tick()
	w.run(1, sha, job("test", "failure"))
	w.run(2, w.tip("main"), job("test", "success"))
	last := w.tick()
	w.control("runs/3", map[string]any{"head_sha": sha, "status": "in_progress"})
	c := w.client("actions")
	runs := must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
	assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
	require.Len(t, runs, 2)
	assert.NotZero(t, runs[1].Workflow)
	assert.Equal(t, model.CIRun{ID: 1, Workflow: runs[1].Workflow, Path: ".github/workflows/ci.yml", Name: "CI", Event: "push", Attempt: 1, HeadSHA: sha, Branch: "main",
		Completed: true, Conclusion: "failure", CreatedAt: first, UpdatedAt: first, URL: w.urls.Server + "/octo/widgets/actions/runs/1"}, runs[1])
	assert.Equal(t, []any{int64(3), false, "", last}, []any{runs[0].ID, runs[0].Completed, runs[0].Conclusion, runs[0].CreatedAt}, "the newest first")

	for id := range int64(330) {
		if id%10 == 0 {
			w.tick()
		}
		w.run(1000+id, sha)
	}
	c = w.client("actions")
	runs = must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
	assert.Equal(t, "3 REST, 0 GraphQL", calls(c))
	require.Len(t, runs, 300)
	assert.Equal(t, []int64{1329, 1030}, []int64{runs[0].ID, runs[299].ID}, "bounded")

	assert.Empty(t, must.Get(c.Actions.RunsOf(t.Context(), widgets, "00000000000000000000000000000000deadbeef"))(t))
	fails(c.Actions.RunsOf(t.Context(), widgets, ""))(t, Invalid)
	fails(c.Actions.RunsOf(t.Context(), model.Repo{Owner: "octo", Name: "nothing"}, sha))(t, NotFound)
	assert.Equal(t, "5 REST, 0 GraphQL", calls(c))
}

// An entry that moves on to the next page while the first one is read is not told twice, and a path loses GitHub's branch.
func TestRunsThatMove(t *testing.T) {
	page := func(next bool, runs string) reply {
		header := map[string]string{"Link": ""}
		if next {
			header["Link"] = `<https://api.github.com/repositories/1/actions/runs?page=2>; rel="next"`
		}
		return reply{200, `{"workflow_runs": [` + runs + `]}`, header}
	}
	const one = `{"id": 1, "path": ".github/workflows/ci.yml@main", "created_at": "2026-03-01T12:00:00Z", "status": "completed", "conclusion": "failure"}`
	l := dial(t, Options{}, page(true, `{"id": 2, "created_at": "2026-03-01T12:00:00Z", "status": "queued", "conclusion": "failure"}, `+one), page(false, one))
	runs := must.Get(l.Actions.RunsOf(t.Context(), widgets, "abc&x"))(t)
	require.Len(t, runs, 2)
	assert.Equal(t, []any{int64(2), "", int64(1), ".github/workflows/ci.yml", "failure"}, []any{runs[0].ID, runs[0].Conclusion, runs[1].ID, runs[1].Path, runs[1].Conclusion})
	assert.Equal(t, url.Values{"head_sha": {"abc&x"}, "per_page": {"100"}, "page": {"2"}, "exclude_pull_requests": {"true"}}, l.seen[1].URL.Query())
}

func TestFailedJobs(t *testing.T) {
	w := newWorld(t)
	sha := w.tip("main")
	jobs := []map[string]any{job("lint", "success"), job("test", "failure"), job("slow", "timed_out"), job("other", "cancelled"), job("skipped", "skipped")}
	for i := range 110 {
		jobs = append(jobs, job(fmt.Sprint("matrix ", i), "failure"))
	}
	w.run(1, sha, jobs...)
	c := w.client("actions")
	failed := must.Get(c.Actions.FailedJobs(t.Context(), widgets, 1))(t)
	assert.Equal(t, "2 REST, 0 GraphQL", calls(c))
	require.Len(t, failed, 112)
	assert.Equal(t, model.CIJob{ID: failed[0].ID, Name: "test", Conclusion: "failure", Step: "Run go test",
		URL: fmt.Sprintf("%s/octo/widgets/actions/runs/1/job/%d", w.urls.Server, failed[0].ID)}, failed[0])
	assert.Equal(t, []string{"slow", "timed_out", "Run go test"}, []string{failed[1].Name, failed[1].Conclusion, failed[1].Step})

	w.run(2, sha, job("test", "success"))
	assert.Equal(t, []model.CIJob{}, must.Get(c.Actions.FailedJobs(t.Context(), widgets, 2))(t), "asked for, and none")
	fails(c.Actions.FailedJobs(t.Context(), widgets, 99))(t, NotFound)
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	sha := w.tip("main")
	c := w.client("actions")
	w.control("runs/1", map[string]any{"head_sha": sha, "status": "in_progress"})
	require.NoError(t, c.Actions.Cancel(t.Context(), widgets, 1))
	runs := must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
	assert.Equal(t, []any{true, "cancelled"}, []any{runs[0].Completed, runs[0].Conclusion})
	require.NoError(t, c.Actions.Cancel(t.Context(), widgets, 1), "it is completed")
	failure(t, c.Actions.Cancel(t.Context(), widgets, 99), NotFound)
}

func TestRerunFailed(t *testing.T) {
	w := newWorld(t)
	sha := w.tip("main")
	c := w.client("actions")
	w.run(1, sha, job("lint", "success"), job("test", "failure"))
	w.run(2, sha, job("test", "success"))
	w.tick()
	require.NoError(t, c.Actions.RerunFailed(t.Context(), widgets, 1))
	runs := must.Get(c.Actions.RunsOf(t.Context(), widgets, sha))(t)
	assert.Equal(t, []any{int64(1), 2, false}, []any{runs[1].ID, runs[1].Attempt, runs[1].Completed})
	assert.Empty(t, must.Get(c.Actions.FailedJobs(t.Context(), widgets, 1))(t), "the newest attempt has none so far")

	assert.Equal(t, "rerun the failed jobs of workflow run 1 of octo/widgets: This workflow is already running (403)",
		failure(t, c.Actions.RerunFailed(t.Context(), widgets, 1), Running).Error())
	assert.Contains(t, failure(t, c.Actions.RerunFailed(t.Context(), widgets, 2), NoRerun).Fix, "push a commit")
	failure(t, c.Actions.RerunFailed(t.Context(), widgets, 99), NotFound)
	w.run(3, sha, job("test", "failure"))
	w.now = w.now.Add(40 * 24 * time.Hour)
	w.tick()
	failure(t, c.Actions.RerunFailed(t.Context(), widgets, 3), NoRerun)

	// An answer that is lost is not asked for again.
	w.run(4, sha, job("test", "failure"))
	w.control("faults", map[string]any{"after": true, "status": 502, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/"}})
	c = w.client("actions")
	failure(t, c.Actions.RerunFailed(t.Context(), widgets, 4), Unclear)
	assert.Equal(t, "1 REST, 0 GraphQL", calls(c))
	failure(t, c.Actions.RerunFailed(t.Context(), widgets, 4), Running)
}

func TestARerunThatIsRefused(t *testing.T) {
	for _, r := range []struct {
		reply reply
		want  Kind
		fix   string
	}{
		{reply{409, `{"message": "Conflict"}`, nil}, Running, "wait until"},
		{reply{403, `{"message": "This workflow is already running"}`, nil}, Running, "wait until"},
		{reply{403, `{"message": "Unable to retry this workflow run because it was created over a month ago"}`, nil}, NoRerun, "push a commit"},
		{reply{403, `{"message": "Resource not accessible by integration"}`, nil}, Forbidden, "actions: write"},
		{reply{403, `{"message": "Resource not accessible by integration"}`, map[string]string{"X-Accepted-Github-Permissions": "actions=write"}}, Forbidden, "`actions: write`"},
		{reply{429, `{}`, map[string]string{"Retry-After": "3600"}}, RateLimited, ""},
		{reply{422, `{"message": "Validation Failed"}`, nil}, Invalid, ""},
	} {
		l := dial(t, Options{}, r.reply)
		assert.Contains(t, failure(t, l.Actions.RerunFailed(t.Context(), widgets, 5), r.want).Fix, r.fix)
		assert.Len(t, l.seen, 1)
	}
}
