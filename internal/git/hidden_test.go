package git_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

const session = "refs/mergexo/session/7"

// kept is a hidden ref's content as nobody else could have written it by chance.
func kept(t *testing.T, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	_, err := rand.Read(content)
	require.NoError(t, err)
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
	h, c, _, _ := turn(t)
	before := objects(t, c)
	content := kept(t, 3<<20)
	calls := c.NetworkCalls()
	require.NoError(t, c.Keep(ctx, git.Hidden{Ref: session, Content: content}))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, before, objects(t, c), "nothing of it stays in the checkout")
	assert.Equal(t, "MergeXO <mergexo@example.com> MergeXO Kept by MergeXO for itself", h.git(h.bare, "log", "--format=%an <%ae> %cn %s", session))
	assert.Equal(t, "content", h.git(h.bare, "ls-tree", "--name-only", session))

	other := h.open("")
	got, err := other.Kept(ctx, session, 25<<20)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(content, got))
	assert.Equal(t, 1, other.NetworkCalls())
	assert.Empty(t, objects(t, other))

	for _, content := range [][]byte{kept(t, 100), {}, nil} {
		require.NoError(t, c.Keep(ctx, git.Hidden{Ref: session, Content: content}), "the last one wins, whoever wrote what was there")
		got, err = other.Kept(ctx, session, 25<<20)
		require.NoError(t, err)
		assert.Equal(t, string(content), string(got))
		assert.Equal(t, "1", h.git(h.bare, "rev-list", "--count", session), "and has no history")
	}
	own, err := filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "..", "*", "mergexo-git-*"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(own), 2, "one for each checkout: those beside them are gone")
}

func TestStageAndWhatIsKeptShareAPush(t *testing.T) {
	for name, args := range map[string][]string{"shallow": {"--depth=1"}, "whole": nil, "partial": {"--filter=blob:none"}} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
			c := h.open(h.workspace("agent/x", args...))
			require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
			write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			sha, _, err := c.Commit(ctx, "answer the review")
			require.NoError(t, err)
			calls, before := c.NetworkCalls(), objects(t, c)
			content := kept(t, 1000)
			require.NoError(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: content}))
			assert.Equal(t, calls+1, c.NetworkCalls())
			assert.Equal(t, before, objects(t, c))
			assert.Equal(t, sha, h.tip(stage))
			got, err := c.Kept(ctx, session, 1000)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(content, got))
			require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Stage: stage}), "and the turn goes on as ever")
			assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
			h.git(h.bare, "fsck", "--strict")
		})
	}
}

func TestStageAndWhatIsKeptShareAPushWhereHistoryIsCutOff(t *testing.T) {
	h := newHub(t)
	h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	start := h.grow("agent/x", 70)
	c := h.open(h.workspace("agent/x", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	sha, _, err := c.Commit(ctx, "answer the review")
	require.NoError(t, err)
	h.commit("agent/x", "meanwhile", nil) // now no ref of the server is known here
	h.commit("main", "meanwhile", nil)
	require.NoError(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: []byte("x")}))
	assert.Equal(t, sha, h.tip(stage))
}

func TestWhatIsKeptNeverCostsTheStage(t *testing.T) {
	t.Run("the server refuses it", func(t *testing.T) {
		h, c, _, sha := turn(t)
		hook := "#!/bin/sh\ncase $1 in refs/mergexo/session/*) echo 'no room for this' >&2; exit 1;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(hook), 0o755))
		err := c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: kept(t, 10)})
		var not *git.ErrNotKept
		require.ErrorAs(t, err, &not)
		assert.ErrorContains(t, err, "staged, but nothing was kept: push to refs/mergexo/session/7 rejected (other): [remote rejected] (hook declined); no room for this")
		assert.Equal(t, sha, h.tip(stage))
		assert.Equal(t, 3, c.NetworkCalls())
	})
	t.Run("it refuses the push as a whole", func(t *testing.T) {
		h, c, _, sha := turn(t)
		hook := "#!/bin/sh\ngrep -q session && exit 1\nexit 0\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
		var not *git.ErrNotKept
		require.ErrorAs(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: kept(t, 10)}), &not)
		assert.Equal(t, sha, h.tip(stage))
	})
	t.Run("something before it takes no long requests", func(t *testing.T) {
		h, c, _, sha := turn(t)
		h.behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			long := r.ContentLength < 0 || r.ContentLength > 1<<20
			if long {
				http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			}
			return long
		})
		var not *git.ErrNotKept
		require.ErrorAs(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: kept(t, 3<<20)}), &not)
		assert.Equal(t, sha, h.tip(stage))
	})
	t.Run("but the stage has to come through", func(t *testing.T) {
		h, c, _, sha := turn(t)
		hook := "#!/bin/sh\ncase $1 in refs/mergexo/turn/*) exit 1;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(hook), 0o755))
		err := c.StageWith(ctx, stage, sha, git.Hidden{Ref: session, Content: kept(t, 10)})
		var rejected *git.ErrRejected
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, stage, rejected.Ref)
		var not *git.ErrNotKept
		assert.NotErrorAs(t, err, &not)
	})
}

func TestOnlyHiddenRefsAreForced(t *testing.T) {
	h, c, start, sha := turn(t)
	calls := c.NetworkCalls()
	for _, ref := range []string{
		"refs/heads/main", "refs/tags/v1", "refs/pull/7/head", "main", "", "refs/mergexo/", "refs/mergexo/../heads/main", "refs/mergexo//x",
		"refs/mergexo/a:refs/heads/main", "refs/mergexo/*", "+refs/mergexo/x", "refs/mergexoo/x", "refs/mergexo/a b", "-d",
	} {
		assert.Error(t, c.Keep(ctx, git.Hidden{Ref: ref}), ref)
		assert.Error(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: ref}), ref)
		assert.Error(t, c.StageWith(ctx, ref, sha, git.Hidden{Ref: session}), ref)
		_, err := c.Kept(ctx, ref, 1000)
		assert.Error(t, err, ref)
		assert.Error(t, c.Forget(ctx, ref), ref)
	}
	assert.Error(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: stage}), "not on the stage itself")
	assert.Error(t, c.StageWith(ctx, stage, sha, git.Hidden{Ref: session}, git.Hidden{Ref: session}))
	assert.Error(t, c.StageWith(ctx, stage, "HEAD", git.Hidden{Ref: session}))
	assert.Equal(t, calls, c.NetworkCalls())
	assert.Equal(t, start, h.tip("refs/heads/agent/x"))
	assert.Empty(t, h.tip(stage))
}

func TestWhatSomebodyElsePutOnAHiddenRef(t *testing.T) {
	h := newHub(t)
	c := h.open("")
	_, err := c.Kept(ctx, session, 1000)
	var none *git.ErrNoRef
	require.ErrorAs(t, err, &none)
	assert.EqualError(t, none, "the server has no refs/mergexo/session/7")

	put := func(what string) { h.git(h.dev, "push", "-q", "-f", h.bare, what+":"+session) }
	var large *git.ErrTooLarge
	var foreign *git.ErrNotOurs
	h.commit("other", "a branch", map[string]string{"x/content": "x", "y": "y"})
	put("other")
	_, err = c.Kept(ctx, session, 1000)
	require.ErrorAs(t, err, &foreign)
	assert.EqualError(t, err, `refs/mergexo/session/7 was not written by MergeXO: it has no file "content"`)

	h.commit("directory", "a directory", map[string]string{"content/x": "x"})
	put("directory")
	_, err = c.Kept(ctx, session, 1000)
	require.ErrorAs(t, err, &foreign)

	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(h.dev, "link")))
	h.git(h.dev, "checkout", "-q", "--orphan", "linked")
	h.git(h.dev, "rm", "-rqf", "--cached", ".")
	h.git(h.dev, "clean", "-fdxq", "-e", "link")
	require.NoError(t, os.Rename(filepath.Join(h.dev, "link"), filepath.Join(h.dev, "content")))
	h.git(h.dev, "add", "content")
	h.git(h.dev, "commit", "-qm", "a symbolic link")
	put("linked")
	_, err = c.Kept(ctx, session, 1000)
	require.ErrorAs(t, err, &foreign)

	blob := h.git(h.dev, "rev-parse", "linked:content")
	put(blob) // not even a commit
	_, err = c.Kept(ctx, session, 1000)
	require.ErrorAs(t, err, &foreign)

	// Much history, and a file that is too long: neither is fetched.
	require.NoError(t, os.Remove(filepath.Join(h.dev, "content")))
	for range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(h.dev, "content"), kept(t, 1<<20), 0o644))
		h.git(h.dev, "add", "content")
		h.git(h.dev, "commit", "-qm", "large")
	}
	put("HEAD")
	sent := h.weigh(t)
	_, err = c.Kept(ctx, session, 1<<20-1)
	require.ErrorAs(t, err, &large)
	assert.EqualError(t, err, "refs/mergexo/session/7 holds more than 1048575 bytes")
	assert.Less(t, sent(), 100_000)
	got, err := c.Kept(ctx, session, 1<<20)
	require.NoError(t, err)
	assert.Len(t, got, 1<<20)
	assert.Less(t, sent(), 1<<20+100_000)
}

// weigh counts the bytes that the server sends.
func (h *hub) weigh(t *testing.T) func() int {
	t.Helper()
	counter := &weighed{}
	var serve func(w http.ResponseWriter, r *http.Request) bool
	serve = func(w http.ResponseWriter, r *http.Request) bool {
		counter.ResponseWriter = w
		h.behave(false, nil)
		h.ServeHTTP(counter, r)
		h.behave(false, serve)
		return true
	}
	h.behave(false, serve)
	return func() int { return counter.bytes }
}

type weighed struct {
	http.ResponseWriter
	bytes int
}

func (w *weighed) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return w.ResponseWriter.Write(p)
}

func TestAServerThatDoesNotFilterIsBoundedHere(t *testing.T) {
	for name, config := range map[string]string{"it does not know filters": "uploadpack.allowFilter", "it refuses this one": "uploadpackfilter.blob:limit.allow"} {
		t.Run(name, func(t *testing.T) {
			h, c, _, _ := turn(t)
			h.git(h.bare, "config", config, "false")
			content := kept(t, 2000)
			require.NoError(t, c.Keep(ctx, git.Hidden{Ref: session, Content: content}))
			got, err := c.Kept(ctx, session, 2000)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(content, got))
			var large *git.ErrTooLarge
			_, err = c.Kept(ctx, session, 1999)
			require.ErrorAs(t, err, &large)
		})
	}
}

func TestWhatIsKeptIsForgotten(t *testing.T) {
	h, c, _, _ := turn(t)
	require.NoError(t, c.Keep(ctx, git.Hidden{Ref: session, Content: []byte("x")}))
	require.NoError(t, c.Forget(ctx, session))
	assert.Empty(t, h.tip(session))
	require.NoError(t, c.Forget(ctx, session), "gone is gone")
	var none *git.ErrNoRef
	_, err := c.Kept(ctx, session, 10)
	require.ErrorAs(t, err, &none)
}

func TestKeepingStopsWhenTheRunDoes(t *testing.T) {
	h, c, _, sha := turn(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, c.Keep(gone, git.Hidden{Ref: session}), context.Canceled)
	require.ErrorIs(t, c.StageWith(gone, stage, sha, git.Hidden{Ref: session}), context.Canceled)
	_, err := c.Kept(gone, session, 10)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, h.tip(stage))
	h.behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return true
	})
	_, err = c.Kept(ctx, session, 10)
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, git.Unreachable, failed.Failure)
	assert.False(t, strings.Contains(err.Error(), token))
}
