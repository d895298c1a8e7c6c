package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
)

const mergesOnly = "[merge]\ntests = [\"true\"]\n[external]\nenabled = true\n"

func TestALabelOnAForkNeedsNoAgent(t *testing.T) {
	w := newExternal(t)
	w.withoutAgent(mergesOnly)
	w.admits("carol")
	assert.Equal(t, "merged", w.badge())
	w.quiet()
}

func TestACommandToMergeNeedsNoAgent(t *testing.T) {
	each(t, map[string]string{
		"with how tests run": "[agent]\nisolation = \"none\"\n" + mergesOnly,
		"without [agent]":    "[merge]\ntests = \"none\"\n", // nothing runs that would have to be isolated
	}, func(t *testing.T, _, text string) {
		w := newMerge(t)
		w.write("octo", "main", ".github/mergexo.toml", text)
		w.approve("alice")
		w.lands("/mergexo merge")
	})
}

// What an agent would have to answer is not answered in silence, and nothing is said or claimed before that shows.
func TestWhatNeedsAnAgentSaysSoWithoutOne(t *testing.T) {
	w := newMerge(t)
	w.withoutAgent(mergesOnly)
	_, err := w.engine().Handle(context.Background(), w.say("alice", "please add a comma"))
	require.ErrorIs(t, err, config.ErrInvalid)
	assert.ErrorContains(t, err, `main:.github/mergexo.toml: agent.command: no agent is configured, but pull request 1 needs one: the adapter "command" needs a program`)
	assert.Empty(t, w.marked("turn", ""))
	assert.Empty(t, w.marked("pr", ""))

	w.open("octo", "Add a comma", "Please.")
	_, err = w.engine().Handle(context.Background(), w.label("octo", "agent:small-job"))
	require.ErrorIs(t, err, config.ErrInvalid)
	assert.ErrorContains(t, err, "agent.command: no agent is configured, but issue ")
	assert.Empty(t, w.comments())
}

// A sweep has nothing to do about it, and leaves word in its log.
func TestASweepWithoutAnAgentLeavesOutWhatNeedsOne(t *testing.T) {
	w := newMerge(t)
	w.withoutAgent(mergesOnly)
	w.talk("alice", "please add a comma")
	pull := w.number
	w.open("octo", "Add a comma", "Please.")
	w.label("octo", "agent:small-job")
	w.rests()
	for _, number := range []int{pull, w.number} {
		assert.Contains(t, w.logged.String(), fmt.Sprintf("_number=%d error=\"main:.github/mergexo.toml: agent.command: no agent is configured", number))
	}
	assert.Empty(t, w.comments())
}
