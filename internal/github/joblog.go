package github

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/model"
)

var errNotBuilt = errors.New("not built yet")

// JobLog gives the last limit bytes of a job's log, whatever its size, and whether there was more. They may begin within a
// character. A log that is not there, or not any more, is empty and no error.
// https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (c *Client) JobLog(ctx context.Context, repo model.Repo, job int64, limit int64) (text []byte, cut bool, err error) {
	return nil, false, errNotBuilt
}
