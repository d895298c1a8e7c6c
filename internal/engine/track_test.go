package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// A person opens the pull request that the agent's own run could not open.
func TestTheAgentsOwnBranchesAreTrackedByDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agentSetting("track = [\"agent/*\"]\n", "")
	tip := w.tip()
	w.head = "agent/small/7-hello"
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": tip})
	w.number = int(w.api("alice", "POST", w.path("/pulls"), object{"title": "Say hello", "head": w.head, "base": "main"})["number"].(float64))
	w.review("alice", "Answer me.")
	rep := w.handle(w.delivery("pull_request_review_comment"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Len(t, w.replies(), 1)
}
