package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// gadgets is what the repository is called after somebody has renamed it.
var gadgets = model.Repo{Owner: "octo", Name: "gadgets"}

// renamed has a run take an event while the repository has another name than the one in all comments.
func (w *world) renamed(ev model.Event, run func(ev model.Event)) {
	w.t.Helper()
	w.api("octo", "PATCH", w.path(""), object{"name": gadgets.Name})
	ev.Repo = gadgets
	run(ev)
	w.api("octo", "PATCH", "/api/v3/repos/"+gadgets.String(), object{"name": repo.Name})
}

func TestNothingIsForgottenWhereTheRepositoryWasRenamed(t *testing.T) {
	t.Parallel()
	t.Run("an answer", func(t *testing.T) {
		w := newWorld(t).whoseAgent("record+talk")
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Why?")).Result)
		w.renamed(w.remark("alice", "And this?"), func(ev model.Event) {
			w.done(w.handle(ev))
			assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
		})
		asked := w.requests()
		require.Len(t, asked, 2)
		assert.Len(t, asked[1].Feedback, 1, "the first is answered")
		assert.Len(t, w.replies(), 2)
		assert.Equal(t, model.ResultNothing, w.handle(w.delivery("pull_request_review_comment")).Result, "and back again")
	})
	t.Run("an issue", func(t *testing.T) {
		w, ev := labelled(t, smallJob)
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.renamed(ev, func(ev model.Event) {
			assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
			must.Get(w.engine().Sweep(context.Background(), gadgets, sweeping.Options{}))(t)
		})
		assert.Len(t, w.pulls(), 1)
		assert.Equal(t, 1, w.calls())
	})
	t.Run("a run that knows the old name", func(t *testing.T) {
		w := newWorld(t).whoseAgent("talk")
		ev := w.remark("alice", "Why?")
		w.api("octo", "PATCH", w.path(""), object{"name": gadgets.Name})
		now := ev
		now.Repo = gadgets
		require.Equal(t, model.ResultDone, w.handle(now).Result)
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result, "a clone still has it")
		assert.Equal(t, 1, w.calls())
	})
	t.Run("but not of another one", func(t *testing.T) {
		w := newWorld(t).whoseAgent("talk")
		ev := w.remark("alice", "Why?")
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.api("octo", "PATCH", w.path(""), object{"name": gadgets.Name})
		w.api("", "POST", "/_sandbox/repositories", object{"full_name": repo.String(), "empty": true})
		ev.Repo = gadgets
		assert.Equal(t, model.ResultDone, w.handle(ev).Result, "the name is another repository's now, whose markers anybody may have copied")
		assert.Equal(t, 2, w.calls())
	})
}
