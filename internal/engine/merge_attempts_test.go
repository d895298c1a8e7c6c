package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// outOfAttempts asks to merge until no attempt is left, and is what people then read: the comment without its marker.
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
	text, _, _ := strings.Cut(w.lastSaid(), "<!--")
	return text
}

func TestMergeOutOfAttemptsNamesWhatPeopleWereTold(t *testing.T) {
	tests := filepath.Join(t.TempDir(), "tests")
	w := newMerge(t, fmt.Sprintf(`tests = ["sh", %q]`, tests), "attempts = 2")
	text := w.outOfAttempts(func(n int) model.Report {
		require.NoError(t, os.WriteFile(tests, fmt.Appendf(nil, "echo the end of attempt %d; exit 3\n", n+1), 0o600))
		return w.command("carol", "/mergexo merge")
	})
	assert.Contains(t, text, "2 of 2 attempts")
	assert.Contains(t, text, "PRE_MERGE_FAILED: exit code 3; its last line: the end of attempt 2, see http")
}

func TestMergeOutOfAttemptsNamesTheErrorOfItsLastRun(t *testing.T) {
	faults := `[{"match": {"method": "POST", "path": "/api/graphql"}, "status": 500, "times": 1000}]`
	w := newMerge(t, "attempts = 2", `tests = ["sh", "tests.sh"]`)
	w.write("octo", "main", "tests.sh", w.asks("octo", "PUT", "/_sandbox/faults", faults)+"\n")
	ev := w.say("carol", "/mergexo merge")
	text := w.outOfAttempts(func(n int) model.Report {
		w.fail()
		if n > 0 {
			assert.Contains(t, w.request(), "This attempt stopped")
			assert.Contains(t, w.request(), "GitHub answered 500")
		}
		return w.handle(ev)
	})
	assert.Contains(t, text, "The last one: ")
	assert.Contains(t, text, "GitHub answered 500")
}

func TestMergeOutOfAttemptsByDeaths(t *testing.T) {
	w := newMerge(t, "attempts = 2")
	ev := w.say("carol", "/mergexo merge")
	text := w.outOfAttempts(func(n int) model.Report {
		if n < 2 {
			w.diesAfterWrite(3 - n)
		}
		return w.handle(ev)
	})
	assert.Contains(t, text, "its run was cancelled, killed, or timed out, see "+w.origin+"/octo/widgets/actions/runs/2;")
}
