package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// check reports a check run of the head, as an App does.
func (w *world) check(name, conclusion string) {
	w.t.Helper()
	w.later(time.Minute)
	body := object{"name": name, "head_sha": w.tip()}
	if conclusion == "" {
		body["status"] = "in_progress"
	} else {
		body["conclusion"] = conclusion
	}
	w.api("github-actions[bot]", "POST", w.path("/check-runs"), body)
}

func TestMergeWaitsForItsChecks(t *testing.T) {
	w := newMerge(t, `required_checks = ["ci", "lint@github-actions"]`)
	before := w.at("main")
	rep := w.command("carol", "/mergexo merge")
	assert.Equal(t, model.ResultRetry, rep.Result, "it comes by itself: %s", rep.Reason)
	assert.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges())
	w.check("ci", "")
	w.handle(w.delivery("check_run"))
	w.check("ci", "failure")
	rep = w.handle(w.delivery("check_run"))
	assert.Equal(t, []string{"in_approval CHECKS_FAILED"}, w.merges(), rep.Reason)
	w.check("ci", "success")
	w.handle(w.delivery("check_run"))
	assert.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges())
	assert.Equal(t, before, w.at("main"))
	// Whoever may write can set a status of any name; only the App's own check counts for the second one.
	w.api("bob", "POST", w.path("/statuses/"+w.tip()), object{"state": "success", "context": "lint"})
	w.handle(w.delivery("check_run"))
	require.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges())
	w.check("lint", "success")
	w.done(w.handle(w.delivery("check_run")))
	assert.Equal(t, "merged", w.badge())
	assert.Len(t, w.marked("merge", ""), 1, "one request has one comment")
}
