//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADeathAtAnyWriteOfAFlakeIncidentIsMadeGood(t *testing.T) {
	w, ev := flake(t)
	w.handle(ev)
	want, writes := w.incidentShows(), w.gate.writes
	for n := 1; n <= writes; n++ {
		fates := deathsAt(n)
		fates["lost"], fates["unclear"] = lost, unclear
		for name, f := range fates {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				w, ev := flake(t)
				w.gate.only(n, f)
				w.handle(ev)
				w.gate.revive()
				w.recoverBySweep()
				assert.Equal(t, want, w.incidentShows())
				w.sweep()
				assert.Equal(t, want, w.incidentShows(), "the whole incident exactly once")
			})
		}
	}
}
