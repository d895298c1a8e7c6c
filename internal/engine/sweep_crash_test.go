package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASweepBeginsWhatALabelAskedForWhoseTriggerWasLost(t *testing.T) {
	w := newIssue(t)
	w.label("alice", smallJob)
	w.sweep()
	assert.Len(t, w.pulls(), 1)
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

// TestASweepReportsADesignThatItLands: the work goes on at the issue, whose number the report has.
func TestASweepReportsADesignThatItLands(t *testing.T) {
	w := newIssue(t, "", "[merge]\ntests = \"none\"")
	w.done(w.handle(w.label("alice", design)))
	issue := w.number
	w.on(3).api("alice", "POST", w.pull("/reviews"), object{"event": "APPROVE", "commit_id": w.pulls()[0].at("head", "sha")})
	w.say("carol", "/mergexo merge")
	w.number = issue
	w.done(w.visited())
	w.number = 3
	assert.Equal(t, "merged", w.badge())
	assert.Len(t, w.pulls(), 2)
}

func TestAMergeThatWaitsCostsNothingUntilSomethingChanges(t *testing.T) {
	w := unapproved(t)
	w.rests()
	w.approve("alice") // and nobody hears of it
	w.sweep()
	assert.Equal(t, "merged", w.badge())
	w.quiet()
}
