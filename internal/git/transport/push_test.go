package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestATurnCostsThreeNetworkCalls(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	assert.Equal(t, sha, h.Tip(gittest.Stage))
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
	publish := transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage}
	require.NoError(t, transport.Publish(gittest.Ctx, c, publish))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	assert.Empty(t, h.Tip(gittest.Stage))
	assert.Equal(t, 3, c.NetworkCalls())

	require.NoError(t, transport.Publish(gittest.Ctx, c, publish), "a second time changes nothing, the stage is gone already")
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
}

func TestStageIsForcedAndOnlyAStage(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, start), "an earlier attempt's stage is replaced")
	assert.Equal(t, start, h.Tip(gittest.Stage))
	for _, ref := range []string{"refs/heads/main", "refs/tags/v1", "main", "refs/x:refs/heads/main", "refs/heads/../x"} {
		assert.Error(t, transport.Stage(gittest.Ctx, c, ref, sha), ref)
	}
	assert.Equal(t, start, gittest.Must(history.FetchRef(gittest.Ctx, h.Open(""), gittest.Stage))(t))
	require.ErrorAs(t, gittest.Err(history.FetchRef(gittest.Ctx, c, "refs/mergexo/turn/8/none")), new(*git.ErrNoRef))
}

func TestPublishRefusesWhatTheLeaseDoesNotCover(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	theirs := h.Commit("agent/x", "somebody else", map[string]string{"b.txt": "b\n"})
	err := transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage})
	rejected := gittest.As[*git.ErrRejected](t, err)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
	assert.Equal(t, theirs, h.Tip("refs/heads/agent/x"))
	assert.Equal(t, sha, h.Tip(gittest.Stage), "all or nothing: the stage is still there")
}

func TestPublishCreatesABranchOnlyWhereThereIsNone(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/new", SHA: sha}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/new"))
	rejected := gittest.As[*git.ErrRejected](t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", SHA: sha}))
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
}

func TestPublishWorksWithoutAtomicPushes(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	h.Git(h.Bare, "config", "receive.advertiseAtomic", "false")
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	assert.Empty(t, h.Tip(gittest.Stage))
}

func TestALostAnswerIsUnclear(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	lost := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			return false
		}
		h.Behave(false, nil)
		h.ServeHTTP(gittest.Discard{}, r) // it is applied, and the answer is lost
		panic(http.ErrAbortHandler)
	}
	h.Behave(false, lost)
	unclear := gittest.As[*git.ErrUnclear](t,
		transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha}))
	refs := gittest.Must(history.RemoteRefs(gittest.Ctx, c, "refs/heads/agent/x", "refs/heads/none"))(t)
	assert.Equal(t, map[string]string{"refs/heads/agent/x": sha}, refs, "the remote tells what happened")

	h.Behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return true
	})
	err := transport.Stage(gittest.Ctx, c, gittest.Stage, sha)
	require.Error(t, err)
	assert.NotErrorAs(t, err, &unclear, "nothing was sent yet")
	assert.Equal(t, git.Unreachable, gittest.As[*git.Error](t, err).Failure)
}

func TestRemoteNamesWholeRefs(t *testing.T) {
	h := gittest.NewHub(t)
	tip := h.Commit("trap/refs/heads/main", "same ending", nil)
	c := h.Open("")
	refs := gittest.Must(history.RemoteRefs(gittest.Ctx, c, "refs/heads/main"))(t)
	assert.Equal(t, map[string]string{"refs/heads/main": h.Tip("refs/heads/main")}, refs)
	refs = gittest.Must(history.RemoteRefs(gittest.Ctx, c))(t)
	assert.Equal(t, tip, refs["refs/heads/trap/refs/heads/main"])
	assert.Equal(t, 2, c.NetworkCalls())
}
