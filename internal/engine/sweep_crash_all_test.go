//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestOneSweepRepairsEveryDeadEndOfAMerge(t *testing.T) {
	w, ev := readyToMerge(t, model.StrategyRebase)
	dead := w.wrecks(func() { w.handle(ev) })
	want, writes := w.ends(), w.gate.writes
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("write %d of %d", n, writes), func(t *testing.T) {
			w := dead.after(t, n)
			w.recoverBySweep()
			assert.Equal(t, want, w.ends())
			w.quiet()
		})
	}
}

func TestOneSweepRepairsEveryDeadEndOfAFlow(t *testing.T) {
	w := newIssue(t)
	ev := w.label("alice", smallJob)
	dead := w.wrecks(func() { w.handle(ev) })
	writes := w.gate.writes
	w.sweep() // which tells of a conflict with the pull request that is there
	want := w.showsIssue()
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("write %d of %d", n, writes), func(t *testing.T) {
			w := dead.after(t, n)
			w.recoverBySweep()
			assert.Equal(t, want, w.showsIssue())
			w.quiet()
		})
	}
}
