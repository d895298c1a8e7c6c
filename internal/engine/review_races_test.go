package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// reviews counts the reviews that we posted.
func (w *world) reviews() int { return strings.Count(w.reviewed(), "== COMMENTED") }

// A review is of the head that was fetched, and the run that goes on from a death knows which one that was.
func TestAReviewOfAHeadThatMovedAfterTheClaimIsPostedOnce(t *testing.T) {
	w := newReview(t)
	ev := w.say("carol", "/mergexo review")
	w.afterWrite(1, func() { w.write("alice", w.head, "more.txt", "more\n") }) // the reply that claims it is there
	w.gate.when(diesAfter, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/reviews") })
	w.handle(ev)
	w.gate.revive()
	w.write("alice", w.head, "still.txt", "more\n")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, 1, w.calls(), "nobody pays twice")
	assert.Equal(t, 1, w.reviews())
	assert.Contains(t, w.said(), "see [the review](")
}

// abandoned is a review whose run died after it had claimed it.
func abandoned(t *testing.T) (*world, model.Event) {
	w := newReview(t)
	w.gate.only(2, diesFirst)
	ev := w.say("carol", "/mergexo review")
	w.dies(ev)
	return w, ev
}

// patches numbers the edits of comments.
func patches(at func(n int)) func(int, *http.Request) fate {
	var mu sync.Mutex
	n := 0
	return func(_ int, r *http.Request) fate {
		if r.Method == http.MethodPatch {
			mu.Lock()
			n++
			now := n
			mu.Unlock()
			at(now)
		}
		return passes
	}
}

// Both runs find the claim of the dead one, and each writes its own over it before it looks again.
func TestOfTwoRunsThatTakeAReviewOverOneGoesOn(t *testing.T) {
	w, ev := abandoned(t)
	second := w.engine()
	claimed, over := make(chan struct{}), make(chan struct{})
	var ended sync.WaitGroup
	edits := 0
	w.gate.at = patches(func(n int) {
		if n == 1 { // the first run has read, and is about to claim: the second one reads and claims before it
			ended.Go(func() {
				rep, err := second.Handle(context.Background(), ev)
				assert.NoError(t, err)
				assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
				assert.Contains(t, rep.Reason, "another run is working on the review")
			})
			<-claimed
		}
	})
	w.gate.after = func(int) {
		if edits++; edits == 1 {
			close(claimed)
			<-over
		} else if edits == 2 {
			close(over)
		}
	}
	rep, err := w.engine().Handle(context.Background(), ev)
	ended.Wait()
	require.NoError(t, err)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, 1, w.calls())
	assert.Equal(t, 1, w.reviews())
}

// The claim is written over while the reviewer of the first run is at work: that run says nothing.
func TestARunWhoseReviewWasTakenOverPostsNothing(t *testing.T) {
	w, ev := abandoned(t)
	second := w.engine()
	w.gate.at = patches(func(n int) {
		if n == 1 {
			rep, err := second.Handle(context.Background(), ev)
			assert.NoError(t, err)
			assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		}
	})
	w.handle(ev)
	assert.Equal(t, 1, w.calls(), "it finds the review before it pays")
	assert.Equal(t, 1, w.reviews())
	assert.NotContains(t, w.said(), "The findings follow")
}

func TestAnOpenReviewIsToldByWhyAndStatus(t *testing.T) {
	w, _ := abandoned(t)
	w.talk("carol", "/mergexo status")
	w.gate.when(diesAfter, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/comments") }) // the answer, and the run dies
	w.handle(w.delivery("issue_comment"))
	assert.Regexp(t, `\| review \| \[of [^|]*, requested by carol \|`, w.said())
	w.gate.revive()
	w.handle(w.say("carol", "/mergexo why"))
	assert.Contains(t, w.said(), "**A [review](")
}

// What people do during the reviewer's half hour counts.
func TestWhatHappensWhileAReviewerIsAtWorkCounts(t *testing.T) {
	t.Parallel()
	t.Run("a finding is turned down", func(t *testing.T) {
		w := newWorld(t)
		w.finds([]model.Finding{found("greeting.txt", 2, model.Must, "The greeting is too informal for people.")})
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo review").Result)
		w.write("alice", w.head, "greeting.txt", "hello\nthere\nworld\n")
		w.finds([]model.Finding{found("greeting.txt", 2, model.Must, "This greeting is too informal for people, still.")})
		w.meanwhile(deed{"alice", "POST", w.pull(fmt.Sprintf("/comments/%d/replies", w.lineComments()[0].id())), `{"body": "Won't do, we like it."}`})
		w.agent = "reviews+meanwhile"
		require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo review").Result)
		assert.Len(t, w.lineComments(), 1)
		assert.Contains(t, w.reviewed(), "nothing new was found; it does not repeat 1 earlier finding.")
	})
	t.Run("the pull request is closed", func(t *testing.T) {
		w := newReview(t)
		w.meanwhile(deed{"octo", "PATCH", w.pull(""), `{"state": "closed"}`})
		w.agent = "reviews+meanwhile"
		w.gives(model.ResultFailed, w.orders("carol", "/mergexo review"))
		w.answered("applied", "The pull request is no longer open.")
		assert.Empty(t, w.reviewed())
	})
}
