package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// silences has alice, who may write, delete all comments of somebody.
func (w *world) silences(login string) {
	w.t.Helper()
	w.later(time.Minute)
	for _, c := range w.comments() {
		if c.at("user", "login") == login {
			w.api("alice", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", c.id())), nil)
		}
	}
	w.later(time.Minute)
}

// Who may write can delete what MergeXO remembers, and must gain nothing by it: the number stops, again if that comment is deleted, too,
// until an operator decides.
func TestWhoDeletesOurCommentsGainsNothing(t *testing.T) {
	const us = "github-actions[bot]"
	type row struct {
		settings string
		begin    func(t *testing.T, w *world)
	}
	each(t, map[string]row{
		"a rewritten history": {"", func(t *testing.T, w *world) {
			require.Equal(t, model.ResultDone, w.handle(w.say("alice", "One.")).Result)
			w.rewritten()
		}},
		"a pause": {"", func(t *testing.T, w *world) {
			require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo pause").Result)
			w.silences("carol")
		}},
		"a budget": {"[feedback]\nturns_per_day = 1", func(t *testing.T, w *world) {
			require.Equal(t, model.ResultDone, w.handle(w.say("alice", "One.")).Result)
			require.Equal(t, model.ReasonBudget, w.handle(w.say("alice", "Two.")).BlockedReason)
		}},
	}, func(t *testing.T, _ string, c row) {
		w := newWorld(t, "", c.settings).whoseAgent("talk")
		c.begin(t, w)
		calls := w.calls()
		for range 2 {
			w.silences(us)
			assert.Contains(t, w.blocked(model.ReasonMarkerDeleted, w.handle(w.say("alice", "Go on."))).Reason, "a comment of MergeXO's was deleted by alice at ")
			w.sweep()
			assert.Len(t, w.marked("block", ""), 1)
			w.quiet()
		}
		w.orders("alice", "/mergexo unblock head_sha="+w.tip())
		assert.Equal(t, calls, w.calls())
		w.orders("carol", "/mergexo unblock head_sha="+w.tip())
		w.sweep()
		assert.Greater(t, w.calls(), calls, "an operator decides")
		w.quiet()
	})
}

// A receipt that is restored counts its turn. Nothing tells what that turn cost, so where a day's cost is limited an operator decides.
func TestARestoredReceiptCountsForTheBudget(t *testing.T) {
	each(t, map[string][2]string{
		"turns_per_day = 1":      {"", model.ReasonBudget},
		"turns_per_day = 2":      {"", ""},
		"cost_per_day_usd = 1.0": {model.ReasonMarkerDeleted, model.ReasonMarkerDeleted},
	}, func(t *testing.T, setting string, reasons [2]string) {
		w := newWorld(t, "", "[feedback]\n"+setting)
		ev := w.remark("alice", "One.")
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.unreceipted()
		assert.Equal(t, reasons[0], w.handle(ev).BlockedReason)
		assert.Equal(t, reasons[1], w.handle(w.say("alice", "Two.")).BlockedReason)
	})
}

// A request to merge waits as well.
func TestADeletedCommentHoldsAMergeUp(t *testing.T) {
	w := newMerge(t)
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo pause").Result)
	w.silences("carol")
	w.silences("github-actions[bot]")
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "open", w.badge())
	w.orders("carol", "/mergexo unblock head_sha="+w.tip())
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}
