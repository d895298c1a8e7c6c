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
	type attempts struct {
		label, agent, setting, feedback string
		runs                            int
	}
	all := map[string]attempts{"a design's": {design, "ask", "", "", 1}, "a failure": {smallJob, "quiet+fail", "", "", 1}, "three failures": {smallJob, "quiet+fail", "", "", 3}}
	for name, c := range stops {
		all[name] = attempts{c.label, c.agent, c.setting, c.feedback, 1}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			whole, w := newIssue(t, c.setting, c.feedback), newIssue(t, c.setting, c.feedback)
			whole.agent, w.agent = c.agent, c.agent
			first, ev := whole.label("alice", c.label), w.label("alice", c.label)
			var want, rep model.Report
			for range c.runs {
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
