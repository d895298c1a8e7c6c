//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADeathAtAnyWriteOfASweepIsMadeGoodByTheNext(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*world, int) {
		w := newWorld(t)
		return w, w.openBeside("agent/other", "hello\nmoon\n")
	}
	shows := func(w *world, other int) string {
		return fmt.Sprint(w.shows(), len(w.conflictsOn(w.number)), len(w.conflictsOn(other)))
	}
	w, other := start(t)
	w.sweep()
	want, writes := shows(w, other), w.gate.writes
	w.quiet()
	for n := 1; n <= writes; n++ {
		for name, f := range deathsAt(n) {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w, other := start(t)
				w.gate.only(n, f)
				w.sweepOrDie()
				w.gate.revive()
				w.recoverBySweep()
				assert.Equal(t, want, shows(w, other))
				w.quiet()
			})
		}
	}
}
