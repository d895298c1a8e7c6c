//go:build all

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestAnOwnerWhoseClaimExpiredStopsBeforeItsNextEffect(t *testing.T) {
	want, last := uninterrupted(t)
	every(t, writes(writeClaim+1, last-1), func(t *testing.T, n int) {
		w, ev := twoComments(t)
		w.afterWrite(n, func() {
			w.later(10 * time.Hour)
			w.done(w.beside(ev))
		})
		w.gives(model.ResultRetry, w.by(w.engine(), ev))
		assert.Equal(t, want, w.shows())
	})
}

func TestARewriteIsSeenWhereTheCloneIsShallow(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.write("octo", w.head, "long.txt", fmt.Sprint(i))
	}
	w.agent = "rebase"
	w.blocked("history_rewrite", w.handle(w.remark("alice", "Answer me.")))
}

func TestADeathWhileATurnIsReplayedIsMadeGoodToo(t *testing.T) {
	t.Parallel()
	scene := func(t *testing.T) (*world, model.Event) {
		w, ev := twoComments(t)
		w.meanwhile(w.push("bob"))
		return w, ev
	}
	w, ev := scene(t)
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	want, writes := w.shows(), w.gate.writes
	require.Equal(t, 10, writes, "two more: the replayed stage and its plan")
	for n := writeClaim; n <= writes; n++ {
		fates := map[string]fate{"after": diesAfter}
		if n == writeClaim+1 { // unlike after the claim, Bob has pushed
			fates["before"] = diesFirst
		}
		for name, f := range fates {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w, ev := scene(t)
				w.gate.only(n, f)
				w.handle(ev)
				recorded := len(w.marked("turn", "planned"))+len(w.marked("turn", "done")) > 0
				w.gate.revive()
				rep := w.recover(ev)
				assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
				if recorded {
					assert.Equal(t, 1, w.calls(), "no second call once the plan is recorded")
				}
				if n == writeClaim { // before the agent is called, Bob has not pushed
					return
				}
				shows := w.shows()
				if !recorded { // the branch has moved, so it is another turn: the stage of the one that died is a checkpoint
					shows = strings.Replace(shows, "== 1 stages", "== 0 stages", 1)
				}
				assert.Equal(t, want, shows)
			})
		}
	}
}
