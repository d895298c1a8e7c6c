//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMergeGroupDeathAfterAnyWriteIsMadeGood(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	_, rep := g.request()
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	writes := g.gate.writes
	for n := 1; n <= writes; n++ {
		t.Run(fmt.Sprintf("write %d of %d", n, writes), func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			g.gate.only(n, diesAfter)
			ev, _ := g.request()
			require.True(t, g.gate.died())
			g.gate.revive()
			g.recover(ev)
			assert.Equal(t, []string{"merged", "merged"}, g.badges())
			assert.Equal(t, []string{"done"}, g.merges())
			assert.Equal(t, "hello\nworld\n", g.fileOf("main", "greeting.txt"))
			assert.Empty(t, g.stages())
			assert.Equal(t, model.ResultNothing, g.take(ev).Result)
		})
	}
}
