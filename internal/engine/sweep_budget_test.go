package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// grow opens so many pull requests more, each of which is tracked.
func (w *world) grow(count int) {
	w.t.Helper()
	w.put("/_sandbox/pulls", object{"repository": repo.String(), "count": count,
		"comment": `Tracked.` + "\n\n" + `<!-- mergexo-pr:{"repo":"` + repo.String() + `","number":$NUMBER,"branch":"$BRANCH","agent":"command","base":"main","head":"$HEAD"} -->`})
}

// A sweep over pull requests of which none has anything to be done asks for them fifty at a time, and for little more.
func TestQuietSweepsAskLittle(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 50, 51, 400} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			w := newWorld(t)
			if count > 1 {
				w.grow(count - 1)
			}
			w.sweep()
			w.later(time.Minute)
			w.gate.revive()
			swept := w.sweep()
			require.Equal(t, model.ResultNothing, swept.Result(), "%+v", swept.Work)
			require.Empty(t, swept.Work)
			assert.Len(t, swept.Board.Pulls, count)
			api, git := w.gate.counted()
			limit := (count+49)/50 + 3
			t.Logf("budget: GitHub calls, quiet sweep over %d pull requests %d of %d", count, api, limit)
			t.Logf("budget: git network operations, quiet sweep over %d pull requests %d of 0", count, git)
			assert.LessOrEqual(t, api, limit, "%v", w.gate.seen)
			assert.Zero(t, git)
			assert.Zero(t, w.gate.writes)
			calls := swept.Results[len(swept.Results)-1].Calls
			assert.Equal(t, api, calls.REST+calls.GraphQL, "the report counts as the door does")
		})
	}
}
