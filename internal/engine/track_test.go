package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A person opens the pull request that the agent's own run could not open.
func TestTheAgentsOwnBranchesAreTrackedByDefault(t *testing.T) {
	w := newWorld(t)
	w.agentSetting("track = [\"agent/*\"]\n", "")
	tip := w.tip()
	w.head = "agent/small/7-hello"
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": tip})
	w.number = int(w.api("alice", "POST", w.path("/pulls"), object{"title": "Say hello", "head": w.head, "base": "main"})["number"].(float64))
	w.done(w.handle(w.remark("alice", "Answer me.")))
	assert.Len(t, w.replies(), 1)
}
