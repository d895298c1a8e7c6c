package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
