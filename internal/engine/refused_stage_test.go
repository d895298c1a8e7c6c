package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// denies has the server take no push to refs of these patterns, as a ruleset of an organization can.
func (w *world) denies(patterns ...string) {
	w.t.Helper()
	hook := "#!/bin/sh\nexit 0\n"
	if len(patterns) > 0 {
		hook = fmt.Sprintf("#!/bin/sh\nwhile read -r old new ref; do\n\tcase $ref in %s) echo \"$ref is not to be made\" >&2; exit 1 ;; esac\ndone\nexit 0\n", strings.Join(patterns, "|"))
	}
	dir := w.bare("rev-parse", "--absolute-git-dir")
	require.NoError(w.t, os.MkdirAll(filepath.Join(dir, "hooks"), 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(hook), 0o755)) //nolint:gosec // git runs it
}

func TestWorkThatNoHiddenRefTakesIsPublishedInTheSameRun(t *testing.T) {
	type row struct {
		build func(t *testing.T) (*world, model.Event)
		ends  func(w *world)
	}
	each(t, map[string]row{
		"a turn": {func(t *testing.T) (*world, model.Event) { return commented(t) }, func(w *world) { w.settled(1, 1, 1) }},
		"a turn whose head moved": {func(t *testing.T) (*world, model.Event) {
			w, ev := commented(t)
			w.meanwhile(w.push("bob"))
			return w, ev
		}, func(w *world) { w.settled(1, 1, 2) }},
		"an issue": {func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob) }, func(*world) {}},
	}, func(t *testing.T, _ string, c row) {
		w, ev := c.build(t)
		w.denies("refs/mergexo/*")
		w.done(w.handle(ev))
		c.ends(w)
		assert.Empty(t, w.checkpoints(), "what is published is not kept twice")
		assert.Equal(t, 1, w.calls())
	})
}

func TestWorkThatNoHiddenRefTakesIsKeptOnABranch(t *testing.T) {
	w := newWorld(t)
	w.denies("refs/mergexo/*", "refs/heads/agent/*")
	w.blocked("push_refused", w.handle(w.remark("alice", "Answer me.")))
	branch, subjects := w.kept()
	assert.Equal(t, []string{"Answer, in words of call 1"}, subjects)
	assert.Contains(t, w.saidOnce("turn", "planned"), branch, "the comment says where the work is")

	w.denies("refs/mergexo/*")
	w.done(w.handle(w.say("carol", "/mergexo unblock")))
	w.settled(1, 1, 1)
	assert.Empty(t, w.checkpoints())
	assert.Equal(t, 1, w.calls(), "the work was found again")
}

func TestWorkThatNoRefTakesIsLeftOnTheRunnerAndSaidSo(t *testing.T) {
	w := newWorld(t)
	w.denies("refs/*")
	w.review("alice", "Answer me.")
	e := w.engine()
	rep := w.gives(model.ResultFailed, w.by(e, w.delivery("pull_request_review_comment")))
	files := must.Get(filepath.Glob(filepath.Join(e.Git.Temp, "mergexo-checkpoint-1-*.bundle")))(t)
	require.Len(t, files, 1)
	assert.Contains(t, rep.Reason, files[0])
	body := w.saidOnce("turn", "failed")
	assert.Contains(t, body, filepath.Base(files[0]))
	assert.Contains(t, body, "is not to be made", "why it could not be pushed")
	assert.NotContains(t, body, "goes on from here")
	w.bare("fetch", files[0], "work:refs/heads/rescued")
	assert.Equal(t, "Answer, in words of call 1", w.bare("log", "-1", "--format=%s", "rescued"))
}

// A token may read and not write: the agent asked again at every event would cost as much each time, and help as little.
func TestAPushThatTheTokenMayNotMakeCountsAsAnAttempt(t *testing.T) {
	each(t, map[string]func(r *http.Request) bool{
		"said before the push": func(r *http.Request) bool { return r.URL.Query().Get("service") == "git-receive-pack" },
		"said of the push":     func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-receive-pack") },
	}, func(t *testing.T, name string, refused func(r *http.Request) bool) {
		w := newWorld(t)
		again := w.gate.answers(refused, func(rw http.ResponseWriter) {
			http.Error(rw, "Write access to repository not granted.", http.StatusForbidden)
		})
		ev := w.remark("alice", "Answer me.")
		for n := range 2 {
			_, err := w.engine().Handle(context.Background(), ev)
			w.over(w.runs)
			require.ErrorContains(t, err, "permissions: contents: write", "whoever runs it reads what is missing")
			assert.Equal(t, n+1, w.calls())
			if name == "said of the push" { // and the rest is the same
				return
			}
		}
		w.blocked("agent_failed", w.handle(ev))
		assert.Contains(t, w.marked("block", "")[0]["body"], "403")
		w.handle(ev)
		assert.Equal(t, 3, w.calls(), "it is not asked again")
		assert.Equal(t, []string{"Write greeting.txt"}, w.commits())

		again()
		require.Equal(t, model.ResultDone, w.handle(w.say("carol", "/mergexo unblock")).Result)
		w.settled(1, 1, 1)
	})
}
