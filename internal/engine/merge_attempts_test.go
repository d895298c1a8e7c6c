package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// outOfAttempts asks to merge until no attempt is left, and is what people then read.
func (w *world) outOfAttempts(again func(n int) model.Report) string {
	w.t.Helper()
	for n := range 3 {
		rep := again(n)
		w.over(w.runs)
		w.gate.revive()
		if n < 2 {
			require.NotEqual(w.t, "ATTEMPTS", rep.BlockedReason)
			continue
		}
		require.Equal(w.t, "ATTEMPTS", rep.BlockedReason, rep.Reason)
	}
	said := w.comments()
	return said[len(said)-1]["body"].(string)
}

func TestMergeOutOfAttemptsNamesWhatPeopleWereTold(t *testing.T) {
	t.Parallel()
	w := newMerge(t, `tests = ["sh", "-c", "echo the end of it; exit 3"]`, "attempts = 2")
	text := w.outOfAttempts(func(int) model.Report { return w.command("carol", "/mergexo merge") })
	assert.Contains(t, text, "2 of 2 attempts")
	assert.Contains(t, text, "PRE_MERGE_FAILED: exit code 3; it said last: the end of it, see http")
}

func TestMergeOutOfAttemptsNamesTheErrorOfItsLastRun(t *testing.T) {
	t.Parallel()
	faults := `[{"match": {"method": "POST", "path": "/api/graphql"}, "status": 500, "times": 1000}]`
	w := newMerge(t, "attempts = 2", `tests = ["sh", "tests.sh"]`)
	w.write("octo", "main", "tests.sh", fmt.Sprintf("curl -fsS -X PUT -d '%s' %s/_sandbox/faults\n", faults, w.people))
	w.talk("carol", "/mergexo merge")
	ev := w.delivery("issue_comment")
	text := w.outOfAttempts(func(n int) model.Report {
		w.fail()
		if n > 0 {
			assert.Contains(t, w.request(), "This attempt has stopped")
			assert.Contains(t, w.request(), "GitHub answered 500")
		}
		return w.handle(ev)
	})
	assert.Contains(t, text, "GitHub answered 500")
}

func TestMergeOutOfAttemptsByDeaths(t *testing.T) {
	t.Parallel()
	w := newMerge(t, "attempts = 2")
	w.talk("carol", "/mergexo merge")
	ev := w.delivery("issue_comment")
	text := w.outOfAttempts(func(n int) model.Report {
		if n < 2 {
			w.diesAfterWrite(3 - n)
		}
		return w.handle(ev)
	})
	assert.Contains(t, text, "its run was cancelled, killed, or timed out, see http")
}
