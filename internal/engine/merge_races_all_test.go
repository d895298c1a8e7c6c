//go:build all

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// Whatever another process does beside it, before any write, a merge ends as it would alone. A process whose claim has expired, and whose
// place that one has taken, changes nothing any more.
func TestMergeBesideAnotherProcess(t *testing.T) {
	ready := func(t *testing.T) (*world, model.Event) { return readyToMerge(t, model.StrategyRebase) }
	type row struct {
		open        func(*testing.T) (*world, model.Event)
		first, last int
		passes      time.Duration
	}
	each(t, map[string]row{
		"command": {ready, 1, 9, 0}, "approval": {waitingThenApproved, 1, 7, 0}, "command that took too long": {ready, 2, 9, 48 * time.Hour},
	}, func(t *testing.T, _ string, c row) {
		for n := c.first; n <= c.last; n++ {
			t.Run(fmt.Sprintf("before write %d", n), func(t *testing.T) {
				w, ev := c.open(t)
				base := w.at("main")
				w.beforeWrite(n, func() {
					w.later(c.passes)
					w.beside(ev)
					w.over(w.runs)
				})
				w.handle(ev)
				w.mergedOnce(ev, base)
			})
		}
	})
}

func TestMergesOfTwoPullRequestsRace(t *testing.T) {
	t.Parallel()
	for write := 1; write <= 8; write++ {
		t.Run(fmt.Sprint(write), func(t *testing.T) {
			w, one, two := twoToMerge(t)
			if write%2 == 0 { // the other way round
				one, two = two, one
			}
			w.afterWrite(write, func() {
				w.beside(two)
				w.over(w.runs)
			})
			w.handle(one)
			w.gate.revive()
			for _, ev := range []model.Event{one, two} {
				w.number = ev.Number
				w.handle(ev)
			}
			assert.Equal(t, "hello\nworld\n", w.fileOf("main", "greeting.txt"))
			assert.Equal(t, "second\n", w.fileOf("main", "second.txt"))
			for _, w.number = range []int{1, 2} {
				assert.Equal(t, "merged", w.badge())
				assert.Equal(t, []string{"done"}, w.merges())
			}
			assert.Empty(t, w.stages())
		})
	}
}
