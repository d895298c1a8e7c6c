package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASweepBeginsWhatALabelAskedForWhoseTriggerWasLost(t *testing.T) {
	t.Parallel()
	for label, pulls := range map[string]int{smallJob: 1, "bug": 0} {
		t.Run(label, func(t *testing.T) {
			w := newIssue(t)
			w.label("alice", label)
			w.sweep()
			assert.Len(t, w.pulls(), pulls)
			w.quiet()
		})
	}
}

func TestASweepBeginsNothingForWhoMayNot(t *testing.T) {
	w := newIssue(t)
	w.open("eve", "Do this", "Please.")
	w.put("/_sandbox/users/trent", object{"type": "User", "repository": repo.String(), "permission": "triage"})
	w.label("trent", smallJob)
	w.sweep()
	assert.Empty(t, w.pulls())
	assert.Zero(t, w.calls())
	w.quiet()
}

func TestASweepGoesOnWithADesignThatWasMerged(t *testing.T) {
	w := newIssue(t)
	w.handle(w.label("alice", design))
	require.Len(t, w.pulls(), 1)
	number := int(w.pulls()[0]["number"].(float64))
	w.sweep()
	w.quiet() // an open design is waited for, and costs nothing
	w.api("octo", "PUT", w.path(fmt.Sprintf("/pulls/%d/merge", number)), object{})
	assert.Contains(t, w.due(), fmt.Sprintf("%d flow", w.number))
	w.sweep()
	assert.Len(t, w.pulls(), 2, "its implementation")
	w.quiet()
}

func TestAMergeThatWaitsCostsNothingUntilSomethingChanges(t *testing.T) {
	w := newWorld(t, "", "[merge]\ntests = \"none\"")
	w.command("carol", "/mergexo merge")
	require.Equal(t, []string{"in_approval APPROVAL_MISSING"}, w.merges())
	w.rests()
	w.approve("alice") // and nobody hears of it
	w.sweep()
	assert.Equal(t, "merged", w.badge())
	w.quiet()
}
