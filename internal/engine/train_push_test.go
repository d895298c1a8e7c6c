package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// What somebody pushes to the base or does to a branch of the train is an event: the train continues at once.
func TestAPushContinuesTheTrainAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event string
		do    func(w *world)
	}{
		"to the base": {"push", func(w *world) { w.write("octo", "main", "pushed.txt", "pushed\n") }},
		"a run of CI ends on the base": {"workflow_run", func(w *world) {
			w.write("octo", "main", "pushed.txt", "pushed\n")
			w.put("/_sandbox/runs/4001", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "completed", "conclusion": "success", "head_sha": w.at("main"), "head_branch": "main"})
		}},
		"a branch of the train is moved": {"push", func(w *world) {
			w.api("octo", "PATCH", w.path("/git/refs/heads/mergexo/train/main/1"), object{"sha": w.at("main"), "force": true})
		}},
		"a branch of the train is deleted": {"delete", func(w *world) {
			w.api("octo", "DELETE", w.path("/git/refs/heads/mergexo/train/main/1"), nil)
		}},
		"a branch of the train is deleted, by the push of it": {"push", func(w *world) {
			w.api("octo", "DELETE", w.path("/git/refs/heads/mergexo/train/main/1"), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrain(t)
			numbers := w.ready("car", "one\n", "two\n")
			w.aboard(numbers, "")
			before := w.trains()
			require.Len(t, before, 2)
			c.do(w)
			ev := w.delivery(c.event)
			rep := w.handle(ev)
			assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			after := w.trains()
			require.Len(t, after, 1, "one car holds both, since they board together: %s", w.logged.String())
			for branch, tip := range after {
				assert.NotContains(t, before, branch, "it is built again")
				assert.Contains(t, w.bare("log", "--format=%H", tip), w.at("main"), "on the base as it is now")
			}
			w.tested = map[string]bool{}
			w.wholeTrain()
			assert.Equal(t, "merged merged", w.badges(numbers...), w.logged.String())
		})
	}
}

// What a push costs that changes nothing: the look at the train, and one call where there is none.
func TestBudgetsOfPushes(t *testing.T) {
	t.Parallel()
	w := newTrain(t)
	cost := func(ev model.Event) int {
		w.gate.revive()
		rep := w.handle(ev)
		assert.Equal(t, model.ResultNothing, rep.Result, rep.Reason)
		assert.Zero(t, w.gate.writes)
		api, _ := w.gate.counted()
		return api
	}
	push := w.delivery("push")
	require.Equal(t, "main", push.Branch)
	none := cost(push)
	t.Logf("budget: GitHub calls, a push to a branch without a train %d of 1", none)
	assert.LessOrEqual(t, none, 1, "%v", w.gate.seen)
	tag := push
	tag.Branch = ""
	assert.Zero(t, cost(tag), "a tag is no branch")

	w.aboard(w.ready("car", "one\n"), "")
	var own []model.Event
	for _, ev := range w.deliveries("push") {
		if strings.HasPrefix(ev.Branch, "mergexo/train/") {
			own = append(own, ev)
		}
	}
	require.Len(t, own, 1)
	api := cost(own[0])
	t.Logf("budget: GitHub calls, a push of the train's own %d of 3", api)
	assert.LessOrEqual(t, api, 3, "%v", w.gate.seen)
	push.Branch = "agent/car0"
	assert.LessOrEqual(t, cost(push), 1, "a branch beside the train: %v", w.gate.seen)
	push.Branch = "main"
	assert.LessOrEqual(t, cost(push), 3, "the base as the train knows it: %v", w.gate.seen)

	w.tested = map[string]bool{}
	w.wholeTrain()
	push = w.delivery("push")
	assert.LessOrEqual(t, cost(push), 3, "a train that has nothing to do: %v", w.gate.seen)
}
