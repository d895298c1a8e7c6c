package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Job is a job of a workflow run, in one of its attempts. GitHub makes a check run of each, with the same id:
// https://docs.github.com/en/rest/actions/workflow-jobs#get-a-job-for-a-workflow-run
type Job struct {
	ID                 int64
	Attempt            int // that it ran in
	Name               string
	Status, Conclusion string
	Step               string     `json:",omitempty"` // that decided; empty: "Run tests"
	Log                string     `json:",omitempty"` // without GitHub's timestamps
	LogBytes           int64      `json:",omitempty"` // size of the log at least; lines are made up before Log
	Expired            bool       `json:",omitempty"` // its log is deleted
	StartedAt          *time.Time `json:",omitempty"`
	CompletedAt        *time.Time `json:",omitempty"`
}

// unsuccessful are the conclusions that a re-run of failed jobs takes up, and that a run inherits.
func (j *Job) unsuccessful() bool {
	return j.Status == "completed" && !slices.Contains([]string{"success", "neutral", "skipped"}, j.Conclusion)
}

// moveTo sets a job's status; a conclusion counts only once it is completed.
func (j *Job) moveTo(status, conclusion string, now time.Time) {
	if status != "queued" && j.StartedAt == nil {
		j.StartedAt = &now
	}
	if j.Status, j.Conclusion = status, ""; status == "completed" {
		j.Conclusion = conclusion
		if j.CompletedAt == nil {
			j.CompletedAt = &now
		}
	}
}

// jobs are all jobs of all attempts, oldest first. A run that nobody gave jobs has had one, called "test", which went as it did.
func (run *Run) jobs() []*Job {
	if len(run.Jobs) > 0 {
		return run.Jobs
	}
	j := &Job{ID: run.ID + 1, Attempt: run.Attempt, Name: "test"}
	j.moveTo(run.Status, run.Conclusion, run.UpdatedAt)
	return []*Job{j}
}

// latest is the newest execution of each job: after a re-run of failed jobs those that had passed are still there, as they
// were in the attempt before. https://github.com/r-universe-org/help/issues/607
func (run *Run) latest() []*Job {
	var newest []*Job
	for _, j := range run.jobs() {
		if at := slices.IndexFunc(newest, func(o *Job) bool { return o.Name == j.Name }); at >= 0 {
			newest[at] = j
		} else {
			newest = append(newest, j)
		}
	}
	return newest
}

// upTo is latest as it was when an earlier attempt was the newest one.
func (run *Run) upTo(attempt int) []*Job {
	then := *run
	then.Jobs = slices.DeleteFunc(slices.Clone(run.jobs()), func(j *Job) bool { return j.Attempt > attempt })
	if len(then.Jobs) == 0 {
		return nil
	}
	return then.latest()
}

// checks are the check runs of a commit, oldest first: those that Apps made, and of each workflow run the newest execution of each job.
func (r *Repository) checks(sha string) []*CheckRun {
	at := r.checked(sha)
	found := slices.Clone(at.made)
	for _, run := range at.runs {
		for _, j := range run.latest() {
			found = append(found, run.checkRun(j))
		}
	}
	return found
}

// checkRun is what GitHub makes of a job. Those of one run are in one check suite.
func (run *Run) checkRun(j *Job) *CheckRun {
	return &CheckRun{ID: j.ID, Suite: run.ID, Run: run.ID, SHA: run.HeadSHA, Name: j.Name, App: actionsLogin, Status: j.Status,
		Conclusion: j.Conclusion, StartedAt: j.StartedAt, CompletedAt: j.CompletedAt}
}

// job finds a job by its id.
func (r *Repository) job(id int64) (*Run, *Job) {
	for _, run := range r.Runs {
		for _, j := range run.jobs() {
			if j.ID == id {
				return run, j
			}
		}
	}
	return nil, nil
}

func withJob(serve func(*request, *Run, *Job) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		id, err := q.int64Value("id")
		if err != nil {
			return nil, err
		}
		run, j := q.repo.job(id)
		if j == nil {
			return nil, errNotFound
		}
		return serve(q, run, j)
	}
}

func getJob(q *request, run *Run, j *Job) (any, error) { return q.s.json.job(q.repo, run, j), nil }

// listJobs gives the newest execution of each job, or with filter=all every one.
func listJobs(q *request, run *Run) (any, error) {
	switch q.query("filter") {
	case "", "latest":
		return jobPage(q, run, run.latest()), nil
	case "all":
		return jobPage(q, run, run.jobs()), nil
	}
	return nil, unprocessable("Invalid request.\n\nfilter is not a member of [\"latest\", \"all\"].")
}

func listAttemptJobs(q *request, run *Run) (any, error) {
	n, err := q.int64Value("attempt")
	if err != nil || n < 1 || int(n) > run.Attempt {
		return nil, errNotFound
	}
	return jobPage(q, run, run.upTo(int(n))), nil
}

func jobPage(q *request, run *Run, jobs []*Job) obj {
	return obj{"total_count": len(jobs), "jobs": paginate(q, jobs, func(j *Job) obj { return q.s.json.job(q.repo, run, j) })}
}

// job renders the schema job. Its status "queued" has a start too: GitHub describes started_at as never null.
func (js views) job(r *Repository, run *Run, j *Job) obj {
	runURL := fmt.Sprintf("%s/actions/runs/%d", js.urls.repositoryAPI(r), run.ID)
	started := run.UpdatedAt
	if j.StartedAt != nil {
		started = *j.StartedAt
	}
	return obj{
		"id": j.ID, "run_id": run.ID, "run_url": runURL, "run_attempt": j.Attempt, "node_id": nodeID(nodeCheckRun, j.ID), "head_sha": run.HeadSHA,
		"url": fmt.Sprintf("%s/actions/jobs/%d", js.urls.repositoryAPI(r), j.ID), "html_url": js.urls.job(r, run.ID, j.ID), "status": j.Status,
		"conclusion": textOrNil(j.Conclusion), "created_at": stamp(started), "started_at": stamp(started), "completed_at": stampOrNil(j.CompletedAt),
		"name": j.Name, "steps": j.steps(started), "check_run_url": fmt.Sprintf("%s/check-runs/%d", js.urls.repositoryAPI(r), j.ID),
		"labels": []string{"ubuntu-latest"}, "runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil,
		"workflow_name": run.Name, "head_branch": run.HeadBranch,
	}
}

func (a addresses) job(r *Repository, run, job int64) string {
	return fmt.Sprintf("%s/actions/runs/%d/job/%d", a.repository(r), run, job)
}

// steps are those that every job has, around the one that decided. A job that no runner took has none.
func (j *Job) steps(started time.Time) []obj {
	if j.Status == "queued" || j.Conclusion == "skipped" {
		return []obj{}
	}
	last := obj{"name": "Complete job", "status": "queued", "conclusion": nil, "number": 3, "started_at": nil, "completed_at": nil}
	main := obj{"name": cmp.Or(j.Step, "Run tests"), "status": "in_progress", "conclusion": nil, "number": 2, "started_at": stamp(started), "completed_at": nil}
	if j.Status == "completed" {
		end := stampOrNil(j.CompletedAt)
		main["status"], main["conclusion"], main["completed_at"] = "completed", j.stepConclusion(), end
		last["status"], last["conclusion"], last["started_at"], last["completed_at"] = "completed", "success", end, end
	}
	first := obj{"name": "Set up job", "status": "completed", "conclusion": "success", "number": 1, "started_at": stamp(started), "completed_at": stamp(started)}
	return []obj{first, main, last}
}

// stepConclusion says of a step what a job's conclusion comes from: a job that timed out has a step that was cancelled.
// https://docs.github.com/en/actions/reference/workflows-and-actions/contexts#steps-context names the conclusions of steps.
func (j *Job) stepConclusion() string {
	switch j.Conclusion {
	case "timed_out", "action_required":
		return "cancelled"
	case "neutral":
		return "success"
	}
	return j.Conclusion
}

// rerunFailed begins a new attempt of a run, of the jobs that failed. It starts whoever asks for it, a workflow's token too:
// a re-run is no new run, which is what such a token does not start. The words are from
// https://github.com/metabase/metabase/pull/70916 and https://github.com/Azure/bicep-registry-modules/pull/7241.
func rerunFailed(q *request, run *Run) (any, error) {
	refuse := func(why string) (any, error) { return nil, &failure{status: http.StatusForbidden, message: why} }
	now := q.s.world.now()
	switch {
	case run.Status != "completed":
		return refuse("This workflow is already running")
	case now.Sub(run.CreatedAt) > 30*24*time.Hour:
		return refuse("Unable to retry this workflow run because it was created over a month ago")
	}
	failed := slices.DeleteFunc(run.latest(), func(j *Job) bool { return !j.unsuccessful() })
	if len(failed) == 0 {
		return refuse("This workflow run cannot be retried")
	}
	run.Jobs = run.jobs() // what was made up until now happened
	run.Attempt++
	for _, j := range failed {
		again := &Job{ID: q.s.world.nextID(), Attempt: run.Attempt, Name: j.Name}
		again.moveTo("queued", "", now)
		run.Jobs = append(run.Jobs, again)
	}
	run.Status, run.Conclusion, run.UpdatedAt, run.StartedAt, run.Trigger = "queued", "", now, &now, q.user.Login
	q.s.world.changed()
	q.s.hooks.run(q.repo, run)
	return &reply{http.StatusCreated, obj{}}, nil
}
