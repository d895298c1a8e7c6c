package engine_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

func TestAnAgentsJobHandsOneTurnOver(t *testing.T) {
	w := newWorld(t).whoseAgent("stuck")
	others := []int{w.another("agent/one"), w.another("agent/two")}
	for i, branch := range []string{"agent/one", "agent/two"} {
		w.number, w.head = others[i], branch
		w.blocked(model.ReasonAgent, w.handle(w.remark("alice", "Answer me there.")))
	}
	w.agent = "answer"
	before := w.calls()
	issue := int(w.api("octo", "POST", w.path("/issues"), object{"title": "Operations", "body": ""})["number"].(float64))
	w.setting(fmt.Sprintf("operations_issue = %d", issue))
	w.later(time.Minute)
	w.api("carol", "POST", w.path(fmt.Sprintf("/issues/%d/comments", issue)), object{"body": fmt.Sprintf("/mergexo unblock pr=%d\n/mergexo unblock pr=%d", others[0], others[1])})
	ev := w.delivery("issue_comment")
	dir := w.prepared(ev)
	assert.Equal(t, 1, w.calls()-before)
	w.phase(thread.ApplyPhase, ev, dir)
	w.number = others[0]
	assert.Len(t, w.replies(), 1, "what was handed over is not lost")
}

func TestAnAgentsJobOfSeveralNumbers(t *testing.T) {
	t.Run("says that GitHub does not answer", func(t *testing.T) {
		w := newWorld(t)
		w.remark("alice", "Answer me.")
		ev := w.pullEvent()
		ev.Numbers = []int{w.number, w.another("agent/one")}
		w.fail(object{"path": "/api/graphql", "times": 20, "status": 502})
		w.ended(model.ResultRetry, "502", w.phase(thread.AgentPhase, ev, filepath.Join(t.TempDir(), "handoff")))
	})
	t.Run("goes on behind a merge", func(t *testing.T) {
		w := newWorld(t, `required_tests = ["true"]`, "[merge]\nrequired_checks = [\"ci\"]")
		w.approve("alice")
		w.check("ci", "")
		w.command("carol", "/mergexo merge")
		first, head := w.number, w.head
		other := w.another("agent/one")
		w.number, w.head = other, "agent/one"
		w.remark("alice", "Answer me there.")
		w.number, w.head = first, head
		w.check("ci", "success")
		ev := w.delivery("check_run")
		ev.Number, ev.Numbers, ev.IsPull = first, []int{first, other}, true
		w.prepared(ev)
		assert.Equal(t, 1, w.calls())
	})
}

func TestAMovedDesignIsFoundAmongMany(t *testing.T) {
	w := newIssue(t)
	w.done(w.handle(w.label("alice", design)))
	number, doc := int(w.pulls()[0]["number"].(float64)), "docs/design/2-greet-in-french.md"
	text := w.fileOf(w.pulls()[0].at("head", "ref").(string), doc)
	w.later(time.Minute)
	w.api("octo", "PUT", w.path(fmt.Sprintf("/pulls/%d/merge", number)), object{"merge_method": "squash"})
	ev := w.closedEvent(number)
	for i := range 60 {
		w.write("octo", "main", fmt.Sprintf("docs/design/1%02d-other.md", i), "other\n")
	}
	w.write("octo", "main", "docs/design/old/2-moved.md", text)
	w.delete("main", doc)
	w.agent = "job"
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
}
