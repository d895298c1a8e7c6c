//go:build all

package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// limited refuses the second request to GraphQL, which is for the second page, and all behind the thirty after it.
type limited struct {
	next  http.Handler
	asked atomic.Int64
}

func (l *limited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		if n := l.asked.Add(1); n == 2 || n > 32 {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "4102444800")
			http.Error(w, `{"message":"API rate limit exceeded for installation"}`, http.StatusForbidden)
			return
		}
	}
	l.next.ServeHTTP(w, r)
}

// newLimited has two pages of pull requests, feedback on the first one, and a limit that lets but one page be read.
func newLimited(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.review("alice", "Answer me.")
	w.grow(50)
	w.gate.next = &limited{next: w.gate.next}
	return w
}

func TestWhatWasReadBeforeARateLimitIsWorkedAt(t *testing.T) {
	w := newLimited(t)
	swept := w.sweep()
	assert.Equal(t, model.ResultRetry, swept.Result(), "the rest is left")
	assert.Len(t, w.marked("turn", "done"), 1)
}

func TestAPlanThatIsLimitedNamesWhatItHasFound(t *testing.T) {
	w := newLimited(t)
	swept, _ := w.engine().Sweep(context.Background(), repo, sweeping.Options{Plan: true})
	require.NotEmpty(t, swept.Work)
	assert.Equal(t, w.number, swept.Work[0].Number)
}

func TestAMergeThatDiedIsFinishedBehindTwentyClosings(t *testing.T) {
	w := newMerge(t)
	ev := w.say("carol", "/mergexo merge")
	w.gate.pushes(diesAfter, func(n int) bool { return n == 2 })
	w.handle(ev)
	w.gate.revive()
	require.Equal(t, "merged", w.badge())
	w.grow(21)
	w.later(time.Minute)
	for _, other := range w.list("octo", w.path("/pulls?per_page=100")) {
		w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%v", other["number"])), object{"state": "closed"})
	}
	w.sweep()
	assert.Equal(t, []string{"done"}, w.merges())
	w.quiet()
}

func TestMergesThatWaitTakeNobodysPlace(t *testing.T) {
	w := newMerge(t, "[sweep]\nmax_items = 1")
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": "main", "checks": []string{"test"}})
	w.command("carol", "/mergexo merge")
	w.second("agent/other", "other.txt")
	w.handle(w.delivery("pull_request"))
	w.talk("alice", "Answer me.")
	for range 3 {
		w.later(time.Hour)
		w.sweep()
	}
	assert.Len(t, w.marked("turn", "done"), 1)
}

func TestWhatNeedsAnAgentTakesNobodysPlaceInASweepWithoutOne(t *testing.T) {
	w := newWorld(t, "", "[sweep]\nmax_items = 1")
	w.sweep()
	ev := w.remark("alice", "Answer me.")
	w.gate.when(diesAfter, requests(http.MethodPost, "/comments"))
	w.handle(ev)
	w.gate.revive()
	w.second("agent/other", "other.txt")
	w.handle(w.delivery("pull_request"))
	w.talk("octo", "/mergexo pause")
	for range 3 {
		w.later(time.Hour)
		e := w.engine()
		e.Phase = thread.ApplyPhase
		w.sweepWith(e, sweeping.Options{})
	}
	assert.Len(t, w.marked("command", ""), 1)
}

func TestAnEditedCommentOnAnIssueIsNotDueForEver(t *testing.T) {
	w := newIssue(t)
	w.handle(w.label("alice", smallJob))
	require.NotEmpty(t, w.pulls())
	said := w.comments()
	w.edits("octo", said[len(said)-1])
	w.sweep()
	w.rests()
}

func TestACommandOnTheOperationsIssueWhoseTriggerWasLost(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	pull := w.number
	w.open("octo", "Operations", "")
	w.setting(fmt.Sprintf("operations_issue = %d", w.number))
	w.sweep()
	w.talk("octo", fmt.Sprintf("/mergexo pause pr=%d", pull))
	w.sweep()
	assert.Len(t, w.marked("command", ""), 1)
	w.quiet()
}

func TestTheConflictsOfAClosedPullRequestAreTakenAway(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	w.write("octo", "main", "greeting.txt", "hello\nmain\n")
	w.later(time.Minute)
	w.sweep()
	require.Len(t, w.marked("conflicts", ""), 1)
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.later(time.Minute)
	w.sweep()
	assert.Empty(t, w.marked("conflicts", ""))
	w.quiet()
}

func TestWhatPeopleSayOnOtherPullRequestsCostsNoCalls(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	for i := range 3 {
		w.second(fmt.Sprintf("human/b%d", i), fmt.Sprintf("b%d.txt", i))
		for range 31 { // more than one page of a survey
			w.talk("eve", "hello")
		}
		id := w.talk("alice", "helo")
		w.later(time.Minute)
		w.api("octo", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": "hello"})
	}
	w.rests()
}
