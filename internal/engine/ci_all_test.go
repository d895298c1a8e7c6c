//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADeathAtAnyWriteOfAFlakeIncidentIsMadeGood(t *testing.T) {
	w, ev := flake(t)
	w.handle(ev)
	want, last := w.incidentShows(), w.gate.writes
	every(t, writes(1, last), func(t *testing.T, n int) {
		fates := deathsAt(n)
		fates["lost"], fates["unclear"] = lost, unclear
		each(t, fates, func(t *testing.T, _ string, f fate) {
			w, ev := flake(t)
			w.gate.only(n, f)
			w.handle(ev)
			w.gate.revive()
			w.recoverBySweep()
			assert.Equal(t, want, w.incidentShows())
			w.sweep()
			assert.Equal(t, want, w.incidentShows(), "the whole incident exactly once")
		})
	})
}
