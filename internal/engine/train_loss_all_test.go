//go:build all

package engine_test

import (
	"fmt"
	"testing"
)

func TestARunDiesAnywhereWhileItTellsOfALostRecord(t *testing.T) {
	t.Parallel()
	for writes := 1; writes <= 8; writes++ {
		t.Run(fmt.Sprint("after write ", writes), func(t *testing.T) {
			diesTelling(t, writes)
		})
	}
}
