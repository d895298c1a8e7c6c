package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// limited is how many requests GitHub has refused for its limits.
func (w *world) limited() (n int) {
	w.t.Helper()
	_, out := w.send("", "GET", "/_sandbox/calls", nil)
	var all []struct{ Status int }
	require.NoError(w.t, json.Unmarshal(out, &all))
	for _, c := range all {
		if c.Status == 403 {
			n++
		}
	}
	return n
}

// eachOnce says that there are so many items, each with one issue that is a sub-issue.
func (w *world) eachOnce(n int) {
	w.t.Helper()
	all := w.items()
	require.Len(w.t, all, n)
	for key, same := range all {
		require.Len(w.t, same, 1, key)
		assert.Equal(w.t, w.number, w.parent(int(same[0]["number"].(float64))), key)
	}
}

func TestTheLimitsOnContentAreKept(t *testing.T) {
	w, ev := agreed(t, "fifty", "", "[roadmap]\nmax_active = 1")
	w.passes = true
	w.done(w.handle(ev))
	w.eachOnce(50)
	assert.Len(t, w.running(), 1)
	assert.Zero(t, w.limited(), "MergeXO waits before GitHub refuses anything")
	assert.GreaterOrEqual(t, w.slept.Load(), int64(time.Minute), "50 issues and their links take two minutes: the second one was waited for")
	left := roadmap.Plan{Issue: w.number, Title: "Greet everywhere", Items: []roadmap.Item{{RoadmapItem: step("item-0")}}}
	w.done(w.handle(w.changePlan(func(string) string { return string(roadmap.Render(left, "")) })))
	assert.Zero(t, w.limited(), "and so it does when it drops 49 items, with a comment on each")
}

func TestALimitThatOthersHaveUsedUpIsWaitedFor(t *testing.T) {
	w, ev := agreed(t, "fifty", "", "[roadmap]\nmax_active = 1")
	w.passes = true
	w.put("/_sandbox/limits", object{"content_minute": 20})
	w.done(w.handle(ev))
	assert.NotZero(t, w.limited())
	w.eachOnce(50)
}

func TestARunThatCreatedAllThatAnHourHoldsIsContinued(t *testing.T) {
	w, ev := agreed(t, "fifty", "", "[roadmap]\nmax_active = 1")
	w.passes = true
	w.put("/_sandbox/limits", object{"content_hour": 41})
	for range 2 {
		w.gives(model.ResultRetry, w.handle(ev))
		assert.Less(t, len(w.items()), 50)
		assert.Empty(t, w.running(), "first the issues, so that the plan is seen")
		w.later(time.Hour)
	}
	w.sweep()
	w.later(time.Hour)
	rep := w.handle(ev)
	require.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
	w.eachOnce(50)
	assert.Len(t, w.running(), 1)
}
