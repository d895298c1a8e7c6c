package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

const (
	// mostRunPages and mostJobPages are how many pages of a hundred are read at most: 300 runs on one commit, and 1,000 jobs
	// of one run, of which a matrix alone may have 256.
	mostRunPages = 3
	mostJobPages = 10
)

// runNode is a workflow run. go-github leaves out the path of its file.
type runNode struct {
	gogithub.WorkflowRun
	Path string `json:"path"`
}

// run leaves out the branch that GitHub adds to some paths: ".github/workflows/ci.yml@main".
func (n runNode) run() model.CIRun {
	path, _, _ := strings.Cut(n.Path, "@")
	r := model.CIRun{
		ID: n.GetID(), Workflow: n.GetWorkflowID(), Path: path, Name: n.GetName(), Event: n.GetEvent(), Attempt: n.GetRunAttempt(),
		HeadSHA: n.GetHeadSHA(), Branch: n.GetHeadBranch(), Completed: n.GetStatus() == "completed",
		CreatedAt: n.GetCreatedAt().UTC(), UpdatedAt: n.GetUpdatedAt().UTC(), URL: n.GetHTMLURL(),
	}
	if r.Completed {
		r.Conclusion = n.GetConclusion()
	}
	return r
}

// RunsOf gives the workflow runs on a commit, newest first and without their jobs: at most the newest 300.
// https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
func (c Actions) RunsOf(ctx context.Context, repo model.Repo, sha string) ([]model.CIRun, error) {
	op := fmt.Sprintf("read the workflow runs on %s of %s", short(sha), repo)
	if sha == "" { // GitHub would give those of every commit
		return nil, &Error{Kind: Invalid, Op: op, Message: "no commit is named"}
	}
	query := url.Values{"head_sha": {sha}, "exclude_pull_requests": {"true"}}
	all, err := listOf[runNode](ctx, c.conn, op, repo, "actions/runs", query, mostRunPages)
	if err != nil {
		return nil, err
	}
	var runs []model.CIRun
	for _, n := range all {
		runs = append(runs, n.run())
	}
	slices.SortFunc(runs, func(a, b model.CIRun) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
	// What began while the pages were read moves the entries on, so that one may be on two pages.
	return slices.CompactFunc(runs, func(a, b model.CIRun) bool { return a.ID == b.ID }), nil
}

// isFailure leaves out what was cancelled: a job of a matrix is when another one failed.
func isFailure(conclusion string) bool {
	return conclusion == "failure" || conclusion == "timed_out" || conclusion == "startup_failure"
}

// FailedJobs gives the jobs of the newest attempt of a workflow run that failed, in GitHub's order and without their logs.
// https://docs.github.com/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
func (c Actions) FailedJobs(ctx context.Context, repo model.Repo, run int64) ([]model.CIJob, error) {
	op := fmt.Sprintf("read the jobs of workflow run %d of %s", run, repo)
	path := fmt.Sprintf("actions/runs/%d/jobs", run)
	all, err := listOf[gogithub.WorkflowJob](ctx, c.conn, op, repo, path, url.Values{"filter": {"latest"}}, mostJobPages)
	if err != nil {
		return nil, err
	}
	failed := []model.CIJob{}
	for _, n := range all {
		if isFailure(n.GetConclusion()) {
			failed = append(failed, failedJob(&n))
		}
	}
	return failed, nil
}

func failedJob(n *gogithub.WorkflowJob) model.CIJob {
	j := model.CIJob{ID: n.GetID(), Name: n.GetName(), Conclusion: n.GetConclusion(), URL: n.GetHTMLURL()}
	for _, step := range n.Steps {
		if isFailure(step.GetConclusion()) || step.GetConclusion() == "cancelled" { // the one at which a job timed out
			j.Step = step.GetName()
			break
		}
	}
	return j
}

// RerunFailed runs the failed jobs of a workflow run again. Running means that the run is not completed, NoRerun that
// GitHub will not run it again, Unclear that it may have begun.
// https://docs.github.com/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
func (c Actions) RerunFailed(ctx context.Context, repo model.Repo, run int64) error {
	op := fmt.Sprintf("rerun the failed jobs of workflow run %d of %s", run, repo)
	err := c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", run), nil, nil)
	return explained(err, rerunRefusals...)
}

// Cancel stops a workflow run, which takes GitHub a while. One that is completed stays as it is.
// https://docs.github.com/rest/actions/workflow-runs#cancel-a-workflow-run
func (c Actions) Cancel(ctx context.Context, repo model.Repo, run int64) error {
	op := fmt.Sprintf("cancel workflow run %d of %s", run, repo)
	err := c.write(ctx, op, repo, http.MethodPost, fmt.Sprintf("actions/runs/%d/cancel", run), nil, nil)
	if e, ok := err.(*Error); ok && e.Status == http.StatusConflict { // "Cannot cancel a workflow run that is completed."
		return nil
	}
	return explained(err, noActions)
}

// noActions names the right to start and stop workflows.
var noActions = refusalRow{status: http.StatusForbidden, fix: fixActions}

// rerunRefusals have a meaning in their words only: "This workflow is already running", "Unable to retry this workflow run because
// it was created over a month ago". https://github.com/cli/cli/issues/9221
var rerunRefusals = []refusalRow{
	{http.StatusConflict, "", Running, "wait until it is completed"},
	{http.StatusForbidden, "already running", Running, "wait until it is completed"},
	{http.StatusForbidden, "unable to re", NoRerun, "push a commit, so that a new run begins"},
	{http.StatusForbidden, "cannot be re", NoRerun, "push a commit, so that a new run begins"},
	{http.StatusForbidden, "no failed jobs", NoRerun, "push a commit, so that a new run begins"},
	noActions,
}
