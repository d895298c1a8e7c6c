package redact

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// How much of a workflow run is read.
const (
	maxJobs = 5       // failed jobs
	maxLog  = 1 << 20 // bytes of the end of a job's log
)

// FailedJobs reads the failed jobs of a workflow run with the end of their logs.
func FailedJobs(ctx context.Context, t *thread.Thread, run int64) ([]model.CIJob, error) {
	jobs, err := t.GitHub.Actions.FailedJobs(ctx, t.Event.Repo, run)
	if err != nil {
		return nil, err
	}
	for i := range jobs[:min(len(jobs), maxJobs)] {
		raw, cut, err := t.GitHub.Actions.JobLog(ctx, t.Event.Repo, jobs[i].ID, maxLog)
		if k := github.KindOf(err); k == github.RateLimited || ctx.Err() != nil {
			return nil, err
		}
		if err != nil { // without it the name of the job and its step say something still
			t.Log.Warn("log_unknown", "pr_number", t.Event.Number, "job", jobs[i].ID, "error", err)
			continue
		}
		jobs[i].Log, jobs[i].Cut = Text(ctx, t, turn.CleanLog(raw, cut)), cut
	}
	return jobs, nil
}
