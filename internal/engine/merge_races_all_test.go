//go:build all

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// Whatever another process does beside it, before any write, a merge ends as it would alone.
func TestMergeBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   func(*testing.T) (*world, model.Event)
		writes int
	}{
		"command":  {func(t *testing.T) (*world, model.Event) { return readyToMerge(t, model.StrategyRebase) }, 9},
		"approval": {waitingThenApproved, 7},
	} {
		for n := 1; n <= c.writes; n++ {
			t.Run(fmt.Sprintf("%s, before write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w, ev := c.open(t)
				base := w.at("main")
				w.beforeWrite(n, func() {
					w.beside(ev)
					w.over(w.runs)
				})
				w.handle(ev)
				w.mergedOnce(ev, base)
			})
		}
	}
}

// A process whose claim has expired, and whose place another one has taken, changes nothing any more.
func TestMergeByAProcessThatTookTooLong(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 9; n++ {
		t.Run(fmt.Sprintf("before write %d", n), func(t *testing.T) {
			w, ev := readyToMerge(t, model.StrategyRebase)
			base := w.at("main")
			w.beforeWrite(n, func() {
				w.later(48 * time.Hour)
				w.beside(ev)
			})
			w.handle(ev)
			w.mergedOnce(ev, base)
		})
	}
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
