package engine_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A death costs at most another call of the agent, and no comment names a place that is not there.
func TestADeathWhileWorkIsKeptOrTakenUpIsMadeGood(t *testing.T) {
	type row struct {
		build func(t *testing.T) (*world, model.Event)
		kept  []int // writes of a change
	}
	each(t, map[string]row{
		"a turn whose branch cannot be": {func(t *testing.T) (*world, model.Event) {
			w := newWorld(t)
			w.branch("mergexo")
			w.agent = "dirty+stuck"
			return w, w.remark("alice", "Answer me.")
		}, []int{4, 5}},
		"a turn that goes on from a checkpoint": {func(t *testing.T) (*world, model.Event) {
			w, _ := askedAbout(t, "dirty")
			w.agent = "dirty+stuck"
			return w, w.say("bob", "Formal.")
		}, []int{2, 3}},
		"an issue whose branch cannot be": {func(t *testing.T) (*world, model.Event) {
			w := newIssue(t)
			w.branch("mergexo")
			w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo"}})
			w.agent = "dirty+stuck"
			return w, w.label("alice", smallJob)
		}, []int{3, 4}},
		"a design that goes on from a checkpoint": {func(t *testing.T) (*world, model.Event) {
			w := newIssue(t).whoseAgent("dirty+stuck")
			require.Equal(t, model.ReasonAgent, w.handle(w.label("alice", design)).BlockedReason)
			return w, w.say("bob", "Formal.")
		}, []int{2, 3}},
	}, func(t *testing.T, _ string, c row) {
		w, ev := c.build(t)
		dead := w.wrecks(func() { require.Equal(t, "agent_blocked", w.handle(ev).BlockedReason) })
		dead.each(t, writes(1, w.gate.writes, c.kept...), func(t *testing.T, w *world, _ int) {
			w.gives(model.ResultBlocked, w.handle(ev))
			u := w.unfinished()
			assert.Equal(t, u.SHA, w.bare("rev-parse", u.Ref()), "what is named is there")
			assert.Contains(t, w.bare("show", u.SHA+":left.txt"), "left")
			w.agent = "sees+stuck"
			require.Equal(t, model.ResultBlocked, w.handle(w.say("bob", "Go on.")).Result)
			assert.Contains(t, w.found(), "left.txt", "and it is taken up")
			assert.NotContains(t, w.lastSaid(), "started over")
		})
	})
}

var keptIn = regexp.MustCompile(`"checkpoint":"([^"]+)","checkpoint_sha":"([0-9a-f]{40})"`)

// unfinished is the work that the newest comment names.
func (w *world) unfinished() model.Kept {
	w.t.Helper()
	var found model.Kept
	for _, m := range keptIn.FindAllStringSubmatch(w.conversation(), -1) {
		found = model.Kept{Branch: m[1], SHA: m[2]}
	}
	require.NotEmpty(w.t, found.SHA)
	return found
}

func TestADeathWhileAStopIsSaidAgainIsMadeGood(t *testing.T) {
	each(t, map[string]func(t *testing.T) (*world, model.Event){
		"a turn":   tracked,
		"an issue": func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob) },
	}, func(t *testing.T, _ string, build func(t *testing.T) (*world, model.Event)) {
		w, ev := build(t)
		w.agent = "dirty+stuck"
		w.refusesComment()
		require.NotEqual(t, model.ResultBlocked, w.handle(ev).Result)
		dead := w.wrecks(func() { require.Equal(t, "agent_blocked", w.handle(ev).BlockedReason) })
		require.Equal(t, 1, w.calls())
		dead.each(t, writes(1, w.gate.writes, 1, 2), func(t *testing.T, w *world, n int) {
			w.gives(model.ResultBlocked, w.handle(ev))
			assert.Contains(t, w.conversation(), "Formal or not?")
			assert.LessOrEqual(t, w.calls(), 2)
			if n == 1 {
				assert.Equal(t, 1, w.calls(), "before and after its claim, the stop is known")
			}
		})
	})
}
