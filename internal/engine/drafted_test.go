package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// draft begins a review with comments on a line, which only its author sees.
func (w *world) draft(login string, lines ...string) int64 {
	w.t.Helper()
	w.later(time.Minute)
	comments := []object{}
	for _, text := range lines {
		comments = append(comments, object{"path": "greeting.txt", "line": 2, "body": text})
	}
	return w.api(login, "POST", w.pull("/reviews"), object{"comments": comments}).id()
}

// submit shows a drafted review to everybody, and gives the event of its last comment.
func (w *world) submit(login string, review int64, summary string) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "POST", w.pull(fmt.Sprintf("/reviews/%d/events", review)), object{"event": "COMMENT", "body": summary})
	return w.delivery("pull_request_review_comment")
}

// A review event waits in the group of its pull request, and one of the events of its comments takes its place.
func TestACommandCountsFromTheSubmissionOfItsReview(t *testing.T) {
	w := newWorld(t)
	review := w.draft("carol", "Why?", "And this?")
	w.later(48 * time.Hour)
	w.submit("carol", review, "/mergexo pause")
	for range 2 {
		w.handle(w.delivery("pull_request_review_comment"))
		w.answered("applied", "Nothing happens here until")
	}
	w.sweep()
	assert.Len(t, w.answers(), 1)
	assert.Zero(t, w.calls(), "the comments on lines wait")
}

func TestCommandsAreCarriedOutInTheOrderInWhichTheyCouldBeSeen(t *testing.T) {
	w := newWorld(t)
	w.orders("carol", "/mergexo pause")
	w.review("alice", "Answer me.")
	review := w.draft("carol", "/mergexo resume")
	w.talk("carol", "/mergexo resume")
	w.talk("carol", "/mergexo pause")
	w.done(w.handle(w.submit("carol", review, "")))
	w.answered("applied", "**Resumed.**")
	assert.Len(t, w.answers(), 4)
	w.settled(1, 1, 1)
}

// Whoever deletes a reply must not set going what was stopped, however early that was drafted.
func TestAPauseThatWasDraftedBeforeAResumeOutlivesItsReply(t *testing.T) {
	w := newWorld(t)
	review := w.draft("carol", "/mergexo pause")
	w.orders("carol", "/mergexo pause")
	w.orders("carol", "/mergexo resume")
	w.handle(w.submit("carol", review, ""))
	w.answered("applied", "**Paused.**")
	all := w.marked("command", "")
	w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", all[len(all)-1].id())), nil)
	w.handle(w.say("alice", "Go on."))
	w.answered("applied", "**Paused.**")
	assert.Zero(t, w.calls())
}

func TestACommandThatWasDraftedDuringATakeoverCountsAfterIt(t *testing.T) {
	w := newWorld(t)
	w.labels("octo", "agent:ignore")
	review := w.draft("carol", "/mergexo pause")
	w.later(time.Minute)
	w.takesOff("octo", "agent:ignore")
	w.handle(w.submit("carol", review, ""))
	w.answered("applied", "Nothing happens here until")

	review = w.draft("carol", "/mergexo resume")
	w.labels("octo", "agent:ignore")
	w.handle(w.submit("carol", review, ""))
	w.answered("rejected", "A person had already taken over by adding a label")
}

// What people said while a pull request was tracked is no talk among themselves.
func TestAReleaseLastsFromItsSubmission(t *testing.T) {
	w := newWorld(t)
	review := w.draft("carol", "/mergexo release")
	w.review("alice", "Answer me.") // whose event gets lost
	w.submit("carol", review, "")
	w.handle(w.deliveries("pull_request_review_comment")[1])
	w.answered("applied", "`/mergexo release`")
	w.orders("carol", "/mergexo adopt")
	w.settled(1, 1, 1)
}
