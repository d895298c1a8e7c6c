package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// showsIssue is all that a person sees of the issue and what came of it, without what differs from run to run.
func (w *world) showsIssue() string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# issue\n%s", w.talkOn(w.number))
	for _, p := range w.pulls() {
		fmt.Fprintf(&b, "# pull request %q from %s, %s\n%s\n%s", p["title"], p.at("head", "ref"), p["state"], shown(p["body"]), w.talkOn(int(p["number"].(float64))))
		for _, c := range w.list("octo", w.path(fmt.Sprintf("/pulls/%d/commits", int(p["number"].(float64))))) {
			fmt.Fprintf(&b, "== commit %s\n", shown(c.at("commit", "message")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.branches())) {
		fmt.Fprintf(&b, "# branch %s\n%s", shown(name), w.fileOf(name, "greeting.txt"))
	}
	fmt.Fprintf(&b, "# %d stages\n", len(w.stages())/2)
	return b.String()
}

func TestADeathAtAnyWriteOnTheWayToAPullRequestIsMadeGood(t *testing.T) {
	kept := map[string][]int{smallJob: {1, 2, 3, 4, 5}, design: {5}} // the way of a design is the same
	each(t, kept, func(t *testing.T, label string, kept []int) {
		w, ev := labelled(t, label)
		dead := w.wrecks(func() { w.done(w.handle(ev)) })
		require.Equal(t, 7, w.gate.writes, "claim, stage, plan, push, pull request, its marker, receipt")
		want := w.showsIssue()
		dead.each(t, writes(1, 7, kept...), func(t *testing.T, w *world, n int) {
			rep := w.recover(ev)
			assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
			assert.Equal(t, want, w.showsIssue())
			if n > 3 {
				assert.Equal(t, 1, w.calls(), "no second call once the plan is recorded")
			}
			assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
		})
	})
}

func TestADeathAtAnyWriteOfAStopIsMadeGood(t *testing.T) {
	w, ev := labelled(t, smallJob, "ask")
	dead := w.wrecks(func() { w.gives(model.ResultBlocked, w.handle(ev)) })
	require.Equal(t, 4, w.gate.writes, "claim, checkpoint, stop, the claim taken away")
	want := w.showsIssue()
	dead.each(t, writes(1, 4, 2, 3), func(t *testing.T, w *world, n int) {
		w.gives(model.ResultBlocked, w.recover(ev))
		if n == 2 { // the checkpoint is there and is gone on from
			assert.Len(t, w.marked("issue", "awaiting_issue_followup"), 1)
			assert.Len(t, w.comments(), 1)
			return
		}
		assert.Equal(t, want, strings.ReplaceAll(w.showsIssue(), ", attempt 2", ""))
	})
}
