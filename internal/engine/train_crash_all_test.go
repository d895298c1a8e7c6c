//go:build all

package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// trainScenes are steps of a train, each with the event that a run takes which dies.
var trainScenes = map[string]func(t *testing.T) (w *world, ev model.Event, numbers []int){
	"boards": func(t *testing.T) (*world, model.Event, []int) {
		w := begin(t, "train boards", func() *world {
			w := newTrain(t, "speculate = 2")
			w.ready("car", "one\n", "two\n")
			w.aboard([]int{2}, "")
			return w
		})
		w.number = 3
		w.talk("carol", "/mergexo merge")
		return w, w.delivery("issue_comment"), []int{2, 3}
	},
	"lands two": func(t *testing.T) (*world, model.Event, []int) {
		w := carOfTwo(t, "train lands", "three\n")
		return w, w.next(), []int{2, 3, 4}
	},
	"is red": func(t *testing.T) (*world, model.Event, []int) {
		w := carOfTwo(t, "train red", "broken\n")
		return w, w.next(), []int{2, 3, 4}
	},
}

// carOfTwo is a train with a car of two whose checks have not run; the second has this in its file.
func carOfTwo(t *testing.T, name, text string) *world {
	t.Helper()
	return begin(t, name, func() *world {
		w := newTrain(t, "speculate = 1", "ci_retries = 0")
		w.ready("car", "one\n", "two\n", text)
		w.aboard([]int{2, 3, 4}, "")
		require.Equal(t, 1, w.ciRuns())
		return w
	})
}

// trainEnds is all that counts of a train that has come to rest.
func (w *world) trainEnds(numbers []int) string {
	w.t.Helper()
	w.sweep()
	w.wholeTrain()
	w.sweep()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nbranches: %v\n", w.bare("log", "--format=%s", "main"), w.bare("rev-parse", "main^{tree}"), w.trains())
	for _, n := range numbers {
		w.number = n
		fmt.Fprintf(&b, "#%d %s %v\n", n, w.badge(), w.merges())
	}
	return b.String()
}

func TestTheTrainGoesOnAfterADeathAtAnyWrite(t *testing.T) {
	t.Parallel()
	for name, set := range trainScenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ev, numbers := set(t)
			w.gate.revive()
			w.handle(ev)
			writes := w.gate.writes
			want := w.trainEnds(numbers)
			require.Positive(t, writes)
			for n := 1; n <= writes; n++ {
				for how, f := range deathsAt(n) {
					t.Run(fmt.Sprintf("%s write %d of %d", how, n, writes), func(t *testing.T) {
						t.Parallel()
						w, ev, numbers := set(t)
						w.gate.revive()
						w.afterDeath(ev, n, f)
						assert.Equal(t, want, w.trainEnds(numbers), "%s", w.logged.String())
					})
				}
			}
		})
	}
}

// Two runs that take one event of a train are one: the record is changed by one of them.
func TestTwoRunsOfATrainAreOne(t *testing.T) {
	t.Parallel()
	for name, set := range trainScenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ev, numbers := set(t)
			w.handle(ev)
			want := w.trainEnds(numbers)

			for n := 1; n <= 4; n++ { // the other one comes before each of the first writes
				w, ev, numbers = set(t)
				w.gate.revive()
				w.beforeWrite(n, sync.OnceFunc(func() { w.beside(ev) }))
				w.handle(ev)
				w.gate.revive()
				assert.Equal(t, want, w.trainEnds(numbers), "before write %d", n)
			}
		})
	}
}
