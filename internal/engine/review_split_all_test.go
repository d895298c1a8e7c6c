//go:build all

package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// dying lets the last job of a review die at each of its writes.
func dying(t *testing.T, next func(w *world, ev model.Event, dir string)) {
	for _, c := range splitReviews {
		begun := func(t *testing.T) (*world, model.Event, string) {
			w := newReview(t, "", c.setting)
			c.asks(w)
			ev := w.delivery(c.event)
			if c.command {
				require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result)
			}
			dir := w.prepared(ev)
			w.gate.revive()
			return w, ev, dir
		}
		w, ev, dir := begun(t)
		require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, dir).Result)
		want, writes := w.saysAndReviews()+fmt.Sprint(w.labelled()), w.gate.writes
		for n := 1; n <= writes; n++ {
			for name, f := range deathsAt(n) {
				t.Run(fmt.Sprintf("%s, %s write %d", c.name, name, n), func(t *testing.T) {
					t.Parallel()
					w, ev, dir := begun(t)
					w.gate.only(n, f)
					w.phase(thread.ApplyPhase, ev, dir)
					require.True(t, w.gate.died())
					w.gate.revive()
					next(w, ev, dir)
					got := strings.NewReplacer(" Attempt 2 of 3.", "").Replace(w.saysAndReviews() + fmt.Sprint(w.labelled()))
					assert.Equal(t, want, got)
				})
			}
		}
	}
}

func TestADeathInTheLastJobOfAReviewIsMadeGood(t *testing.T) {
	t.Parallel()
	dying(t, func(w *world, ev model.Event, dir string) {
		w.recoverInPhase(thread.ApplyPhase, ev, dir)
		assert.Equal(w.t, 1, w.calls(), "nobody pays twice")
	})
}

// The handoff goes with the run that died.
func TestADeathInTheLastJobOfAReviewIsMadeGoodByTheSweep(t *testing.T) {
	t.Parallel()
	dying(t, func(w *world, _ model.Event, _ string) {
		w.recoverBy(inPhase(sweepEvents(w.t, sweeping.Options{}), thread.ApplyPhase, ""))
		w.gate.revive()
		dir := filepath.Join(w.t.TempDir(), "handoff")
		if rep := w.phase(thread.AgentPhase, w.pullEvent(), dir); rep.Result == model.ResultDone {
			w.phase(thread.ApplyPhase, w.pullEvent(), dir)
		}
	})
}
