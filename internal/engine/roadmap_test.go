package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

func TestARoadmapFromItsLabelToTheLastMerge(t *testing.T) {
	w := newRoadmap(t, "plan")
	plan := w.pulls()[0]
	golden.Text(t, "roadmap/proposal.md", shown(plan["body"]))
	golden.Text(t, "roadmap/file.md", w.fileOf(plan.at("head", "ref").(string), "docs/roadmaps/2-greet-everywhere.md"))
	w.done(w.handle(w.merged(int(plan["number"].(float64)))))
	require.Len(t, w.items(), 7)
	assert.Equal(t, []string{"base"}, w.running())
	golden.Text(t, "roadmap/began.md", w.showsRoadmap())
	for round := 0; len(w.openPulls()) > 0; round++ {
		require.Less(t, round, 10)
		w.done(w.handle(w.merged(w.openPulls()[0])))
		assert.LessOrEqual(t, len(w.running()), 3)
	}
	golden.Text(t, "roadmap/done.md", w.showsRoadmap())
	assert.Equal(t, 8, w.calls(), "the plan, and each item once")
	for key, all := range w.items() {
		assert.Len(t, all, 1, key)
		assert.Equal(t, "closed", all[0]["state"], key)
	}
	w.rests()
}

// An item that waits for a person is not told as running, and runs again once it was answered.
func TestARoadmapTellsWhereAnAnswerIsNeeded(t *testing.T) {
	w, ev := agreed(t, "plan")
	w.agent = "stuck"
	w.handle(ev)
	w.sweep()
	base := w.item("base")
	assert.Contains(t, w.showsRoadmap(), fmt.Sprintf("- #%d `Do base`: **needs an answer**: #%d\n", base, base))
	w.rests()
	w.agent = "plan"
	w.later(time.Minute)
	w.api("alice", "POST", w.path(fmt.Sprintf("/issues/%d/comments", base)), object{"body": "The formal one."})
	w.handle(w.delivery("issue_comment"))
	w.sweep()
	assert.Contains(t, w.showsRoadmap(), fmt.Sprintf("- #%d `Do base`: running, #%d\n", base, w.openPulls()[0]))
}

func TestARoadmapWhereNothingChangedIsQuiet(t *testing.T) {
	w := newRoadmap(t, "plan")
	require.Equal(t, model.ResultDone, w.handle(w.merged(int(w.pulls()[0]["number"].(float64)))).Result)
	w.sweep()
	w.rests()
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/%d", w.item("docs"))), object{"state": "closed", "state_reason": "not_planned"})
	assert.Contains(t, w.due(), fmt.Sprintf("%d roadmap", w.number))
	w.sweep()
	w.rests()
	golden.Text(t, "roadmap/closed.md", w.showsRoadmap())
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/%d", w.item("docs"))), object{"state": "open"})
	w.sweep()
	assert.NotContains(t, w.showsRoadmap(), "**stopped**")
	assert.Len(t, w.openPulls(), 1, "nothing else began")
}
