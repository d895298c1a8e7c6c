//go:build all

package engine_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A run may die at every write of a command, and its answer may get lost, and the next run of the same event makes it good. Of the
// turn that follows on the same pull request that is shown elsewhere.
func TestADeathAtAnyWriteOfACommandIsMadeGood(t *testing.T) {
	answers := map[string]fate{"unclear after": unclear, "lost before": lost}
	type row struct {
		set    func(t *testing.T) *world
		writes int // of the command itself; 0: all there are
		loses  map[string]fate
	}
	each(t, map[string]row{
		"unblock": {func(t *testing.T) *world {
			w, head := rewrittenEarly(t)
			w.talk("carol", "/mergexo unblock head_sha="+head)
			return w
		}, 3, answers},
		"retry": {func(t *testing.T) *world {
			w := newWorld(t).whoseAgent("exit")
			w.handle(w.remark("alice", "Answer me."))
			w.agent = "answer"
			w.talk("carol", "/mergexo retry")
			return w
		}, 3, answers},
		"elsewhere": {func(t *testing.T) *world {
			w, head := rewrittenEarly(t)
			w.open("octo", "Operations", "")
			w.setting(fmt.Sprintf("operations_issue = %d", w.number))
			w.talk("carol", "/mergexo unblock pr=1 head_sha="+head)
			w.number = 1
			return w
		}, 0, nil},
	}, func(t *testing.T, _ string, scene row) {
		w := scene.set(t)
		w.gate.revive()
		ev := w.delivery("issue_comment")
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		want, writes := w.shows()+w.operations(ev)+w.signs(ev), w.gate.writes
		for n := 1; n <= writes && (scene.writes == 0 || n <= scene.writes); n++ {
			fates := deathsAt(n)
			maps.Copy(fates, scene.loses)
			for when, f := range fates {
				t.Run(fmt.Sprintf("%s write %d of %d", when, n, writes), func(t *testing.T) {
					w := scene.set(t)
					w.gate.revive()
					w.gate.only(n, f)
					ev := w.delivery("issue_comment")
					w.handle(ev)
					w.gate.revive()
					w.recover(ev)
					assert.Equal(t, want, w.shows()+w.operations(ev)+w.signs(ev))
				})
			}
		}
	})
}
