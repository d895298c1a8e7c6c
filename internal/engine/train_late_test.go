package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A required check of another service begins long after all others have ended. It has as much time as the settings say.
func TestARequiredCheckThatBeginsLate(t *testing.T) {
	w := trainOf(newMerge(t, `verify = "ci"`, `required_checks = ["ci", "slow"]`), "true\n")
	w.api("bob", "POST", w.path("/statuses/"+w.tip()), object{"state": "success", "context": "slow"})
	w.command("carol", "/mergexo merge")
	_, tip := w.only()
	w.ciRuns()
	for range 9 {
		w.later(10 * time.Minute)
		w.sweep()
		require.Equal(t, []string{"in_approval IN_TRAIN"}, w.merges(), w.request())
	}
	w.api("bob", "POST", w.path("/statuses/"+tip), object{"state": "success", "context": "slow"})
	w.sweep()
	assert.Equal(t, "merged", w.badge(), w.request())
}

// CI is down: nobody fails for it. Each request tells why the train waits, and once CI is back, all land.
func TestAnOutageOfCIEjectsNobody(t *testing.T) {
	w, numbers := boarded(t, []string{`ci_timeout = "90m"`, "speculate = 2", "batch = 1"}, "one\n", "two\n", "three\n")
	branch, tip := "mergexo/train/main/1", w.trains()["mergexo/train/main/1"]
	w.put("/_sandbox/runs/4002", object{"name": "lint", "path": ".github/workflows/lint.yml", "event": "push", "status": "completed", "head_sha": tip, "head_branch": branch, "jobs": []object{{"name": "lint"}}})
	w.put("/_sandbox/runs/4003", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "queued", "head_sha": tip, "head_branch": branch, "jobs": []object{{"name": "ci"}}})
	for round := range 8 {
		w.later(time.Hour)
		w.sweep()
		for i, n := range numbers {
			w.number = n
			require.Equal(t, []string{"in_approval IN_TRAIN"}, w.merges(), w.request())
			if round == 1 && i != 1 { // its car is under test as well, and overdue as it is
				assert.Contains(t, w.request(), "he train is paused, since required check ci did not report within 1h30m on car 1.", n)
			}
		}
	}
	w.later(time.Hour)
	w.sweep()
	require.NotEmpty(t, w.trains())
	w.arrives("merged merged merged", numbers...)
	assert.Empty(t, w.trains())
}

// A change keeps CI from reporting, and no file tells: GitHub does not run what it cannot read. The others land, and it fails with the
// name of the check.
func TestAChangeThatKeepsCIFromReporting(t *testing.T) {
	w, numbers := boarded(t, []string{`ci_timeout = "90m"`, "ci_retries = 0"}, "one\n", "two\n")
	for range 10 {
		w.later(time.Hour)
		w.sweep()
		for branch, tip := range w.trains() {
			if w.bare("ls-tree", "--name-only", tip, "car0.txt") == "" {
				w.handle(w.tests(branch, tip))
			}
		}
	}
	assert.Equal(t, "open merged", w.badges(numbers...), w.logged.String())
	w.number = numbers[0]
	w.requested("merge_failed CHECKS_FAILED", "required check ci did not report within 1h30m")
}
