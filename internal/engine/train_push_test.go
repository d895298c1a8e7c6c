package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// What somebody pushes to the base or does to a branch of the train is an event: the train continues at once. Where nobody hears of
// it, the sweep sees it.
func TestAPushContinuesTheTrainAtOnce(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n", "two\n")
	require.Len(t, w.trains(), 2)
	pushes := func(_ string) { w.write("octo", "main", "pushed.txt", w.now.String()) }
	moves := func(branch string) {
		w.api("octo", "PATCH", w.path("/git/refs/heads/"+branch), object{"sha": w.at("main"), "force": true})
	}
	deletes := func(branch string) { w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil) }
	for _, c := range []struct {
		name, event string // "": only a sweep sees it
		do          func(branch string)
	}{
		{"somebody pushes to the base", "push", pushes},
		{"a run of CI ends on the base", "workflow_run", func(branch string) {
			pushes(branch)
			w.put("/_sandbox/runs/4001", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "completed", "conclusion": "success", "head_sha": w.at("main"), "head_branch": "main"})
		}},
		{"a branch of the train is moved", "push", moves},
		{"a branch of the train is deleted", "delete", deletes},
		{"a branch of the train is deleted, by the push of it", "push", deletes},
		{"somebody pushes to the base, unheard", "", pushes},
		{"a branch of the train is moved, unheard", "", func(branch string) {
			moves(branch)
			w.tested = map[string]bool{w.at("main"): true}
		}},
		{"a branch of the train is deleted, unheard", "", deletes},
	} {
		before := w.trains()
		w.later(time.Minute)
		c.do(slices.Min(slices.Collect(maps.Keys(before))))
		if c.event == "" {
			w.sweep()
		} else {
			rep := w.handle(w.delivery(c.event))
			assert.Equal(t, model.ResultDone, rep.Result, "%s: %s", c.name, rep.Reason)
		}
		after := w.trains()
		require.Len(t, after, 1, "%s: one car holds both, since they board together: %s", c.name, w.logged.String())
		for branch, tip := range after {
			assert.NotContains(t, before, branch, "%s: it is built again", c.name)
			assert.Contains(t, w.bare("log", "--format=%H", tip), w.at("main"), "%s: on the base as it is now", c.name)
		}
	}
	w.arrives("merged merged", numbers...)
}

// What a push costs that changes nothing: the look at the train, and one call where there is none.
func TestBudgetsOfPushes(t *testing.T) {
	w := newTrain(t)
	costs := func(what string, limit int, ev model.Event) {
		w.gives(model.ResultNothing, w.budgeted(what, limit, ev))
		assert.Zero(t, w.gate.writes)
	}
	push := w.delivery("push")
	require.Equal(t, "main", push.Branch)
	costs("a push to a branch without a train", 1, push)
	tag := push
	tag.Branch = ""
	costs("a push of a tag", 0, tag)

	w.aboard(w.ready("car", "one\n"), "")
	own := slices.DeleteFunc(w.deliveries("push"), func(ev model.Event) bool { return !strings.HasPrefix(ev.Branch, "mergexo/train/") })
	require.Len(t, own, 1)
	costs("a push of the train's own", 3, own[0])
	push.Branch = "agent/car0"
	costs("a push to a branch beside a train", 1, push)
	push.Branch = "main"
	costs("a push to the base that the train knows", 3, push)

	w.wholeTrain()
	costs("a push to the base of a train that has nothing to do", 3, w.delivery("push"))
}
