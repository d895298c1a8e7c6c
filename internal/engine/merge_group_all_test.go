//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMergeGroupDeathAfterAnyWriteIsMadeGood(t *testing.T) {
	each(t, map[string]string{"rebased": "", "by GitHub": `strategy = "api"`, "the other by GitHub": ""}, func(t *testing.T, how, settings string) {
		g := newGroup(t, settings)
		if how == "the other by GitHub" {
			g.mergedBy("api")
		}
		ev := g.say("carol", "/mergexo merge")
		g.wrecks(func() { g.done(g.take(ev)) }).each(t, nil, func(t *testing.T, w *world, _ int) {
			g := &grouped{world: w, theirs: g.theirs}
			g.recover(ev)
			g.left("merged merged", "done")
			assert.Equal(t, "hello\nworld\n", g.fileOf("main", "greeting.txt"))
			assert.Empty(t, g.stages())
			assert.Equal(t, model.ResultNothing, g.take(ev).Result)
		})
	})
}

func TestMergeGroupThatIsCalledOffInPartOutlivesADeathAfterAnyWrite(t *testing.T) {
	type row struct{ badges, merges, there string }
	each(t, map[string]row{
		"in order": {"merged open", "done", `"state":"merge_failed"`}, "turned": {"open merged", "merge_failed CANCELLED", `"state":"done"`},
	}, func(t *testing.T, name string, c row) {
		g := newGroup(t)
		if name == "turned" {
			g.turnRound()
		}
		g.landsInPart()
		ev := g.say("carol", "/mergexo merge cancel")
		g.wrecks(func() { g.take(ev) }).each(t, nil, func(t *testing.T, w *world, _ int) {
			g := &grouped{world: w, theirs: g.theirs}
			g.recover(ev)
			g.left(c.badges, c.merges)
			g.toldThere(c.there)
			assert.Len(t, g.marked("command", ""), 1)
		})
	})
}
