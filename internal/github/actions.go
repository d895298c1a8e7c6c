package github

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// RunsOf gives the workflow runs on a commit, newest first and without their jobs: at most the newest 300.
// https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
func (c *Client) RunsOf(ctx context.Context, repo model.Repo, sha string) ([]model.CIRun, error) {
	return nil, errNotBuilt
}

// FailedJobs gives the jobs of the newest attempt of a workflow run that failed, in GitHub's order and without their logs.
// https://docs.github.com/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
func (c *Client) FailedJobs(ctx context.Context, repo model.Repo, run int64) ([]model.CIJob, error) {
	return nil, errNotBuilt
}

// RerunFailed runs the failed jobs of a workflow run again. Running means that the run is not completed, NoRerun that
// GitHub will not run it again, Unclear that it may have begun.
// https://docs.github.com/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
func (c *Client) RerunFailed(ctx context.Context, repo model.Repo, run int64) error {
	return errNotBuilt
}
