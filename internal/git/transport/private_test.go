package transport_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

const session = "refs/mergexo/session/7"

// kept is a hidden ref's content as nobody else could have written it by chance.
func kept(t *testing.T, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	gittest.Must(rand.Read(content))(t)
	return content
}

// objects are the files in which a checkout's objects lie.
func objects(t *testing.T, c *git.Checkout) []string {
	t.Helper()
	var list []string
	require.NoError(t, filepath.WalkDir(filepath.Join(c.Dir(), ".git", "objects"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

func TestWhatIsKeptOnAHiddenRefIsThereOnAnotherRunner(t *testing.T) {
	h, c, _, _ := gittest.Turn(t)
	before := objects(t, c)
	content := kept(t, 3<<20)
	calls := c.NetworkCalls()
	require.NoError(t, transport.WritePrivate(gittest.Ctx, c, transport.PrivateRef{Ref: session, Content: content}))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, before, objects(t, c), "nothing of it stays in the checkout")
	assert.Equal(t, "MergeXO <mergexo@example.com> MergeXO Kept by MergeXO for itself", h.Git(h.Bare, "log", "--format=%an <%ae> %cn %s", session))
	assert.Equal(t, "content", h.Git(h.Bare, "ls-tree", "--name-only", session))

	other := h.Open("")
	assert.True(t, bytes.Equal(content, gittest.Must(transport.ReadPrivate(gittest.Ctx, other, session, 25<<20))(t)))
	assert.Equal(t, 1, other.NetworkCalls())
	assert.Empty(t, objects(t, other))

	for _, content := range [][]byte{kept(t, 100), {}, nil} {
		require.NoError(t, transport.WritePrivate(gittest.Ctx, c, transport.PrivateRef{Ref: session, Content: content}), "the last one wins, whoever wrote what was there")
		assert.Equal(t, string(content), string(gittest.Must(transport.ReadPrivate(gittest.Ctx, other, session, 25<<20))(t)))
		assert.Equal(t, "1", h.Git(h.Bare, "rev-list", "--count", session), "and has no history")
	}
	own := gittest.Must(filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "..", "*", "mergexo-git-*")))(t)
	assert.LessOrEqual(t, len(own), 2, "one for each checkout: those beside them are gone")
}

func TestStageAndWhatIsKeptShareAPush(t *testing.T) {
	must.Each(t, map[string][]string{"shallow": {"--depth=1"}, "whole": nil, "partial": {"--filter=blob:none"}}, func(t *testing.T, args []string) {
		h := gittest.NewHub(t)
		start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
		c := h.Restored("agent/x", "main", start, h.Workspace("agent/x", args...))
		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
		sha := gittest.Committed(t, c, "answer the review")
		calls, before := c.NetworkCalls(), objects(t, c)
		content := kept(t, 1000)
		require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: session, Content: content}))
		assert.Equal(t, calls+1, c.NetworkCalls())
		assert.Equal(t, before, objects(t, c))
		assert.Equal(t, sha, h.Tip(gittest.Stage))
		assert.True(t, bytes.Equal(content, gittest.Must(transport.ReadPrivate(gittest.Ctx, c, session, 1000))(t)))
		require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage}), "and the turn goes on as ever")
		assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
		h.Git(h.Bare, "fsck", "--strict")
	})
}

func TestStageAndWhatIsKeptShareAPushWhereHistoryIsCutOff(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	start := h.Grow("agent/x", 70)
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x", "--depth=1"))
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	sha := gittest.Committed(t, c, "answer the review")
	h.Commit("agent/x", "meanwhile", nil) // now no ref of the server is known here
	h.Commit("main", "meanwhile", nil)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: session, Content: []byte("x")}))
	assert.Equal(t, sha, h.Tip(gittest.Stage))
}

func TestWhatIsKeptNeverCostsTheStage(t *testing.T) {
	type row struct {
		hook, text string
		size       int // of what is kept
		said       string
	}
	must.Each(t, map[string]row{
		"the server refuses it": {
			"update", "case $1 in refs/mergexo/session/*) echo 'no room for this' >&2; exit 1;; esac\n", 10,
			"staged, but nothing was kept: push to refs/mergexo/session/7 rejected (other): [remote rejected] (hook declined); no room for this",
		},
		"it refuses the push as a whole":             {"pre-receive", "grep -q session && exit 1\nexit 0\n", 10, "hook declined"},
		"something before it takes no long requests": {"update", "exit 0\n", 3 << 20, "413"},
	}, func(t *testing.T, test row) {
		h, c, _, sha := gittest.Turn(t)
		require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", test.hook), []byte("#!/bin/sh\n"+test.text), 0o755))
		h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			long := r.ContentLength < 0 || r.ContentLength > 1<<20
			if long {
				http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			}
			return long
		})
		err := transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: session, Content: kept(t, test.size)})
		require.ErrorAs(t, err, new(*transport.ErrNotKept))
		assert.ErrorContains(t, err, test.said)
		assert.Equal(t, sha, h.Tip(gittest.Stage))
		assert.Equal(t, 3, c.NetworkCalls())
	})
	t.Run("but the stage has to come through", func(t *testing.T) {
		h, c, _, sha := gittest.Turn(t)
		hook := "#!/bin/sh\ncase $1 in refs/mergexo/turn/*) exit 1;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
		err := transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: session, Content: kept(t, 10)})
		var rejected *git.ErrRejected
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, gittest.Stage, rejected.Ref)
		var not *transport.ErrNotKept
		assert.NotErrorAs(t, err, &not)
	})
}

func TestOnlyHiddenRefsAreForced(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	calls := c.NetworkCalls()
	for _, ref := range []string{
		"refs/heads/main", "refs/tags/v1", "refs/pull/7/head", "main", "", "refs/mergexo/", "refs/mergexo/../heads/main", "refs/mergexo//x",
		"refs/mergexo/a:refs/heads/main", "refs/mergexo/*", "+refs/mergexo/x", "refs/mergexoo/x", "refs/mergexo/a b", "-d",
	} {
		assert.Error(t, transport.WritePrivate(gittest.Ctx, c, transport.PrivateRef{Ref: ref}), ref)
		assert.Error(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: ref}), ref)
		assert.Error(t, transport.Stage(gittest.Ctx, c, ref, sha, transport.PrivateRef{Ref: session}), ref)
		assert.Error(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, ref, 1000)), ref)
		assert.Error(t, transport.Forget(gittest.Ctx, c, git.Ref{Name: ref}), ref)
	}
	assert.Error(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: gittest.Stage}), "not on the stage itself")
	assert.Error(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha, transport.PrivateRef{Ref: session}, transport.PrivateRef{Ref: session}))
	assert.Error(t, transport.Stage(gittest.Ctx, c, gittest.Stage, "HEAD", transport.PrivateRef{Ref: session}))
	assert.Equal(t, calls, c.NetworkCalls())
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
	assert.Empty(t, h.Tip(gittest.Stage))
}

func TestWhatSomebodyElsePutOnAHiddenRef(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Open("")
	_, err := transport.ReadPrivate(gittest.Ctx, c, session, 1000)
	assert.EqualError(t, gittest.As[*git.ErrNoRef](t, err), "the server has no refs/mergexo/session/7")

	put := func(what string) { h.Git(h.Dev, "push", "-q", "-f", h.Bare, what+":"+session) }
	h.Commit("other", "a branch", map[string]string{"x/content": "x", "y": "y"})
	put("other")
	_, err = transport.ReadPrivate(gittest.Ctx, c, session, 1000)
	foreign := gittest.As[*transport.ErrNotOurs](t, err)
	assert.EqualError(t, err, `refs/mergexo/session/7 was not written by MergeXO: it has no file "content"`)

	h.Commit("directory", "a directory", map[string]string{"content/x": "x"})
	put("directory")
	require.ErrorAs(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, session, 1000)), &foreign)

	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(h.Dev, "link")))
	h.Git(h.Dev, "checkout", "-q", "--orphan", "linked")
	h.Git(h.Dev, "rm", "-rqf", "--cached", ".")
	h.Git(h.Dev, "clean", "-fdxq", "-e", "link")
	require.NoError(t, os.Rename(filepath.Join(h.Dev, "link"), filepath.Join(h.Dev, "content")))
	h.Git(h.Dev, "add", "content")
	h.Git(h.Dev, "commit", "-qm", "a symbolic link")
	put("linked")
	require.ErrorAs(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, session, 1000)), &foreign)

	blob := h.Git(h.Dev, "rev-parse", "linked:content")
	put(blob) // not even a commit
	require.ErrorAs(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, session, 1000)), &foreign)

	// Much history, and a file that is too long: neither is fetched.
	require.NoError(t, os.Remove(filepath.Join(h.Dev, "content")))
	for range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(h.Dev, "content"), kept(t, 1<<20), 0o644))
		h.Git(h.Dev, "add", "content")
		h.Git(h.Dev, "commit", "-qm", "large")
	}
	put("HEAD")
	sent := h.Weigh(t)
	_, err = transport.ReadPrivate(gittest.Ctx, c, session, 1<<20-1)
	require.ErrorAs(t, err, new(*transport.ErrTooLarge))
	assert.EqualError(t, err, "refs/mergexo/session/7 holds more than 1048575 bytes")
	assert.Less(t, sent(), 100_000)
	assert.Len(t, gittest.Must(transport.ReadPrivate(gittest.Ctx, c, session, 1<<20))(t), 1<<20)
	assert.Less(t, sent(), 1<<20+100_000)
}

func TestAServerThatDoesNotFilterIsBoundedHere(t *testing.T) {
	must.Each(t, map[string]string{"it does not know filters": "uploadpack.allowFilter", "it refuses this one": "uploadpackfilter.blob:limit.allow"}, func(t *testing.T, config string) {
		h, c, _, _ := gittest.Turn(t)
		h.Git(h.Bare, "config", config, "false")
		content := kept(t, 2000)
		require.NoError(t, transport.WritePrivate(gittest.Ctx, c, transport.PrivateRef{Ref: session, Content: content}))
		assert.True(t, bytes.Equal(content, gittest.Must(transport.ReadPrivate(gittest.Ctx, c, session, 2000))(t)))
		require.ErrorAs(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, session, 1999)), new(*transport.ErrTooLarge))
	})
}

func TestWhatIsKeptIsForgotten(t *testing.T) {
	h, c, _, _ := gittest.Turn(t)
	require.NoError(t, transport.WritePrivate(gittest.Ctx, c, transport.PrivateRef{Ref: session, Content: []byte("x")}))
	require.NoError(t, transport.Forget(gittest.Ctx, c, git.Ref{Name: session}))
	assert.Empty(t, h.Tip(session))
	require.NoError(t, transport.Forget(gittest.Ctx, c, git.Ref{Name: session}), "gone is gone")
	require.ErrorAs(t, gittest.Err(transport.ReadPrivate(gittest.Ctx, c, session, 10)), new(*git.ErrNoRef))
}

func TestKeepingStopsWhenTheRunDoes(t *testing.T) {
	h, c, _, sha := gittest.Turn(t)
	gone, cancel := context.WithCancel(gittest.Ctx)
	cancel()
	require.ErrorIs(t, transport.WritePrivate(gone, c, transport.PrivateRef{Ref: session}), context.Canceled)
	require.ErrorIs(t, transport.Stage(gone, c, gittest.Stage, sha, transport.PrivateRef{Ref: session}), context.Canceled)
	require.ErrorIs(t, gittest.Err(transport.ReadPrivate(gone, c, session, 10)), context.Canceled)
	assert.Empty(t, h.Tip(gittest.Stage))
}

// Of two runs that replace what both have read, one is told that it was too late.
func TestWhatTwoReplaceIsReplacedOnce(t *testing.T) {
	h, c, _, _ := gittest.Turn(t)
	ref, other := transport.TrainRef("release/1"), h.Open("")
	assert.Equal(t, "refs/mergexo/train/release%2F1", ref)
	base, is := transport.TrainBase(ref)
	assert.Equal(t, "release/1", base)
	assert.True(t, is)
	_, is = transport.TrainBase("refs/mergexo/lock/main")
	assert.False(t, is)
	first := gittest.Must(transport.SwapPrivate(gittest.Ctx, c, transport.PrivateRef{Ref: ref, Content: []byte("one")}, ""))(t)
	assert.Equal(t, first, h.Git(h.Bare, "rev-parse", ref))
	stale := func(c *git.Checkout, content, was string) {
		t.Helper()
		_, err := transport.SwapPrivate(gittest.Ctx, c, transport.PrivateRef{Ref: ref, Content: []byte(content)}, was)
		assert.Equal(t, git.Stale, gittest.As[*git.ErrRejected](t, err).Reason)
	}
	stale(other, "also one", "")
	second := gittest.Must(transport.SwapPrivate(gittest.Ctx, other, transport.PrivateRef{Ref: ref, Content: []byte("two")}, first))(t)
	stale(c, "also two", first)
	assert.Equal(t, second, h.Git(h.Bare, "rev-parse", ref))
	assert.Equal(t, "two", string(gittest.Must(transport.ReadPrivate(gittest.Ctx, c, ref, 100))(t)))

	for _, wrong := range []struct{ ref, was string }{{"refs/heads/main", ""}, {ref, "two"}} {
		assert.Error(t, gittest.Err(transport.SwapPrivate(gittest.Ctx, c, transport.PrivateRef{Ref: wrong.ref}, wrong.was)))
	}
}
