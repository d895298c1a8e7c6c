package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

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
	w.on(numbers[0]).requested("merge_failed CHECKS_FAILED", "required check ci did not report within 1h30m")
}
