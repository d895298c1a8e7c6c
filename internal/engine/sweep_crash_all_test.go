//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestOneSweepRepairsEveryDeadEndOfAMerge(t *testing.T) {
	w, ev := readyToMerge(t, model.StrategyRebase)
	dead := w.wrecks(func() { w.handle(ev) })
	want := w.ends()
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recoverBySweep()
		assert.Equal(t, want, w.ends())
		w.quiet()
	})
}

func TestOneSweepRepairsEveryDeadEndOfAFlow(t *testing.T) {
	w := newIssue(t)
	ev := w.label("alice", smallJob)
	dead := w.wrecks(func() { w.handle(ev) })
	w.sweep() // which tells of a conflict with the pull request that is there
	want := w.showsIssue()
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recoverBySweep()
		assert.Equal(t, want, w.showsIssue())
		w.quiet()
	})
}
