package github

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/mergexo/mergexo/internal/model"
)

// JobLog gives the last limit bytes of a job's log, whatever its size, and whether there was more. They may begin within a
// character. A log that is not there, or no longer, is empty and no error.
// https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (c Actions) JobLog(ctx context.Context, repo model.Repo, job int64, limit int64) (text []byte, cut bool, err error) {
	op := fmt.Sprintf("read the log of job %d of %s", job, repo)
	if err := c.check(op, repo); err != nil {
		return nil, false, err
	}
	t := &tail{limit: int(max(0, min(limit, maxBody)))}
	path := fmt.Sprintf("repos/%s/actions/jobs/%d/logs", repo, job)
	resp, err := c.send(context.WithValue(ctx, tailOnly{}, t), http.MethodGet, path, nil, nil)
	if err == nil && resp.StatusCode == http.StatusOK {
		return t.kept, t.cut, nil
	} else if err == nil {
		err = refusal(resp.StatusCode, nil, resp.Header, c.line)
	}
	e := c.fail(op, err)
	switch {
	case e.Kind == NotFound || e.Kind == Gone:
		return nil, false, nil
	case t.stored && (e.Kind == Forbidden || e.Kind == Unauthorized || e.Kind == Invalid): // the address is good for a minute
		e.Kind, e.Message, e.Fix = Unavailable, "where GitHub keeps it: "+e.Message, fixLater
	}
	return nil, false, e
}

// tailOnly is the mark of a read of which only the end is kept, in its context: a *tail.
type tailOnly struct{}

// tail keeps the last bytes of what an attempt reads, and never more than twice as many.
type tail struct {
	limit  int
	stored bool // the newest attempt was outside the API, where a redirect led
	kept   []byte
	cut    bool
}

// read reads all of the body, beginning again.
func (t *tail) read(body io.Reader) error {
	t.kept, t.cut = nil, false
	_, err := io.Copy(t, body)
	t.shorten()
	return err
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.limit+64<<10 {
		t.shorten()
	}
	return len(p), nil
}

func (t *tail) shorten() {
	if over := len(t.kept) - t.limit; over > 0 {
		t.cut = true
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}
