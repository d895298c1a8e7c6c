package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASecondFailureOnOneHeadIsFoundByTheSweep(t *testing.T) {
	w := newCI(t, "first_fail").whoseAgent("logs")
	w.ci(9001, "test", "completed", "failure")
	w.handle(w.delivery("workflow_run"))
	require.Equal(t, 1, w.calls())
	w.ci(9002, "lint", "completed", "failure")
	w.sweep()
	assert.Equal(t, 2, w.calls())
	w.quiet()
}

// A run that GITHUB_TOKEN has begun anew may send no event.
func TestAFlakeThatFailsAgainIsBlockedByTheSweep(t *testing.T) {
	w, ev := flake(t)
	w.handle(ev)
	require.Equal(t, 2, w.attempt(9001))
	w.ci(9001, "test", "completed", "failure")
	w.sweep()
	assert.Len(t, w.marked("block", ""), 1)
	assert.Equal(t, 1, w.calls())
	w.quiet()
}

func TestAFlakeOnTheNextHeadIsReportedOnce(t *testing.T) {
	w, ev := flake(t)
	w.handle(ev)
	w.ci(9001, "test", "completed", "success")
	w.write("alice", w.head, "more.txt", "more\n")
	w.ci(9002, "test", "completed", "failure")
	w.handle(w.delivery("workflow_run"))
	assert.Len(t, w.issues(), 1)
}

func TestAHeadThatStaysRedIsNotDueForEver(t *testing.T) {
	each(t, map[string]func(w *world){
		"a status that is no run": func(w *world) {
			w.api("octo", "POST", w.path("/statuses/"+w.tip()), object{"state": "failure", "context": "coverage"})
		},
		"others are not complete": func(w *world) {
			w.ci(9002, "lint", "in_progress", "")
			w.ci(9001, "test", "completed", "failure")
		},
	}, func(t *testing.T, _ string, do func(w *world)) {
		w := newCI(t, "all_complete")
		w.sweep()
		do(w)
		w.sweep()
		assert.Zero(t, w.calls())
		w.quiet()
	})
}
