package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
)

func TestEachFlowGoesThroughTwoJobs(t *testing.T) {
	t.Parallel()
	for label, from := range map[string]string{smallJob: branch, bugfix: "agent/bugfix/2-greet-in-french", design: "agent/design/2-greet-in-french"} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			whole := newIssue(t, `required_tests = ["test", "-e", "greeting.txt"]`)
			require.Equal(t, model.ResultDone, whole.handle(whole.label("alice", label)).Result)

			w := newIssue(t, `required_tests = ["test", "-e", "greeting.txt"]`)
			ev := w.label("alice", label)
			dir := w.prepared(ev)
			assert.Empty(t, w.comments())
			rep := w.phase(engine.ApplyPhase, ev, dir)
			require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			assert.Equal(t, whole.showsIssue(), w.showsIssue(), "as a whole run leaves it")
			assert.Equal(t, from, w.pulls()[0].at("head", "ref"))
			assert.Equal(t, 1, w.calls(), "the apply phase runs no agent")
			assert.Equal(t, model.ResultNothing, w.phase(engine.ApplyPhase, ev, dir).Result, "the same handoff again")
			assert.Len(t, w.pulls(), 1)
		})
	}
}
