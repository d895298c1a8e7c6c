package engine_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// takes has the server refuse every push of more than so many refs, as the push policy of an organization does; mute says no
// more of each ref than that nothing was heard of it.
func (w *world) takes(refs int, mute bool) {
	w.t.Helper()
	w.put("/_sandbox/pushes", object{"refs": refs, "mute": mute})
}

func TestATurnIsPushedInAsManyPushesAsTheServerAsksFor(t *testing.T) {
	want, _ := uninterrupted(t)
	each(t, map[string]int{"said of the push": 1, "said of nothing": 2}, func(t *testing.T, how string, refs int) {
		w, ev := twoComments(t)
		w.takes(refs, how == "said of nothing")
		w.done(w.handle(ev))
		assert.Equal(t, want, w.shows())
		assert.Empty(t, w.checkpoints())
		assert.Equal(t, 1, w.calls())
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	})
}

func TestADeathBetweenThePushesOfATurnIsMadeGood(t *testing.T) {
	want, whole := uninterrupted(t)
	// From the plan on: a push is refused, and there is one more for what is dropped.
	every(t, writes(4, whole+2, 5, 6), func(t *testing.T, n int) {
		w, ev := twoComments(t)
		w.takes(1, false)
		w.diesAt(n, ev)
		rep := w.recover(ev)
		assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
		assert.Equal(t, want, w.shows())
		assert.Equal(t, 1, w.calls())
	})
}

func TestMergeDeathBetweenItsPushesIsMadeGood(t *testing.T) {
	w, ev := readyToMerge(t, model.StrategyRebase)
	w.takes(1, false)
	var pushes []int
	w.gate.at = func(n int, r *http.Request) fate {
		if isPush(r) {
			pushes = append(pushes, n)
		}
		return passes
	}
	w.done(w.handle(ev))
	want := w.ends()
	require.Len(t, pushes, 6, "the lock, the head, a refusal, the base, the lock, the head's branch")
	for i, n := range pushes {
		if i != 1 && i != 3 && !everyRow {
			continue
		}
		t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
			w, ev := readyToMerge(t, model.StrategyRebase)
			w.takes(1, false)
			w.diesAt(n, ev)
			rep := w.recover(ev)
			assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
			if i == 3 { // the lock stays: whoever needs it next takes it over, since its run is over
				left := w.stages()
				require.Len(t, left, 2)
				w.bare("update-ref", "-d", "refs/mergexo/lock/main", left[0])
			}
			assert.Equal(t, want, w.ends())
		})
	}
}

func TestADeathBetweenThePushesOfAnIssueIsMadeGood(t *testing.T) {
	w := worked(t, smallJob)
	want := w.showsIssue()
	every(t, writes(4, 6, 5), func(t *testing.T, n int) { // the refused push, the branch, the stage
		w, ev := labelled(t, smallJob)
		w.takes(1, false)
		w.diesAt(n, ev)
		w.done(w.recover(ev))
		assert.Equal(t, want, w.showsIssue())
		assert.Equal(t, 1, w.calls())
	})
}

// The stage of the work that is on the branch has the work on the comments next.
func TestADeathBetweenThePushesOfAnIssueThatPeopleCommentOnIsMadeGood(t *testing.T) {
	w, ev := labelled(t, smallJob, "record+meanwhile+told")
	w.later(time.Minute)
	w.meanwhile(deed{"bob", "POST", w.thread("/comments"), `{"body": "Louder"}`})
	w.takes(1, false)
	w.gate.pushes(diesAfter, func(n int) bool { return n == 3 }) // the stage, both in one, the branch
	w.dies(ev)
	require.NotEmpty(t, w.stages())
	w.done(w.recover(ev))
	assert.Equal(t, "hello\ndone 1\nLouder\ndone 2\n", w.fileOf(branch, "greeting.txt"))
	assert.Len(t, w.pulls(), 1)
	assert.Empty(t, w.stages())
}

// The branch has moved, the answer to what is dropped after it gets lost, and the same run goes on.
func TestALostAnswerBetweenThePushesIsMadeGood(t *testing.T) {
	want, _ := uninterrupted(t)
	unsure(t, writes(4, 7, 6), func(t *testing.T, n int, how fate) {
		w, ev := twoComments(t)
		w.takes(1, false)
		w.gate.only(n, how)
		for range 3 { // what cannot be told is left to the next run
			if w.handle(ev).Result == model.ResultNothing {
				break
			}
		}
		assert.Equal(t, want, w.shows())
		assert.Equal(t, 1, w.calls())
	})
}
