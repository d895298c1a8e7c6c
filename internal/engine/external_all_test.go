//go:build all

package engine_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADeathAtAnyWriteOnTheWayFromForkToBadgeIsMadeGoodByOneSweep(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *world {
		w := newGuest(t, "evaluate = "+judge("approve", "fine"))
		w.letIn("carol")
		return w
	}
	w := start(t)
	w.sweepOnly()
	// Which commits landed is told by the run that has made them; a later one has but their tip.
	tells := func(w *world) string { return landedList.ReplaceAllString(w.said(), "") }
	writes, want := w.gate.writes, tells(w)
	require.Equal(t, "merged", w.badge())
	for n := 1; n <= writes; n++ {
		for name, f := range deathsAt(n) {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w := start(t)
				w.gate.at = func(i int, _ *http.Request) fate {
					if i == n {
						return f
					}
					return passes
				}
				w.sweepOnly()
				w.gate.revive()
				w.sweep()
				assert.Equal(t, "merged", w.badge())
				assert.Equal(t, want, tells(w))
				w.quiet()
			})
		}
	}
}
