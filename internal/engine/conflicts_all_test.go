//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADeathAtAnyWriteOfASweepIsMadeGoodByTheNext(t *testing.T) {
	shows := func(w *world, other int) string {
		return fmt.Sprint(w.shows(), len(w.conflictsOn(w.number)), len(w.conflictsOn(other)))
	}
	w := newWorld(t)
	other := w.openBeside("agent/other", "hello\nmoon\n")
	dead := w.wrecks(func() { w.sweep() })
	want, writes := shows(w, other), w.gate.writes
	w.quiet()
	for n := 1; n <= writes; n++ {
		for name, before := range deathsBy(n) {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				w := dead.after(t, n-before)
				w.recoverBySweep()
				assert.Equal(t, want, shows(w, other))
				w.quiet()
			})
		}
	}
}
