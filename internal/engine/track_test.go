package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A person opens the pull request that the agent's own run could not open.
func TestTheAgentsOwnBranchesAreTrackedByDefault(t *testing.T) {
	w := newWorld(t)
	w.agentSetting("track = [\"agent/*\"]\n", "")
	w.number = w.another("agent/small/7-hello")
	w.head = "agent/small/7-hello"
	w.done(w.handle(w.remark("alice", "Answer me.")))
	assert.Len(t, w.replies(), 1)
}
