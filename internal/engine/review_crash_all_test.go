//go:build all

package engine_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/model"
)

// The event that a run died of may not come again.
func TestADeathAtAnyWriteOfWhatIsReviewedIsMadeGoodByTheSweep(t *testing.T) {
	t.Parallel()
	for _, s := range reviewedStories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.die(t, 1, func(w *world, _ model.Event) {
				w.sweep()
			})
		})
	}
}
