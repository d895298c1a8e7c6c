package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// jobsOf are the jobs of a run by name: how they stand and in which attempt they ran.
func (w *town) jobsOf(run int, query string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, j := range w.as("", "GET", fmt.Sprintf("%s/actions/runs/%d%s", repoPath, run, query), nil).want(200).obj()["jobs"].([]any) {
		o := j.(obj)
		found[fmt.Sprintf("%v/%v", o["name"], o["run_attempt"])] = fmt.Sprint(o["status"], " ", o["conclusion"])
	}
	return found
}

func (w *town) job(run int, name string) obj {
	w.t.Helper()
	for _, j := range w.as("", "GET", fmt.Sprintf("%s/actions/runs/%d/jobs", repoPath, run), nil).want(200).obj()["jobs"].([]any) {
		if j.(obj)["name"] == name {
			return j.(obj)
		}
	}
	require.Fail(w.t, "no job "+name)
	return nil
}

func (w *town) rollup(number int) any {
	w.t.Helper()
	pull := w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { statusCheckRollup { state } } } }`, number))["repository"].(obj)["pullRequest"].(obj)
	if pull["statusCheckRollup"] == nil {
		return nil
	}
	return pull["statusCheckRollup"].(obj)["state"]
}

func TestJobsOfARunAreChecksOfItsHead(t *testing.T) {
	w, c := townWithClone(t)
	head := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	require.Nil(t, w.rollup(n))
	before := w.deliveries()
	run := obj{"name": "CI", "path": ".github/workflows/ci.yml", "event": "pull_request", "head_sha": head, "head_branch": "x", "status": "in_progress",
		"jobs": []obj{{"name": "lint", "conclusion": "success"}, {"name": "test (3.12)"}}}
	w.as("", "PUT", "/_sandbox/runs/500", run).want(200)
	w.as("", "PUT", "/_sandbox/runs/501", obj{"name": "Docs", "path": ".github/workflows/docs.yml", "head_sha": head, "status": "completed"}).want(200)
	require.Equal(t, map[string]string{"lint/1": "completed success", "test (3.12)/1": "in_progress <nil>"}, w.jobsOf(500, "/jobs"))
	require.Equal(t, "PENDING", w.rollup(n))

	got := w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed", "jobs": []obj{{"name": "test (3.12)", "conclusion": "failure", "step": "Run pytest", "log": "1 failed\n"}}}).want(200).obj()
	require.Equal(t, "failure", got["conclusion"], "a job of it failed")
	require.Equal(t, ".github/workflows/ci.yml", got["path"])
	require.Equal(t, "FAILURE", w.rollup(n))
	require.Equal(t, []string{"workflow_run.in_progress", "workflow_run.completed", "workflow_run.completed"}, w.delivered(before))
	job := w.job(500, "test (3.12)")
	require.Equal(t, "Run pytest failure", stepThat(job, "failure"))
	names := map[string]any{}
	for _, r := range w.as("", "GET", repoPath+"/commits/"+head+"/check-runs", nil).want(200).obj()["check_runs"].([]any) {
		names[r.(obj)["name"].(string)] = r.(obj)["conclusion"]
	}
	require.Equal(t, map[string]any{"lint": "success", "test (3.12)": "failure", "test": "success"}, names)
	list := w.as("", "GET", repoPath+"/actions/runs?head_sha="+head, nil).want(200).obj()
	require.EqualValues(t, 2, list["total_count"])
	ids := map[any]bool{}
	for _, r := range list["workflow_runs"].([]any) {
		ids[r.(obj)["workflow_id"]] = true
	}
	require.Len(t, ids, 2, "each file is a workflow")

	w.as("", "PUT", "/_sandbox/runs/500", obj{"head_sha": strings.Repeat("1", 40), "status": "completed"}).want(200)
	require.Equal(t, "SUCCESS", w.rollup(n), "the run is another head's now")
	w.as("", "PUT", "/_sandbox/runs/500", obj{"head_sha": head, "status": "completed", "conclusion": "failure"}).want(200)
	w.as("github-actions[bot]", "PATCH", fmt.Sprintf("%s/check-runs/%.0f", repoPath, job["id"]), obj{"conclusion": "success"}).want(403)
	w.restart()
	require.Equal(t, "FAILURE", w.rollup(n))
	require.Equal(t, "Run pytest failure", stepThat(w.job(500, "test (3.12)"), "failure"))
	for field, bad := range map[string]obj{
		"conclusion:": {"conclusion": "bad"}, "jobs[0].name:": {"jobs": []obj{{"conclusion": "failure"}}},
		"jobs[1].conclusion:": {"jobs": []obj{{"name": "a"}, {"name": "b", "conclusion": "stale"}}}, "jobs[0].status:": {"jobs": []obj{{"name": "a", "status": "lost"}}},
	} {
		require.Contains(t, string(w.as("", "PUT", "/_sandbox/runs/600", bad).want(422).body), field)
	}
}

func stepThat(job obj, conclusion string) string {
	for _, s := range job["steps"].([]any) {
		if s.(obj)["conclusion"] == conclusion {
			return fmt.Sprint(s.(obj)["name"], " ", s.(obj)["conclusion"])
		}
	}
	return ""
}

func TestFailedJobsAreRunAgain(t *testing.T) {
	w := newTown(t)
	w.grant("rita", "read")
	w.grant("wendy", "write")
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(noon)
	c := w.clone("octo")
	head := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	at := repoPath + "/actions/runs/500"
	w.as("", "PUT", "/_sandbox/runs/500", obj{"head_sha": head, "status": "in_progress", "jobs": []obj{{"name": "lint", "conclusion": "success"}, {"name": "test", "conclusion": "failure"}, {"name": "more"}}}).want(200)
	require.Equal(t, "This workflow is already running", w.as("wendy", "POST", at+"/rerun-failed-jobs", nil).want(403).obj()["message"])
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed", "conclusion": "failure", "jobs": []obj{{"name": "more", "conclusion": "cancelled"}}}).want(200)
	first := w.job(500, "test")["id"]

	w.as("rita", "POST", at+"/rerun-failed-jobs", nil).want(403)
	w.as("", "PUT", "/_sandbox/users/"+strings.ReplaceAll(actionsLogin, "[", "%5B"), obj{"permission": "read"}).want(200)
	require.Equal(t, "Resource not accessible by integration", w.as("actions", "POST", at+"/rerun-failed-jobs", nil).want(403).obj()["message"])
	w.as("", "PUT", "/_sandbox/users/"+strings.ReplaceAll(actionsLogin, "[", "%5B"), obj{"permission": "write"}).want(200)

	w.s.SetClock(noon.Add(time.Hour))
	before := w.deliveries()
	w.as("actions", "POST", at+"/rerun-failed-jobs", nil).want(201)
	require.Equal(t, []string{"workflow_run.requested"}, w.delivered(before), "a workflow's token may, too")
	run := w.as("", "GET", at, nil).want(200).obj()
	require.EqualValues(t, 2, run["run_attempt"])
	require.Equal(t, "queued", run["status"])
	require.Nil(t, run["conclusion"])
	require.Equal(t, "2026-03-01T13:00:00Z", run["updated_at"])
	require.Equal(t, "2026-03-01T12:00:00Z", run["created_at"])
	require.Contains(t, run["previous_attempt_url"], "/actions/runs/500/attempts/1")
	require.Equal(t, actionsLogin, run["triggering_actor"].(obj)["login"])
	require.Equal(t, "failure", w.as("", "GET", at+"/attempts/1", nil).want(200).obj()["conclusion"])
	require.Equal(t, map[string]string{"lint/1": "completed success", "test/2": "queued <nil>", "more/2": "queued <nil>"}, w.jobsOf(500, "/jobs?filter=latest"))
	require.Equal(t, map[string]string{"lint/1": "completed success", "test/1": "completed failure", "more/1": "completed cancelled",
		"test/2": "queued <nil>", "more/2": "queued <nil>"}, w.jobsOf(500, "/jobs?filter=all"))
	require.Equal(t, map[string]string{"lint/1": "completed success", "test/1": "completed failure", "more/1": "completed cancelled"}, w.jobsOf(500, "/attempts/1/jobs"))
	require.NotEqual(t, first, w.job(500, "test")["id"])
	require.Equal(t, "PENDING", w.rollup(n), "the failure is of an attempt that is over")
	w.as("wendy", "POST", at+"/rerun-failed-jobs", nil).want(403)

	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed"}).want(200)
	require.Equal(t, "SUCCESS", w.rollup(n))
	require.Equal(t, "This workflow run cannot be retried", w.as("wendy", "POST", at+"/rerun-failed-jobs", nil).want(403).obj()["message"])
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "queued", "attempt": 3}).want(200)
	require.Equal(t, map[string]string{"lint/3": "queued <nil>", "test/3": "queued <nil>", "more/3": "queued <nil>"}, w.jobsOf(500, "/jobs"))
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed", "conclusion": "failure"}).want(200)
	w.s.SetClock(noon.Add(31 * 24 * time.Hour))
	require.Contains(t, w.as("wendy", "POST", at+"/rerun-failed-jobs", nil).want(403).obj()["message"], "over a month ago")
}

// logAt asks for a job's log and gives where it is.
func (w *town) logAt(job any) string {
	w.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r := must.Get(http.NewRequest("GET", fmt.Sprintf("%s%s%s/actions/jobs/%.0f/logs", w.url, restPrefix, repoPath, job), nil))(w.t)
	r.Header.Set("Authorization", "Bearer sandbox-octo")
	resp := must.Get(client.Do(r))(w.t)
	defer resp.Body.Close()
	require.Equal(w.t, http.StatusFound, resp.StatusCode)
	return strings.TrimPrefix(resp.Header.Get("Location"), w.url)
}

func TestALogIsReadFromElsewhere(t *testing.T) {
	w := newTown(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(noon)
	jobs := []obj{{"name": "test", "conclusion": "failure", "step": "Run pytest", "log": "::group::tests\n\x1b[31m1 failed\x1b[0m\n"}, {"name": "skipped", "conclusion": "skipped"}, {"name": "more"},
		{"name": "old", "conclusion": "failure", "expired": true}}
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "in_progress", "jobs": jobs}).want(200)
	at := w.logAt(w.job(500, "test")["id"])
	log := w.request("", "GET", at, nil).want(200)
	require.Equal(t, "text/plain; charset=utf-8", log.header.Get("Content-Type"))
	stamped := regexp.MustCompile(`^2026-03-01T12:00:00\.0000000Z `)
	text, marked := strings.CutPrefix(string(log.body), "\ufeff")
	require.True(t, marked)
	for line := range strings.Lines(text) {
		require.Regexp(t, stamped, line)
	}
	require.Contains(t, text, "Z ##[group]Run pytest\n")
	require.Contains(t, text, "Z \x1b[31m1 failed\x1b[0m\n")
	require.Contains(t, text, "Z ##[error]Process completed with exit code 1.\n")

	require.Contains(t, string(w.request("octo", "GET", at, nil).want(403).body), "<Code>AuthenticationFailed</Code>")
	r := must.Get(http.NewRequest("GET", w.url+at, nil))(t)
	r.Header.Set("Authorization", "token sandbox-octo")
	resp := must.Get(http.DefaultClient.Do(r))(t)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 400, resp.StatusCode)
	w.request("", "GET", strings.Replace(at, "sig=", "sig=0", 1), nil).want(403)
	w.request("", "GET", w.logAt(w.job(500, "more")["id"]), nil).want(404)
	require.Contains(t, string(w.request("", "GET", w.logAt(w.job(500, "skipped")["id"]), nil).want(404).body), "BlobNotFound")
	gone := w.as("octo", "GET", fmt.Sprintf("%s/actions/jobs/%.0f/logs", repoPath, w.job(500, "old")["id"]), nil).want(410)
	require.Equal(t, "Server Error", gone.obj()["message"])
	w.s.SetClock(noon.Add(61 * time.Second))
	w.request("", "GET", at, nil).want(403)

	calls := w.as("", "GET", "/_sandbox/calls", nil).want(200).list()
	require.Equal(t, "blob", calls[len(calls)-1]["kind"])
}

func TestALogOfAnySize(t *testing.T) {
	w := newTown(t)
	const size = 200 << 20
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed", "jobs": []obj{{"name": "test", "conclusion": "failure", "log": "the end\n", "log_bytes": size}}}).want(200)
	at := w.logAt(w.job(500, "test")["id"])
	resp := must.Get(http.Get(w.url + at))(t)
	n := must.Get(io.Copy(io.Discard, resp.Body))(t)
	require.NoError(t, resp.Body.Close())
	require.EqualValues(t, resp.ContentLength, n)
	require.GreaterOrEqual(t, n, int64(size))

	part := func(want string) (int, []byte) {
		t.Helper()
		r := must.Get(http.NewRequest("GET", w.url+at, nil))(t)
		r.Header.Set("Range", want)
		resp := must.Get(http.DefaultClient.Do(r))(t)
		defer resp.Body.Close()
		return resp.StatusCode, must.Get(io.ReadAll(io.LimitReader(resp.Body, 4096)))(t)
	}
	status, tail := part(fmt.Sprintf("bytes=%d-", n-200))
	require.Equal(t, http.StatusPartialContent, status)
	require.Len(t, tail, 200)
	require.Contains(t, string(tail), "the end\n")
	_, again := part(fmt.Sprintf("bytes=%d-%d", n-200, n-101))
	require.Equal(t, tail[:100], again)
	_, middle := part(fmt.Sprintf("bytes=%d-%d", size/2, size/2+1000))
	require.Contains(t, string(middle), "Z ok  \tA line that says nothing.")
	status, start := part("bytes=-200")
	require.Equal(t, http.StatusOK, status, "blob storage does not know ends of unknown length")
	require.True(t, bytes.HasPrefix(start, []byte("\ufeff")))
	status, _ = part(fmt.Sprintf("bytes=%d-", n))
	require.Equal(t, http.StatusRequestedRangeNotSatisfiable, status)
}
