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

// answeredIssue is an issue with the pull request 3, where a turn takes one comment.
func answeredIssue(t *testing.T) *world {
	t.Helper()
	w := newIssue(t, "", "[feedback]\nmax_per_turn = 1")
	require.Equal(t, model.ResultDone, w.handle(w.label("alice", smallJob)).Result)
	return w
}

// reword has somebody edit a comment.
func (w *world) reword(login string, comment int64, text string) model.Event {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", comment)), object{"body": text})
	return w.delivery("issue_comment")
}

func TestWhoWasToldOfAClosedPullRequestStandsInNobodysWay(t *testing.T) {
	w := answeredIssue(t)
	w.closed("3")
	for _, text := range []string{"German?", "Italian?"} {
		w.done(w.handle(w.say("bob", text)))
	}
	assert.Equal(t, 2, strings.Count(w.talkOn(2), "is closed, so MergeXO does nothing more here"), "one for each comment")
	w.sweep()
	assert.Empty(t, w.due(), "everybody was told")
	w.talk("bob", "French?") // whose event gets lost
	w.sweep()
	assert.Equal(t, 3, strings.Count(w.talkOn(2), "is closed, so MergeXO does nothing more here"))
	assert.Empty(t, w.due())

	w.unlabel("alice", smallJob)
	w.agent = "record+told"
	require.Equal(t, model.ResultDone, w.handle(w.label("alice", smallJob)).Result)
	var taken []string
	for _, r := range w.requests() {
		taken = append(taken, words(r)...)
	}
	assert.Equal(t, []string{"German?", "Italian?", "French?"}, taken, "who was told is heard by the next attempt")
}

// What a comment was told of a closed pull request is for the next attempt, also where somebody opens the pull request again.
func TestARedirectSettlesNothingThatWasPromised(t *testing.T) {
	w := answeredIssue(t)
	w.closed("3")
	w.handle(w.say("bob", "German?"))
	w.api("alice", "PATCH", w.path("/pulls/3"), object{"state": "open"})
	w.handle(w.say("bob", "Italian?"))
	assert.Equal(t, 1, strings.Count(w.talkOn(2), "continues in [#3]"))
	w.rests()
	w.chatter(120)
	w.api("alice", "PATCH", w.path("/pulls/3"), object{"state": "closed"})
	w.unlabel("alice", smallJob)
	w.agent = "record+told"
	require.Equal(t, model.ResultDone, w.handle(w.label("alice", smallJob)).Result)
	assert.Equal(t, []string{"German?"}, words(w.requests()[0]))
}
