package sandbox

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
)

var runRoutes = []route{
	{"GET /repos/{owner}/{repo}/actions/runs", needRead, "actions=read", listRuns},
	{"GET /repos/{owner}/{repo}/actions/runs/{id}", needRead, "actions=read", withRun(func(q *request, run *Run) (any, error) { return q.s.json.run(q.repo, run), nil })},
	{"GET /repos/{owner}/{repo}/actions/runs/{id}/attempts/{attempt}", needRead, "actions=read", withRun(getAttempt)},
	{"GET /repos/{owner}/{repo}/actions/runs/{id}/attempts/{attempt}/jobs", needRead, "actions=read", withRun(listAttemptJobs)},
	{"GET /repos/{owner}/{repo}/actions/runs/{id}/jobs", needRead, "actions=read", withRun(listJobs)},
	{"GET /repos/{owner}/{repo}/actions/jobs/{id}", needRead, "actions=read", withJob(getJob)},
	{"GET /repos/{owner}/{repo}/actions/jobs/{id}/logs", needRead, "actions=read", withJob(redirectToLog)},
	{"POST /repos/{owner}/{repo}/actions/runs/{id}/rerun-failed-jobs", needWrite, "actions=write", withRun(rerunFailed)},
	{"POST /repos/{owner}/{repo}/actions/runs/{id}/cancel", needWrite, "actions=write", withRun(func(q *request, run *Run) (any, error) {
		if run.Status == "completed" {
			return nil, &failure{status: http.StatusConflict, message: "Cannot cancel a workflow run that is completed."}
		}
		q.s.world.putRun(q.repo, &Run{ID: run.ID, Status: "completed", Conclusion: "cancelled"})
		return &reply{http.StatusAccepted, obj{}}, nil
	})},
}

func withRun(serve func(*request, *Run) (any, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		id, err := q.int64Value("id")
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(q.repo.Runs, func(run *Run) bool { return run.ID == id })
		if at < 0 {
			return nil, errNotFound
		}
		return serve(q, q.repo.Runs[at])
	}
}

// putRun makes a run, or moves it on: empty fields of in stay as they are, and its jobs go along, but for those of in. What it
// becomes is told to webhooks.
func (w world) putRun(r *Repository, in *Run) *Run {
	now := w.now()
	at := slices.IndexFunc(r.Runs, func(run *Run) bool { return run.ID == in.ID })
	fresh := at < 0
	if fresh {
		r.Runs = append(r.Runs, &Run{
			ID: in.ID, Name: "MergeXO", Status: "queued", Attempt: 1, Number: len(r.Runs) + 1, Event: "pull_request_review_comment",
			HeadBranch: r.DefaultBranch, HeadSHA: w.git.branchSHA(r, r.DefaultBranch), Actor: cmp.Or(in.Actor, r.Owner), CreatedAt: now,
		})
		at = len(r.Runs) - 1
	}
	run := r.Runs[at]
	was, attempt := run.Status, run.Attempt
	run.Status, run.Name, run.Title, run.Path = cmp.Or(in.Status, run.Status), cmp.Or(in.Name, run.Name), cmp.Or(in.Title, run.Title), cmp.Or(in.Path, run.Path)
	run.Event, run.HeadSHA = cmp.Or(in.Event, run.Event), cmp.Or(in.HeadSHA, run.HeadSHA)
	run.HeadBranch, run.HeadRepo = cmp.Or(in.HeadBranch, run.HeadBranch), cmp.Or(in.HeadRepo, run.HeadRepo)
	run.Attempt = cmp.Or(in.Attempt, run.Attempt)
	r.index = checkIndex{}
	run.UpdatedAt, run.Conclusion = now, ""
	if run.Status == "completed" {
		run.Conclusion = cmp.Or(in.Conclusion, concluded(in.Jobs))
	}
	w.putJobs(run, in.Jobs)
	w.changed()
	if fresh || run.Status != was || run.Attempt != attempt {
		w.hooks.run(r, run)
	}
	return run
}

func (h hooks) run(r *Repository, run *Run) {
	action := map[string]string{"queued": "requested", "in_progress": "in_progress", "completed": "completed"}[run.Status]
	h.deliver("workflow_run", r, h.world.author(cmp.Or(run.Trigger, run.Actor)), obj{"action": action, "workflow_run": h.json.run(r, run), "workflow": h.json.workflow(r, run)})
}

const ownWorkflow = ".github/workflows/mergexo.yml"

// workflow is the file of a run's workflow.
func (run *Run) workflow() string { return cmp.Or(run.Path, ownWorkflow) }

// workflowID is the same for all runs of one file, and no more than GraphQL's Int holds.
func workflowID(r *Repository, run *Run) int64 {
	if run.workflow() == ownWorkflow {
		return r.ID + 1_000_000_000
	}
	return r.ID + 1_100_000_000 + int64(crc32.ChecksumIEEE([]byte(run.Path)))%1_000_000_000
}

func (js views) workflow(r *Repository, run *Run) obj {
	id, path := workflowID(r, run), run.workflow()
	html := js.urls.repository(r)
	return obj{
		"id": id, "node_id": nodeID("W", id), "name": run.Name, "path": path, "state": "active", "created_at": stamp(r.CreatedAt),
		"updated_at": stamp(r.CreatedAt), "url": fmt.Sprintf("%s/actions/workflows/%d", js.urls.repositoryAPI(r), id),
		"html_url": html + "/blob/" + r.DefaultBranch + "/" + path, "badge_url": html + "/workflows/" + run.Name + "/badge.svg",
	}
}

// run renders the schema workflow-run.
func (js views) run(r *Repository, run *Run) obj {
	self := fmt.Sprintf("%s/actions/runs/%d", js.urls.repositoryAPI(r), run.ID)
	started, head := run.CreatedAt, r
	if run.StartedAt != nil {
		started = *run.StartedAt
	}
	if owner, name, ok := strings.Cut(run.HeadRepo, "/"); ok {
		head = js.world.repository(owner, name)
	}
	o := obj{
		"id": run.ID, "name": run.Name, "node_id": nodeID(nodeRun, run.ID), "check_suite_id": run.ID, "check_suite_node_id": nodeID("CS", run.ID),
		"head_branch": run.HeadBranch, "head_sha": run.HeadSHA, "path": run.workflow(), "run_number": run.Number,
		"run_attempt": run.Attempt, "referenced_workflows": []obj{}, "event": run.Event, "status": run.Status, "conclusion": textOrNil(run.Conclusion),
		"workflow_id": workflowID(r, run), "url": self, "html_url": fmt.Sprintf("%s/actions/runs/%d", js.urls.repository(r), run.ID),
		"pull_requests": js.runPulls(r, run), "created_at": stamp(run.CreatedAt), "updated_at": stamp(run.UpdatedAt),
		"actor": js.user(js.world.author(run.Actor)), "triggering_actor": js.user(js.world.author(cmp.Or(run.Trigger, run.Actor))), "run_started_at": stamp(started),
		"jobs_url": self + "/jobs", "logs_url": self + "/logs", "check_suite_url": fmt.Sprintf("%s/check-suites/%d", js.urls.repositoryAPI(r), run.ID),
		"artifacts_url": self + "/artifacts", "cancel_url": self + "/cancel", "rerun_url": self + "/rerun", "previous_attempt_url": nil,
		"workflow_url": fmt.Sprintf("%s/actions/workflows/%d", js.urls.repositoryAPI(r), workflowID(r, run)), "display_title": cmp.Or(run.Title, run.Name),
		"repository": js.minimalRepository(r), "head_repository": nil, "head_commit": nil,
	}
	if head != nil { // of a fork that is deleted there is none
		o["head_repository"] = js.minimalRepository(head)
	}
	if run.Attempt > 1 {
		o["previous_attempt_url"] = fmt.Sprintf("%s/attempts/%d", self, run.Attempt-1)
	}
	if c, err := js.git.commitOf(r, run.HeadSHA); run.HeadSHA != "" && err == nil {
		o["head_commit"] = headCommitJSON(c)
	}
	return o
}

// runPulls are the open pull requests of the run's branch, as pull-request-minimal.
func (js views) runPulls(r *Repository, run *Run) []obj {
	if run.HeadRepo != "" {
		return []obj{}
	}
	return js.pullsWhere(r, func(i *Issue) bool { return i.Pull.HeadRef == run.HeadBranch })
}

// pullsWhere are open pull requests of r's own branches, as pull-request-minimal: GitHub connects nothing with those of forks.
func (js views) pullsWhere(r *Repository, is func(*Issue) bool) []obj {
	list := []obj{}
	for _, i := range r.openPulls() {
		if i.Pull.HeadRepo != r.ID || !is(i) {
			continue
		}
		end := func(ref, sha string) obj {
			return obj{"ref": ref, "sha": sha, "repo": obj{"id": r.ID, "url": js.urls.repositoryAPI(r), "name": r.Name}}
		}
		list = append(list, obj{
			"id": i.Pull.ID, "number": i.Number, "url": js.urls.pullAPI(i),
			"head": end(i.Pull.HeadRef, js.pulls.headSHA(i)), "base": end(i.Pull.BaseRef, i.Pull.BaseSHA),
		})
	}
	return list
}

func listRuns(q *request) (any, error) {
	var found []*Run
	for _, run := range slices.Backward(q.repo.Runs) {
		status := q.query("status")
		switch {
		case q.query("head_sha") != "" && q.query("head_sha") != run.HeadSHA,
			q.query("branch") != "" && q.query("branch") != run.HeadBranch,
			q.query("event") != "" && q.query("event") != run.Event,
			status != "" && status != run.Status && status != run.Conclusion:
		default:
			found = append(found, run)
		}
	}
	return obj{"total_count": len(found), "workflow_runs": paginate(q, found, func(run *Run) obj { return q.s.json.run(q.repo, run) })}, nil
}

// getAttempt answers the run as it is for its newest attempt, and as completed for earlier ones.
func getAttempt(q *request, run *Run) (any, error) {
	n, err := q.int64Value("attempt")
	if err != nil || n < 1 || int(n) > run.Attempt {
		return nil, errNotFound
	}
	o := q.s.json.run(q.repo, run)
	if int(n) < run.Attempt {
		o["status"], o["conclusion"] = "completed", "cancelled"
		if then := run.upTo(int(n)); run.Jobs != nil && len(then) > 0 {
			o["conclusion"] = concluded(then)
		}
	}
	o["run_attempt"] = n
	return o, nil
}
