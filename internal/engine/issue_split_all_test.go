//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestAStopIsHandedOverWithItsWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		label, agent, setting, feedback string
		attempts                        int
	}{
		"a question":       {smallJob, "session1+ask", "", "", 1},
		"a design's":       {design, "ask", "", "", 1},
		"tests fail":       {smallJob, "job", `required_tests = ["sh", "-c", "echo broken; exit 1"]`, "[feedback]\nrepair_rounds = 0", 1},
		"no test":          {bugfix, "job", `test_file_regex = ["_test"]`, "[feedback]\nrepair_rounds = 0", 1},
		"nothing changed":  {smallJob, "idle", "", "", 1},
		"not ready":        {smallJob, "quiet", "", "", 1},
		"a forbidden path": {smallJob, "workflow+job", "", "", 1},
		"a secret":         {smallJob, "secret+job", "", "", 1},
		"a wrong path":     {design, "astray", "", "", 1},
		"a failure":        {smallJob, "quiet+fail", "", "", 1},
		"three failures":   {smallJob, "quiet+fail", "", "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			whole, w := newIssue(t, c.setting, c.feedback), newIssue(t, c.setting, c.feedback)
			whole.agent, w.agent = c.agent, c.agent
			first, ev := whole.label("alice", c.label), w.label("alice", c.label)
			var want, rep model.Report
			for range c.attempts {
				want, rep = whole.handle(first), w.inTwo(ev)
			}
			require.Contains(t, []model.Result{model.ResultBlocked, model.ResultFailed}, want.Result, want.Reason)
			assert.Equal(t, want.Result, rep.Result, rep.Reason)
			assert.Equal(t, want.BlockedReason, rep.BlockedReason)
			assert.Contains(t, rep.Reason, "issue 2")
			assert.Equal(t, whole.showsIssue(), w.showsIssue(), "as a whole run leaves it")
			assert.Empty(t, w.pulls())
			assert.Equal(t, whole.calls(), w.calls(), "the apply phase runs no agent")
		})
	}
}
