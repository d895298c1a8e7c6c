package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// newCI is a world in which failures of CI are feedback.
func newCI(t *testing.T, when string) *world {
	t.Helper()
	return newWorld(t, "", "[feedback]\nci = \""+when+"\"")
}

// ci is a workflow run on the head as it is now.
func (w *world) ci(id int, name, status, conclusion string) {
	w.t.Helper()
	w.later(time.Minute)
	job := object{"name": "build", "conclusion": conclusion, "step": "Run tests", "log": "2026-01-02T12:00:00.0000000Z \x1b[31mFAIL\x1b[0m TestGreet\n"}
	w.put(fmt.Sprintf("/_sandbox/runs/%d", id), object{
		"name": name, "path": ".github/workflows/" + name + ".yml", "event": "push", "status": status, "conclusion": conclusion, "head_sha": w.tip(), "head_branch": w.head, "jobs": []object{job},
	})
}

func TestAFailureOfCIIsFeedback(t *testing.T) {
	w := newCI(t, "first_fail").whoseAgent("logs")
	w.ci(9001, "test", "completed", "failure")
	w.done(w.handle(w.delivery("workflow_run")))
	receipt := w.saidOnce("turn", "done")
	assert.Contains(t, receipt, "FAIL TestGreet")
	assert.NotContains(t, receipt, "\x1b")
	assert.Contains(t, receipt, fmt.Sprintf("%d:actions:9001:", w.number))
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("workflow_run")).Result, "once")
	w.rests()
	assert.Equal(t, 1, w.calls())
}

// flake is a failure that the agent holds to be a test's own.
func flake(t *testing.T) (*world, model.Event) {
	t.Helper()
	w := newCI(t, "first_fail").whoseAgent("flaky")
	w.ci(9001, "test", "completed", "failure")
	return w, w.delivery("workflow_run")
}

// issues are the issues that were opened, as their titles.
func (w *world) issues() []string {
	w.t.Helper()
	var out []string
	for _, o := range w.list("octo", w.path("/issues?state=all")) {
		if o["pull_request"] == nil {
			out = append(out, o["title"].(string))
		}
	}
	return out
}

// reruns is how often the run was begun.
func (w *world) attempt(id int) int {
	w.t.Helper()
	return int(w.api("octo", "GET", w.path(fmt.Sprintf("/actions/runs/%d", id)), nil)["run_attempt"].(float64))
}

func TestAFlakyTestIsReportedRunAgainOnceAndThenBlocks(t *testing.T) {
	w, ev := flake(t)
	w.given("MODEL_KEY", "sk-live-0123456789")
	w.done(w.handle(ev))
	assert.Equal(t, []string{"TestGreet fails now and then"}, w.issues())
	assert.Contains(t, w.api("octo", "GET", w.path("/issues/2"), nil)["body"], "It waits for a port.***\n", "what the agent says of its keys is not posted")
	assert.Equal(t, 2, w.attempt(9001))
	assert.Contains(t, w.saidOnce("turn", "done"), "#2", "it links the issue")
	w.ci(9001, "test", "completed", "failure")
	w.blocked(model.ReasonFlaky, w.handle(w.delivery("workflow_run")))
	assert.Len(t, w.marked("block", ""), 1)
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.issues(), 1)
	assert.Equal(t, 2, w.attempt(9001))
}

func TestAFlakyTestThatGitHubDoesNotRunAgain(t *testing.T) {
	w, ev := flake(t)
	w.fail(object{"match": object{"method": "POST", "path": "*/rerun-failed-jobs"}, "status": 403, "times": 0})
	w.done(w.handle(ev))
	assert.Equal(t, 1, w.attempt(9001))
	assert.Contains(t, w.api("octo", "GET", w.path("/issues/2"), nil)["body"], "The failed jobs could not be rerun.")
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "reported as #2; the failed jobs could not be rerun.")
}

func (w *world) incidentShows() string {
	w.t.Helper()
	return fmt.Sprintf("%s\n== issues: %s\n== attempt %d", w.said(), strings.Join(w.issues(), ", "), w.attempt(9001))
}
