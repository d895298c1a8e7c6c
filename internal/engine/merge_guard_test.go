package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// TestATryLandsNothingWhereNoTrainTestsIt: nobody has approved it, and only the train asks for no approval.
func TestATryLandsNothingWhereNoTrainTestsIt(t *testing.T) {
	t.Parallel()
	t.Run("in a group", func(t *testing.T) {
		g := newGroup(t, `verify = "ci"`).landsNothing()
		g.api("alice", "POST", g.pull("/reviews"), object{"event": "REQUEST_CHANGES", "body": "No."})
		g.take(g.say("carol", "/mergexo try"))
		assert.Equal(t, "open open", g.badges())
		assert.Contains(t, g.world.request(), "a try is for the merge train")
	})
	t.Run("by other settings", func(t *testing.T) {
		w := newTrain(t, "ci_retries = 0")
		w.number = w.second("agent/try", "try.txt")
		w.command("carol", "/mergexo try")
		require.Len(t, w.trains(), 1, w.logged.String())
		w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.fileOf("main", ".github/mergexo.toml"), `verify = "ci"`, `verify = "local"`, 1))
		w.landsNothing().sweep()
		w.sweep()
		assert.Equal(t, "open", w.badge())
		assert.Contains(t, w.request(), "a try is for the merge train")
	})
}

// TestAMergeThatNoRunIsAtCanBeCancelled: its run died, and the comment that stops it must not be what continues it.
func TestAMergeThatNoRunIsAtCanBeCancelled(t *testing.T) {
	w := newMerge(t).landsNothing()
	ev := w.say("carol", "/mergexo merge")
	w.gate.revive()
	w.diesAfterWrite(2)
	w.handle(ev)
	w.gate.revive()
	require.Equal(t, []string{"merging"}, w.merges())
	w.command("carol", "/mergexo merge cancel")
	assert.Equal(t, "open", w.badge())
	w.answered("applied", "**Cancelled**")
	assert.NotEqual(t, []string{"merging"}, w.merges())
	w.sweep()
}

// TestAGroupIsRefusedBeforeItMovesWhereABaseWantsChecks: no train tests a group, so that what is built for it has none.
func TestAGroupIsRefusedBeforeItMovesWhereABaseWantsChecks(t *testing.T) {
	g := newGroup(t)
	g.world.put("/_sandbox/protection", object{"repository": "octo/client", "branch": "main", "ruleset": 42, "checks": []string{"ci"}})
	head := g.api("octo", "GET", client+"/git/ref/heads/agent/greet", nil).at("object", "sha")
	g.api("octo", "POST", client+"/statuses/"+head.(string), object{"state": "success", "context": "ci"})
	_, rep := g.landsNothing().request()
	assert.NotEqual(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, head, g.api("octo", "GET", client+"/git/ref/heads/agent/greet", nil).at("object", "sha"), "no head was moved for nothing")
	assert.Contains(t, g.world.request(), "accepts only commits that have passed ci")
}
