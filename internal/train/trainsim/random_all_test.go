//go:build all

package trainsim_test

import "testing"

func TestManyRandomDays(t *testing.T) {
	t.Parallel()
	liveThrough(t, 100, 400)
}
