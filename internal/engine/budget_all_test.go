//go:build all

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

// aTurnIsDone is a world in which a turn is done.
func aTurnIsDone(t *testing.T) *world {
	t.Helper()
	return begin(t, "a turn is done", func() *world {
		w := newWorld(t)
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
		return w
	})
}

// TestBudgets counts, at the door of GitHub, what a run costs. The lines that it logs are what scripts/bench prints.
func TestBudgets(t *testing.T) {
	within := func(t *testing.T, w *world, what string, apiBudget, gitBudget int, rep model.Report) {
		t.Helper()
		api, git := w.gate.counted()
		t.Logf("budget: GitHub calls, %s %d of %d", what, api, apiBudget)
		t.Logf("budget: git network operations, %s %d of %d", what, git, gitBudget)
		assert.LessOrEqual(t, api, apiBudget, "%s: GitHub calls\n%v", what, w.gate.seen)
		assert.LessOrEqual(t, git, gitBudget, "%s: git network operations", what)
		assert.Equal(t, api, rep.Calls.REST+rep.Calls.GraphQL, "the report counts as the door does")
		assert.Equal(t, git, rep.Calls.Git, "the report counts as the door does")
	}
	every(t, []int{0, 50, 5000}, func(t *testing.T, old int) {
		w := newWorld(t)
		w.clone()
		if old > 0 {
			require.Equal(t, model.ResultDone, w.handle(w.say("alice", "The first of many.")).Result)
			w.chatter(old)
			w.later(5 * time.Minute)                                      // no replica hides any of it
			w.done(w.handle(w.say("alice", "And a receipt after them."))) // what is older than it is settled
		}
		tracked := 0
		if old == 0 {
			tracked = 1
		}
		w.review("alice", "Answer me.")
		w.gate.revive()
		ev := w.delivery("pull_request_review_comment")
		rep := w.done(w.handle(ev))
		within(t, w, fmt.Sprintf("turn of one reply and one commit after %d comments", old), 8+tracked, 3, rep)
		require.Len(t, w.replies(), 1)

		w.gate.revive()
		rep = w.handle(ev)
		require.Contains(t, rep.Reason, "nothing is pending")
		within(t, w, "event with nothing pending", 1, 0, rep)

		for _, name := range []string{"issue_comment", "pull_request_review_comment", "pull_request_review"} {
			w.gate.revive()
			rep = w.handle(w.delivery(name)) // the receipt, the reply, and the review that GitHub makes of a reply
			require.Contains(t, rep.Reason, "MergeXO's own", name)
			within(t, w, "event of our own comment, "+name, 0, 0, rep)
		}
	})
	t.Run("hundreds of comments in the very second of a receipt", func(t *testing.T) {
		w := newWorld(t)
		for i := range 400 {
			w.api("eve", "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), object{"body": fmt.Sprintf("Chatter %d.", i)})
		}
		for i := range 2 {
			w.api("alice", "POST", w.pull("/comments"), object{"body": fmt.Sprintf("Answer me, %d.", i), "commit_id": w.tip(), "path": "greeting.txt", "line": 2, "side": "RIGHT"})
			w.gate.revive()
			rep := w.done(w.handle(w.delivery("pull_request_review_comment")))
			if i > 0 {
				within(t, w, "turn in the same second as 400 comments and a receipt", 8, 3, rep)
			}
		}
		w.settled(2, 2, 2)
	})
	every(t, []string{"status", "why", "help", "pause", "resume", "retry", "unblock", "release", "adopt", "unblok"}, func(t *testing.T, line string) {
		w := aTurnIsDone(t)
		w.write("bob", w.head, "more.txt", "a person's commit\n")
		switch line {
		case "resume":
			w.orders("carol", "/mergexo pause")
		case "adopt":
			w.orders("carol", "/mergexo release")
		}
		w.talk("carol", "/mergexo "+line)
		w.gate.revive()
		rep := w.done(w.handle(w.delivery("issue_comment")))
		within(t, w, "command "+line, 6, 0, rep)
	})
	each(t, map[string]func(now string) string{
		"where the head is named":  func(now string) string { return " head_sha=" + now },
		"where it is abbreviated":  func(now string) string { return " head_sha=" + now[:8] },
		"where another is named":   func(string) string { return " head_sha=1234567" },
		"where the old one is due": func(string) string { return "" },
	}, func(t *testing.T, name string, head func(now string) string) {
		w := aTurnIsDone(t)
		now := w.rewritten()
		w.talk("bob", "And me.") // bob's rights are not this command's affair
		ev := w.pullEvent()
		ev.Name, ev.Action = "pull_request", "synchronize"
		require.Equal(t, model.ResultBlocked, w.handle(ev).Result)
		w.talk("carol", "/mergexo unblock"+head(now))
		w.gate.revive()
		w.handle(w.delivery("issue_comment"))
		api := 0 // up to the end of the command: what is pending is the turn's
		for i, s := range w.gate.seen {
			if strings.HasSuffix(s, "/reactions") {
				api = i + 1
			}
		}
		t.Logf("budget: GitHub calls, unblock %s %d of 7", name, api)
		assert.LessOrEqual(t, api, 7, "%v", w.gate.seen) // the last one hides the block
	})
	t.Run("somebody's rights", func(t *testing.T) {
		w := newWorld(t)
		w.put("/_sandbox/users/reader", object{"type": "User", "repository": repo.String(), "permission": "read"})
		w.talk("reader", "Do as I say.")
		w.gate.revive()
		rep := w.gives(model.ResultNothing, w.handle(w.delivery("issue_comment")))
		within(t, w, "event by somebody whose rights must be asked", 2, 0, rep)
		w.later(5 * time.Minute) // no replica hides it any more
		for range 2 {            // the first turn asks about the reader once more; from its receipt on nobody does
			w.review("alice", "Answer me.")
			w.gate.revive()
			rep = w.done(w.handle(w.delivery("pull_request_review_comment")))
		}
		within(t, w, "turn beside the comment of somebody without rights", 8, 3, rep)
	})
}
