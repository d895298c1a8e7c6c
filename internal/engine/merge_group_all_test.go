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
	each(t, map[string][]string{"rebased": nil, "by GitHub": {`strategy = "api"`}, "the other by GitHub": nil}, func(t *testing.T, how string, settings []string) {
		t.Parallel()
		set := func() *grouped {
			g := newGroup(t, settings...)
			if how == "the other by GitHub" {
				g.put("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = \"none\"\nstrategy = \"api\"\n")
			}
			return g
		}
		g := set()
		ev := g.say("carol", "/mergexo merge")
		dead := g.wrecks(func() {
			g.done(g.take(ev))
		})
		writes := g.gate.writes
		for n := 1; n <= writes; n++ {
			t.Run(fmt.Sprintf("write %d of %d", n, writes), func(t *testing.T) {
				g := &grouped{world: dead.after(t, n), theirs: g.theirs}
				g.recover(ev)
				assert.Equal(t, []string{"merged", "merged"}, g.badges())
				assert.Equal(t, []string{"done"}, g.merges())
				assert.Equal(t, "hello\nworld\n", g.fileOf("main", "greeting.txt"))
				assert.Empty(t, g.stages())
				assert.Equal(t, model.ResultNothing, g.take(ev).Result)
			})
		}
	})
}

func TestMergeGroupThatIsCalledOffInPartOutlivesADeathAfterAnyWrite(t *testing.T) {
	t.Parallel()
	for _, turned := range []bool{false, true} {
		badges, merges, there := []string{"merged", "open"}, "done", `"state":"merge_failed"`
		if turned {
			badges, merges, there = []string{"open", "merged"}, "merge_failed CANCELLED", `"state":"done"`
		}
		set := func(t *testing.T) *grouped {
			g := newGroup(t)
			if turned {
				g.turnRound()
			}
			g.landsInPart()
			return g
		}
		g := set(t)
		ev := g.say("carol", "/mergexo merge cancel")
		dead := g.wrecks(func() { g.take(ev) })
		writes := g.gate.writes
		for n := 1; n <= writes; n++ {
			t.Run(fmt.Sprintf("turned %t, write %d of %d", turned, n, writes), func(t *testing.T) {
				g := &grouped{world: dead.after(t, n), theirs: g.theirs}
				g.recover(ev)
				assert.Equal(t, badges, g.badges())
				assert.Equal(t, []string{merges}, g.merges())
				require.Len(t, g.said(), 1)
				assert.Contains(t, g.said()[0]["body"], there)
				assert.Len(t, g.marked("command", ""), 1)
			})
		}
	}
}
