//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whichever pull request of a group has the first event after a death, none lands alone, and both say how it ended.
func TestMergeGroupWhoseMemberHasTheFirstEventAfterADeath(t *testing.T) {
	first := newGroup(t)
	_, rep := first.request()
	require.Equal(t, "", rep.Reason)
	writes := first.gate.writes
	for n := 1; n <= writes; n += 2 { // every write has its turn in TestMergeGroupDeathAfterAnyWriteIsMadeGood
		t.Run(fmt.Sprintf("write %d of %d", n, writes), func(t *testing.T) {
			g := newGroup(t)
			here, there := g.at("main"), g.main()
			g.gate.only(n, diesAfter)
			ev, _ := g.request()
			require.True(t, g.gate.died())
			g.gate.revive()
			g.saysThere()
			if g.main() != there {
				assert.NotEqual(t, here, g.at("main"), "the member has landed without its leader")
			}
			g.recover(ev)
			g.together()
			for _, c := range g.said() {
				assert.NotContains(t, c["body"], "merge_failed")
			}
		})
	}
}
