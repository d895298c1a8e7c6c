// Package runner starts a program for each event of a sandbox, as GitHub Actions starts a workflow run.
package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/sandbox"
)

// Options say what is run for an event, and where.
type Options struct {
	// Program and its arguments; it reads the event from the variables that a workflow's run has.
	Program []string
	// Env is what the program's environment has besides: at least PATH.
	Env []string
	// Token is the program's, and what the sandbox is told with how a run stands.
	Token string
	// Dir holds the payload of the event that is in progress, and what the program puts into RUNNER_TEMP. It must be there.
	Dir string
	// Patience is how long a run that is to stop may go on; then it is killed.
	Patience time.Duration
}

// Runner hears events, and runs the program for one after the other. Of several that wait for the same issue or pull request only
// the newest is kept: its run takes up what the others were about.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
type Runner struct {
	o    Options
	urls sandbox.URLs

	mu      sync.Mutex
	waiting []event
	running bool
	changed chan struct{} // closed when any of the above is another
}

// New makes a runner that hears events at once, and runs nothing before Serve.
func New(o Options) *Runner { return &Runner{o: o, changed: make(chan struct{})} }

// Hear takes an event in. It is for sandbox.Options.Deliver, and keeps nothing of the payload.
func (r *Runner) Hear(d sandbox.Delivery) {
	e, ok := hear(d)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(slices.DeleteFunc(r.waiting, func(w event) bool { return w.group == e.group }), e)
	r.tell()
}

// tell wakes who waits for a change.
func (r *Runner) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Pending is how many events wait for a run or are in one.
func (r *Runner) Pending() int {
	n, _ := r.state()
	return n
}

func (r *Runner) state() (pending int, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pending = len(r.waiting); r.running {
		pending++
	}
	return pending, r.changed
}

// Idle returns when no event waits and none is in a run, or with the context's error.
func (r *Runner) Idle(ctx context.Context) error {
	for {
		n, changed := r.state()
		if n == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Serve runs the program for each event that is heard, until the context ends. The run that is in progress then is interrupted.
func (r *Runner) Serve(ctx context.Context, urls sandbox.URLs) error {
	r.urls = urls
	for {
		e, ok, changed := r.next()
		if ok {
			err := r.run(ctx, e)
			r.mu.Lock()
			r.running = false
			r.tell()
			r.mu.Unlock()
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return fmt.Errorf("run for event %d: %w", e.id, err)
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *Runner) next() (e event, ok bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return event{}, false, r.changed
	}
	e, r.waiting, r.running = r.waiting[0], r.waiting[1:], true
	return e, true, r.changed
}

// firstRun is where the ids of runs begin: GitHub's are that long.
const firstRun = 20_000_000_000

// run is one run: it shows in the sandbox as GitHub Actions shows it, and its log is kept there.
func (r *Runner) run(ctx context.Context, e event) error {
	id := firstRun + e.id
	payload := filepath.Join(r.o.Dir, "event.json")
	if err := os.WriteFile(payload, e.payload, 0o600); err != nil {
		return fmt.Errorf("write the payload: %w", err)
	}
	if err := r.show(ctx, id, e, job{Name: "mergexo", Step: "Answer", Status: "in_progress"}); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, r.o.Program[0], r.o.Program[1:]...) //nolint:gosec // our own program
	cmd.Env = slices.Concat(r.o.Env, []string{
		"GITHUB_EVENT_NAME=" + e.name, "GITHUB_EVENT_PATH=" + payload, "GITHUB_REPOSITORY=" + e.repo, fmt.Sprintf("GITHUB_RUN_ID=%d", id), "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_API_URL=" + r.urls.API, "GITHUB_GRAPHQL_URL=" + r.urls.GraphQL, "GITHUB_SERVER_URL=" + r.urls.Server, "RUNNER_TEMP=" + r.o.Dir,
		"GITHUB_WORKFLOW_REF=" + e.repo + "/.github/workflows/mergexo.yml@refs/heads/main", "INPUT_TOKEN=" + r.o.Token,
	})
	log := bytes.NewBufferString(e.about())
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.o.Dir, log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = r.o.Patience
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("start %s: %w", r.o.Program[0], err)
	}
	code := cmd.ProcessState.ExitCode()
	fmt.Fprintf(log, "exit code %d\n", code)
	done := job{Name: "mergexo", Step: "Answer", Status: "completed", Conclusion: conclusion(code), Log: log.String()}
	return r.show(context.WithoutCancel(ctx), id, e, done)
}

// conclusion is how a run ends: the action makes a warning of what a person has to decide, and of what comes later.
func conclusion(exit int) string {
	if slices.Contains([]int{0, 3, 75}, exit) {
		return "success"
	}
	return "failure"
}

// job is one of PUT /_sandbox/runs/{id}.
type job struct {
	Name       string `json:"name"`
	Step       string `json:"step"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion,omitempty"`
	Log        string `json:"log,omitempty"`
}

// show tells the sandbox how a run stands.
func (r *Runner) show(ctx context.Context, id int64, e event, j job) error {
	body, err := json.Marshal(map[string]any{
		"repository": e.repo, "event": e.name, "actor": e.sender, "display_title": e.title, "status": j.Status, "conclusion": j.Conclusion, "jobs": []job{j},
	})
	if err != nil {
		return fmt.Errorf("show run %d: %w", id, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, fmt.Sprintf("%s/_sandbox/runs/%d", r.urls.Server, id), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("show run %d: %w", id, err)
	}
	req.Header.Set("Authorization", "Bearer "+r.o.Token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req) // no proxy stands before this machine's own
	if err != nil {
		return fmt.Errorf("show run %d: %w", id, err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, bytes.TrimSpace(said))
	}
	if err != nil {
		return fmt.Errorf("show run %d: %w", id, err)
	}
	return nil
}
