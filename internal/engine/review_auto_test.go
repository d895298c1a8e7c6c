package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labels puts a label on the pull request or issue, as somebody.
func (w *world) labels(login, label string) {
	w.t.Helper()
	w.later(time.Minute)
	status, out := w.send(login, "POST", w.path(fmt.Sprintf("/issues/%d/labels", w.number)), object{"labels": []string{label}})
	require.Equal(w.t, 200, status, "%s", out)
}

// takesOff takes a label off it.
func (w *world) takesOff(login, label string) {
	w.t.Helper()
	status, out := w.send(login, "DELETE", w.path(fmt.Sprintf("/issues/%d/labels/%s", w.number, label)), nil)
	require.Equal(w.t, 200, status, "%s", out)
}

// labelled are the labels of the pull request.
func (w *world) labelled() any {
	w.t.Helper()
	return w.api("octo", "GET", w.pull(""), nil)["labels"]
}

func TestALabelAsksForAReviewAndGoesWhenItIsPosted(t *testing.T) {
	each(t, map[string]func(w *world){
		"by an event": func(w *world) { w.handle(w.delivery("pull_request")) },
		"by a sweep":  func(w *world) { w.sweep() },
	}, func(t *testing.T, _ string, look func(w *world)) {
		w := newReview(t, "", "[review]\nauto = \"label\"\nlabel = \"look\"")
		w.labels("bob", "look")
		rep := w.handle(w.delivery("pull_request"))
		assert.Zero(t, w.calls(), "bob may not command: %s", rep.Reason)
		w.takesOff("bob", "look")
		w.labels("carol", "look")
		look(w)
		assert.Contains(t, w.said(), "**Review** requested by the label `look`, which carol added\n\nReviewed [")
		assert.Contains(t, w.reviewed(), "3 findings")
		assert.Empty(t, w.labelled())
		look(w)
		assert.Equal(t, 1, w.calls())

		w.labels("carol", "look")
		look(w)
		assert.Contains(t, w.said(), "After a new commit, you can request another review.")
		assert.Empty(t, w.labelled(), "it is answered and taken off")
		assert.Equal(t, 1, w.calls())
	})
}

// Nobody gave a command for it, so it waits as the turns do.
func TestAReviewByItselfWaitsWhilePeopleHaveThePullRequest(t *testing.T) {
	every(t, []bool{false, true}, func(t *testing.T, begun bool) {
		w := newReview(t, "", "[review]\nauto = \"label\"\nlabel = \"look\"")
		if begun { // by a run that died
			w.gate.only(2, diesFirst)
			w.labels("carol", "look")
			w.dies(w.delivery("pull_request"))
		}
		w.orders("carol", "/mergexo pause")
		if !begun {
			w.labels("carol", "look")
			w.handle(w.delivery("pull_request"))
		}
		before := w.calls()
		w.sweep()
		w.sweep()
		assert.Equal(t, before, w.calls())
		assert.Empty(t, w.reviewed())
		w.orders("carol", "/mergexo resume")
		w.sweep()
		assert.Contains(t, w.reviewed(), "3 findings")
	})
	t.Run("ready", func(t *testing.T) {
		w := newReview(t, "", "[review]\nauto = \"ready\"")
		opened := w.delivery("pull_request")
		w.labels("carol", "agent:ignore")
		w.handle(opened)
		w.sweep()
		assert.Zero(t, w.calls())
		w.takesOff("carol", "agent:ignore")
		w.sweep()
		assert.Contains(t, w.reviewed(), "3 findings")
	})
}

func TestAPullRequestThatIsReadyIsReviewedOnce(t *testing.T) {
	w := newReview(t, "", "[review]\nauto = \"ready\"")
	opened := w.delivery("pull_request")
	w.done(w.handle(opened))
	assert.Contains(t, w.said(), "**Review**, because the pull request is ready")
	assert.Contains(t, w.reviewed(), "3 findings")
	w.handle(opened)
	w.write("alice", w.head, "more.txt", "more\n")
	w.handle(w.delivery("pull_request"))
	assert.Equal(t, 1, w.calls(), "later pushes ask for nothing")
}

func TestAStrangersPullRequestIsNotReviewedByItself(t *testing.T) {
	w := newExternal(t, "[review]\nauto = \"ready\"")
	w.finds(threeFindings())
	w.handle(w.delivery("pull_request"))
	assert.Zero(t, w.calls())
	assert.Empty(t, w.reviewed())
}
