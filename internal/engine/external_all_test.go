//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestADeathAtAnyWriteOnTheWayFromForkToBadgeIsMadeGoodByOneSweep(t *testing.T) {
	each(t, map[string]string{"merged": "", "closed": "[[merge.rule]]\nbranch = \"gh-pr-*\"\nenabled = false"}, func(t *testing.T, badge string, rule string) {
		t.Parallel()
		diesFromForkTo(t, badge, func(t *testing.T) *world {
			w := newExternal(t, "evaluate = "+evaluates("approve", "fine"), rule)
			w.letIn("carol")
			return w
		})
	})
}

// diesFromForkTo dies at every write on the way to what the pull request is shown as in the end.
func diesFromForkTo(t *testing.T, badge string, start func(t *testing.T) *world) {
	w := start(t)
	dead := w.wrecks(w.sweepOnly)
	// Which commits landed is told by the run that has made them; a later one has but their tip.
	tells := func(w *world) string { return landedList.ReplaceAllString(w.said(), "") }
	want := tells(w)
	require.Equal(t, badge, w.badge())
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.recoverBySweep()
		assert.Equal(t, badge, w.badge())
		assert.Equal(t, want, tells(w))
		w.quiet()
	})
}
