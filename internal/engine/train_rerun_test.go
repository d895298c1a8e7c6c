package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A red result is looked at a second time where nothing else is said. The workflow run keeps its id when it is run again.
func TestARedResultIsRunAgainOnce(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n")
	const branch, run = "mergexo/train/main/1", 5001
	tip := w.trains()[branch]
	w.handle(w.ciEnds(run, branch, tip, "failure"))
	assert.Equal(t, 2, w.attempt(run), w.logged.String())
	w.sweep()
	assert.Equal(t, 2, w.attempt(run), "it has been asked for")
	assert.Equal(t, []string{"in_approval IN_TRAIN"}, w.merges())
	w.handle(w.ciEnds(run, branch, tip, "success"))
	w.arrives("merged", numbers...)
}

// GitHub refuses to run what is too old again. Then what it said counts, with its links.
func TestARedResultThatGitHubDoesNotRunAgain(t *testing.T) {
	w, _ := boarded(t, []string{`ci_timeout = "1000h"`}, "one\n")
	const branch = "mergexo/train/main/1"
	tip := w.trains()[branch]
	w.put(fmt.Sprintf("/_sandbox/runs/%d", 5001), object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "in_progress", "head_sha": tip, "head_branch": branch})
	w.later(40 * 24 * time.Hour)
	w.handle(w.ciEnds(5001, branch, tip, "failure"))
	require.Equal(t, 1, w.attempt(5001))
	w.requested("merge_failed CHECKS_FAILED", "- [`ci`](")
	assert.Contains(t, w.request(), "the checks failed on what would land; GitHub did not rerun them")
}
