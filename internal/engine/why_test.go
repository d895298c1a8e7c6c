package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/must"
)

// A comment waits and no condition of a turn is open, but a run would not take it up: the explanation is that of the run.
func TestWhyPromisesNoTurnThatARunWouldNotTake(t *testing.T) {
	each(t, map[string]struct {
		settings string
		begins   func(w *world)
		says     string
	}{
		"the budget is used up": {"[feedback]\nturns_per_day = 1", func(w *world) {
			w.talk("alice", "please add a comma")
			w.sweep()
		}, "**No turn starts here**: pull request 1 is blocked"},
		"no agent is set": {"", func(w *world) { w.withoutAgent(mergesOnly) }, "**No turn starts here**: main:.github/mergexo.toml: agent.command: no agent is configured"},
	}, func(t *testing.T, _ string, c struct {
		settings string
		begins   func(w *world)
		says     string
	}) {
		w := newWorld(t, "", c.settings).atRest()
		c.begins(w)
		w.talk("alice", "please add a colon")
		why := must.Get(w.engine().Why(t.Context(), repo, w.number))(t)
		assert.Contains(t, command.Because(why.Pull, why.Turns, nil), c.says)
	})
}
