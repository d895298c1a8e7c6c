package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A machine whose clock is an hour off does all as any other: what holds for a time holds by GitHub's clock.
func TestAClockThatIsOffByAnHour(t *testing.T) {
	each(t, map[string]time.Duration{"ahead": -time.Hour, "behind": time.Hour}, func(t *testing.T, _ string, skew time.Duration) {
		w := newMerge(t, `tests = ["true"]`, `attempts = 1`)
		w.skew, w.now = skew, w.now.Add(-skew)
		w.done(w.handle(w.remark("alice", "Answer me.")))
		assert.Len(t, w.replies(), 1)
		w.write("octo", "main", "other.txt", "meanwhile\n")
		w.approve("alice")
		w.lands("/mergexo merge")
		assert.Empty(t, w.stages())
	})
}

// Nor does it take what somebody else is at for over: a turn, and the lock of a base.
func TestAClockThatIsOffByAnHourTakesNothingOver(t *testing.T) {
	each(t, map[string]time.Duration{"ahead": -time.Hour, "behind": time.Hour}, func(t *testing.T, _ string, skew time.Duration) {
		w := newMerge(t, `tests = ["sh", "tests.sh"]`, `attempts = 1`)
		w.write("octo", "main", "tests.sh", "echo begun\n")
		w.approve("alice")
		w.later(time.Minute)
		other := 0
		w.printed.At("begun", func() { // another machine, whose clock is off, beside the first one's tests
			if other++; other > 1 {
				return
			}
			right := w.now
			w.skew, w.now = skew, w.now.Add(-skew)
			rep, err := w.engine().Handle(context.Background(), w.delivery("issue_comment"))
			w.now, w.skew = right, 0
			assert.NoError(t, err)
			assert.NotEqual(t, model.ResultDone, rep.Result, rep.Reason)
		})
		w.done(w.command("carol", "/mergexo merge"))
		require.Positive(t, other)
		assert.Equal(t, "merged", w.badge())
		assert.Equal(t, []string{"done"}, w.merges())
	})
}
