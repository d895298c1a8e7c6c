package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// ways are the ways to say something on a pull request: each says a text, names the event of it, and gives the path to edit it.
var ways = map[string]func(w *world, login, text string) (event, edit string){
	"on a line": func(w *world, login, text string) (event, edit string) {
		return "pull_request_review_comment", w.path(fmt.Sprintf("/pulls/comments/%d", w.review(login, text)))
	},
	"in the conversation": func(w *world, login, text string) (event, edit string) {
		return "issue_comment", w.path(fmt.Sprintf("/issues/comments/%d", w.talk(login, text)))
	},
	"in a review": func(w *world, login, text string) (event, edit string) {
		w.later(time.Minute)
		review := w.api(login, "POST", w.pull("/reviews"), object{"event": "REQUEST_CHANGES", "body": text}).id()
		return "pull_request_review", w.pull(fmt.Sprintf("/reviews/%d", review))
	},
}

// judges has somebody submit a review, and gives the event of it.
func (w *world) judges(login string, review object) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "POST", w.pull("/reviews"), review)
	return w.delivery("pull_request_review")
}

// heard is what the agent was told, call by call.
func (w *world) heard() []string {
	w.t.Helper()
	var all []string
	if w.calls() > 0 {
		for _, r := range w.requests() {
			all = append(all, strings.Join(words(r), " | "))
		}
	}
	return all
}

// The run of a comment waits for the one before it, while people read what was written.
func TestWhatItsAuthorWroteAndWhatAnEditMadeOfItAreBothHeard(t *testing.T) {
	each(t, ways, func(t *testing.T, _ string, say func(w *world, login, text string) (event, edit string)) {
		w := newWorld(t).whoseAgent("record+echo")
		event, path := say(w, "alice", "Delete the file.")
		ev := w.delivery(event)
		w.later(time.Minute)
		method := map[bool]string{true: "PUT", false: "PATCH"}[event == "pull_request_review"]
		w.api("carol", method, path, object{"body": "Keep the file."})
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		assert.Equal(t, "Delete the file.", w.heard()[0], "as it was sent")
		w.handle(w.delivery(event))
		w.sweep()
		assert.Equal(t, []string{"Delete the file.", "Keep the file."}, w.heard(), "and then the edit's own event")
	})
}

func TestWhatItsAuthorTookBackIsNotDone(t *testing.T) {
	t.Parallel()
	for _, now := range []string{"<!-- never mind -->", "/mergexo status"} {
		w := newWorld(t)
		ev := w.say("alice", "Delete the file.")
		edited := w.reword("alice", ev.CommentID, now)
		w.handle(ev)
		w.handle(edited)
		w.sweep()
		assert.Zero(t, w.calls(), now)
	}
}

func TestWhatElseAnApprovalHoldsIsHeard(t *testing.T) {
	w := newWorld(t).whoseAgent("record+echo")
	w.later(time.Minute)
	review := w.api("alice", "POST", w.pull("/reviews"), object{"event": "APPROVE", "body": "LGTM", "comments": []object{{"path": "greeting.txt", "line": 2, "body": "Greet people."}}}).id()
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review")).Result)
	w.later(time.Minute)
	w.api("carol", "PUT", w.pull(fmt.Sprintf("/reviews/%d/dismissals", review)), object{"message": "It has changed."})
	w.handle(w.delivery("pull_request_review"))
	w.sweep()
	assert.Equal(t, []string{"Greet people."}, w.heard(), "a dismissal makes no words of it")
}
