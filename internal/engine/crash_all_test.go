//go:build all

package engine_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestALostAnswerIsReadBeforeAnythingIsSentAgain(t *testing.T) {
	want, last := uninterrupted(t)
	unsure(t, writes(1, last), func(t *testing.T, n int, f fate) {
		w, ev := twoComments(t)
		w.gate.only(n, f)
		rep := w.handle(ev)
		if rep.Result != model.ResultDone { // the stage's push may be left to the next run
			rep = w.handle(ev)
		}
		assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		assert.Equal(t, want, w.shows())
	})
}

// From its second write on, a recovery leaves what one leaves that has a later death to make good: of that, the recovery from
// the first of these deaths dies everywhere.
func TestADeathDuringTheRecoveryIsMadeGoodToo(t *testing.T) {
	want, last := uninterrupted(t)
	_, ev := twoComments(t)
	every(t, writes(2, last), func(t *testing.T, first int) {
		t.Parallel()
		for second, died := 1, true; died && (first == 2 || second <= 2); second++ {
			w := begin(t, fmt.Sprintf("a turn that died at write %d", first), func() *world {
				w, ev := twoComments(t)
				w.diesAt(first, ev)
				return w
			})
			w.diesAfterWrite(second)
			w.handle(ev)
			died = w.gate.died()
			w.gate.revive()
			w.recover(ev)
			require.Equal(t, want, w.shows(), "and then at write %d", second)
		}
	})
}

func TestTwoRunsAtOnceDoOneTurn(t *testing.T) {
	want, last := uninterrupted(t)
	every(t, writes(1, last), func(t *testing.T, n int) {
		every(t, []string{"before", "after"}, func(t *testing.T, when string) { // the second runs then, beside this write of the first
			w, ev := twoComments(t)
			entered := false
			enter := func(i int) {
				if i == n && !entered {
					entered = true
					rep := w.beside(ev)
					assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing, model.ResultRetry}, rep.Result, rep.Reason)
				}
			}
			if when == "before" {
				w.gate.at = func(i int, _ *http.Request) fate { enter(i); return passes }
			} else {
				w.gate.after = enter
			}
			rep := w.by(w.engine(), ev)
			assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing, model.ResultRetry}, rep.Result, rep.Reason)
			require.True(t, entered)
			w.over(1)
			w.over(2)
			w.gate.revive()
			w.handle(ev)
			assert.Equal(t, want, w.shows())
			assert.Equal(t, 1, w.calls())
		})
	})
}
