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
	want := shows(w, other)
	w.quiet()
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recoverBySweep()
		assert.Equal(t, want, shows(w, other))
		w.quiet()
	})
}
