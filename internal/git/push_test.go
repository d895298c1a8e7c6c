package git_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

const stage = "refs/mergexo/turn/7/abc"

// turn is a checkout of agent/x with one commit of ours on top of start.
func turn(t *testing.T) (h *hub, c *git.Checkout, start, sha string) {
	h = newHub(t)
	start = h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	c = h.open(h.workspace("agent/x", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	sha, made, err := c.Commit(ctx, "answer the review")
	require.NoError(t, err)
	require.True(t, made)
	return h, c, start, sha
}

func TestATurnCostsThreeNetworkCalls(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Stage(ctx, stage, sha))
	assert.Equal(t, sha, h.tip(stage))
	assert.Equal(t, start, h.tip("refs/heads/agent/x"))
	publish := git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage}
	require.NoError(t, c.Publish(ctx, publish))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
	assert.Empty(t, h.tip(stage))
	assert.Equal(t, 3, c.NetworkCalls())

	require.NoError(t, c.Publish(ctx, publish), "a second time changes nothing, the stage is gone already")
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
}

func TestStageIsForcedAndOnlyAStage(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Stage(ctx, stage, sha))
	require.NoError(t, c.Stage(ctx, stage, start), "an earlier attempt's stage is replaced")
	assert.Equal(t, start, h.tip(stage))
	for _, ref := range []string{"refs/heads/main", "refs/tags/v1", "main", "refs/x:refs/heads/main", "refs/heads/../x"} {
		assert.Error(t, c.Stage(ctx, ref, sha), ref)
	}
	got, err := h.open("").FetchRef(ctx, stage)
	require.NoError(t, err)
	assert.Equal(t, start, got)
	var none *git.ErrNoRef
	_, err = c.FetchRef(ctx, "refs/mergexo/turn/8/none")
	require.ErrorAs(t, err, &none)
}

func TestPublishRefusesWhatTheLeaseDoesNotCover(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Stage(ctx, stage, sha))
	theirs := h.commit("agent/x", "somebody else", map[string]string{"b.txt": "b\n"})
	err := c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage})
	var rejected *git.ErrRejected
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
	assert.Equal(t, theirs, h.tip("refs/heads/agent/x"))
	assert.Equal(t, sha, h.tip(stage), "all or nothing: the stage is still there")
}

func TestPublishNeverRewinds(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha}))
	calls := c.NetworkCalls()
	var rewind *git.ErrRewind
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: sha, SHA: start}), &rewind)
	assert.Equal(t, model.Behind, rewind.Relation)
	unknown := "00000000000000000000000000000000deadbeef"
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: unknown, SHA: sha}), &rewind)
	assert.Equal(t, model.Unknown, rewind.Relation)
	assert.Equal(t, calls+1, c.NetworkCalls(), "the server was asked for the unknown one, and nothing was sent")
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
}

func TestPublishCreatesABranchOnlyWhereThereIsNone(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/new", SHA: sha}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/new"))
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "agent/x", SHA: sha}), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, start, h.tip("refs/heads/agent/x"))
}

func TestPublishWorksWithoutAtomicPushes(t *testing.T) {
	h, c, start, sha := turn(t)
	h.git(h.bare, "config", "receive.advertiseAtomic", "false")
	require.NoError(t, c.Stage(ctx, stage, sha))
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
	assert.Empty(t, h.tip(stage))
}

func TestTheServersWordsAreKeptAndSorted(t *testing.T) {
	for name, test := range map[string]struct {
		said string
		want git.Reason
	}{
		"protected": {"GH006: Protected branch update failed for refs/heads/agent/x.", git.Protected},
		"ruleset":   {"GH013: Repository rule violations found for refs/heads/agent/x.", git.Protected},
		"workflow":  {"refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission", git.Workflow},
		"other":     {"\x1b[31mthe secret scanner says no\x1b[0m", git.Other},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, start, sha := turn(t)
			require.NoError(t, c.Stage(ctx, stage, sha))
			hook := "#!/bin/sh\ncat >/dev/null\necho '" + test.said + "' >&2\nexit 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
			err := c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage})
			var rejected *git.ErrRejected
			require.ErrorAs(t, err, &rejected)
			assert.Equal(t, test.want, rejected.Reason, rejected.Message)
			assert.NotContains(t, rejected.Message, "\x1b")
			assert.Equal(t, start, h.tip("refs/heads/agent/x"))
			assert.Equal(t, sha, h.tip(stage))
		})
	}
}

func TestALostAnswerIsUnclear(t *testing.T) {
	h, c, start, sha := turn(t)
	lost := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			return false
		}
		h.behave(false, nil)
		h.ServeHTTP(discard{http.Header{}}, r) // it is applied, and the answer is lost
		panic(http.ErrAbortHandler)
	}
	h.behave(false, lost)
	var unclear *git.ErrUnclear
	require.ErrorAs(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha}), &unclear)
	refs, err := c.Remote(ctx, "refs/heads/agent/x", "refs/heads/none")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"refs/heads/agent/x": sha}, refs, "the remote tells what happened")

	h.behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return true
	})
	err = c.Stage(ctx, stage, sha)
	require.Error(t, err)
	assert.NotErrorAs(t, err, &unclear, "nothing was sent yet")
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, git.Unreachable, failed.Failure)
}

// discard is a response that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func TestRemoteNamesWholeRefs(t *testing.T) {
	h := newHub(t)
	tip := h.commit("trap/refs/heads/main", "same ending", nil)
	c := h.open("")
	refs, err := c.Remote(ctx, "refs/heads/main")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"refs/heads/main": h.tip("refs/heads/main")}, refs)
	refs, err = c.Remote(ctx)
	require.NoError(t, err)
	assert.Equal(t, tip, refs["refs/heads/trap/refs/heads/main"])
	assert.Equal(t, 2, c.NetworkCalls())
}
