//go:build all

package engine_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/model"
)

// The event that a run died of may not come again.
func TestADeathAtAnyWriteOfWhatIsReviewedIsMadeGoodByTheSweep(t *testing.T) {
	each(t, reviewedStories, func(t *testing.T, _ string, s reviewedStory) {
		s.die(t, 1, func(w *world, _ model.Event) { w.sweep() })
	})
}
