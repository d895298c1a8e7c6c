package train_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/train"
)

// When a request will probably land is guessed from the median of the last landings; what was merged by hand says nothing.
func TestWhenARequestWillProbablyLand(t *testing.T) {
	y := cars{of: 1, atOnce: 2}.asked(t, 1, 2, 3, 4, 5)
	guesses := func() (all []string) {
		for _, p := range train.Positions(y.record, y.facts, y.settings, y.now) {
			if p.ETA == 0 {
				all = append(all, "-")
				continue
			}
			all = append(all, time.Unix(p.ETA, 0).Sub(y.now).String())
		}
		return all
	}
	assert.Equal(t, []string{"-", "-", "-", "-", "-"}, guesses(), "nothing has landed yet")
	for _, minutes := range []int64{90, 0, 20, 30} {
		y.record.Landed = append(y.record.Landed, train.Landing{Number: 99, SHA: "m0", Took: 60 * minutes})
	}
	y.now = y.now.Add(10 * time.Minute)
	assert.Equal(t, []string{"20m0s", "20m0s", "1h0m0s", "1h0m0s", "1h30m0s"}, guesses(), "two are tested now, two next, then one")
	y.now = y.now.Add(time.Hour)
	assert.Equal(t, []string{"0s", "0s"}, guesses()[:2], "it is late")
}
