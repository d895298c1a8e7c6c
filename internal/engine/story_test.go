package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// settled holds what is true whenever a turn over n review comments has ended well: so many replies, one receipt, one
// commit more, no claim and no stage left.
func (w *world) settled(replies, receipts, commits int) {
	w.t.Helper()
	assert.Len(w.t, w.replies(), replies, "replies")
	assert.Len(w.t, w.marked("turn", "done"), receipts, "receipts")
	assert.Len(w.t, w.commits(), 1+commits, "commits")
	assert.Empty(w.t, w.marked("turn", "started"), "claims")
	assert.Empty(w.t, w.marked("turn", "planned"), "claims")
	assert.Empty(w.t, w.stages(), "stages")
}

// meanwhile lets people act while the agent is at work.
func (w *world) meanwhile(deeds ...deed) {
	w.t.Helper()
	w.agent = "meanwhile+" + w.agent
	raw := must.Get(json.Marshal(deeds))(w.t)
	require.NoError(w.t, os.WriteFile(w.log+".meanwhile", raw, 0o600))
}

// push is a commit that somebody adds to the branch while the agent is at work.
func (w *world) push(login string) deed {
	return deed{login, "PUT", w.path("/contents/other.txt"), fmt.Sprintf(`{"message": "Somebody's", "branch": %q, "content": "Ym9iCg=="}`, w.head)}
}

func TestAReviewCommentBecomesACommitAReplyAndAReceipt(t *testing.T) {
	w := newWorld(t)
	id := w.review("alice", "Answer me.")
	ev := w.delivery("pull_request_review_comment")
	rep := w.done(w.handle(ev))
	w.settled(1, 1, 1)
	assert.Equal(t, "hello\nworld\nanswered\n", w.file("greeting.txt"))
	assert.EqualValues(t, id, w.replies()[0]["in_reply_to_id"])
	assert.Equal(t, "github-actions[bot]", w.replies()[0].at("user", "login"))
	assert.Contains(t, w.replies()[0]["body"], "Done in call 1\n\n<!-- mergexo-action:")
	assert.Len(t, w.marked("pr", ""), 1)
	assert.Equal(t, w.tip(), rep.HeadSHA)
	assert.Equal(t, 1, w.calls())

	t.Run("and the same event again changes nothing", func(t *testing.T) {
		rep := w.ended(model.ResultNothing, "nothing is pending", w.handle(ev))
		assert.Empty(t, rep.Effects)
		w.settled(1, 1, 1)
		assert.Equal(t, 1, w.calls())
	})
	t.Run("and an edit asks again", func(t *testing.T) {
		w.later(time.Minute)
		w.api("alice", "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", id)), object{"body": "Answer me twice."})
		w.done(w.handle(w.delivery("pull_request_review_comment")))
		w.settled(2, 2, 2)
	})
}

func TestAConversationCommentIsAnsweredByTheReceipt(t *testing.T) {
	w := newWorld(t)
	w.done(w.handle(w.say("alice", "Please say more.")))
	w.settled(0, 1, 1)
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "This is call 1")
}

func TestThreeReviewersAtOnceAreOneTurn(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "One.")
	w.review("bob", "Two.")
	w.done(w.handle(w.judges("carol", object{"event": "COMMENT", "body": "Three.", "comments": []object{{"path": "greeting.txt", "line": 2, "body": "Four."}}})))
	w.settled(3, 1, 1)
	assert.Equal(t, 1, w.calls())
}

func TestAStrangersCopyOfOurTokensSuppressesNothing(t *testing.T) {
	w := newWorld(t)
	id := w.review("alice", "Answer me.")
	// Eve knows how tokens are made and posts all of them before we do.
	key := journal.TurnKey(w.number, w.tip(), []string{model.EventKey(w.number, model.KindReview, id, w.now)})
	body, err := journal.Codec{}.Encode(journal.Body{
		Text: "hi", Tokens: []string{journal.Token("reply", key, fmt.Sprint(id)), journal.Token("turn_comment", key), journal.Token("track", fmt.Sprint(w.number))},
		Kind: journal.KindTurn, Marker: model.TurnMarker{Repo: repo.String(), Number: w.number, Key: key, Phase: model.PhaseDone, Events: []string{model.EventKey(w.number, model.KindReview, id, w.now)}},
	})
	require.NoError(t, err)
	rep := w.done(w.handle(w.say("eve", body)))
	assert.Equal(t, key, rep.TurnKey, "the test made the right tokens")
	assert.Len(t, w.replies(), 1)
	assert.Contains(t, w.logged.String(), "marker_ignored")
}

func TestAgentOutputThatCarriesAMarkerIsJustText(t *testing.T) {
	w, ev := commented(t, "answer+marker")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.settled(1, 1, 1)
	assert.Contains(t, w.replies()[0]["body"], "&lt;!-- mergexo-block:")
	assert.Contains(t, w.handle(ev).Reason, "nothing is pending", "no block came of it")
}

// A page has a hundred comments of a review. The rest is older than what the run has read before, and is not read again.
func TestAReviewOfManyCommentsIsAnsweredToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.newApp()
	w.token = "sandbox-mergexo-app[bot]" // which may post more in a minute than a workflow's
	var many []object
	for i := range 110 {
		many = append(many, object{"path": "greeting.txt", "line": 1 + i%2, "side": "RIGHT", "body": fmt.Sprintf("Wish %d.", i)})
	}
	ev := w.judges("alice", object{"event": "COMMENT", "comments": many})
	w.later(time.Minute)
	w.done(w.handle(ev))
	w.settled(110, 3, 3)
}

func TestACommentDeletedWhilePendingIsForgotten(t *testing.T) {
	w := newWorld(t)
	ev := w.remark("alice", "Never mind.")
	w.api("alice", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", ev.CommentID)), nil)
	w.gives(model.ResultNothing, w.handle(ev))
	assert.Zero(t, w.calls())
}

func TestACommentDeletedWhileTheAgentWorksIsNotAnswered(t *testing.T) {
	w, ev := commented(t)
	w.meanwhile(deed{"alice", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", ev.CommentID)), ""})
	w.done(w.handle(ev))
	w.settled(0, 1, 1)
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "none: the comment was deleted")
}

func TestFeedbackThatArrivesMeanwhileIsTakenUpInTheSameRun(t *testing.T) {
	w, ev := commented(t)
	w.meanwhile(deed{"bob", "POST", w.thread("/comments"), `{"body": "Me too."}`})
	w.done(w.handle(ev))
	w.settled(1, 2, 2)
	assert.Equal(t, 2, w.calls())
}

func TestAHumansFastForwardInMidTurnIsKept(t *testing.T) {
	w, ev := commented(t)
	w.meanwhile(w.push("bob"))
	w.done(w.handle(ev))
	w.settled(1, 1, 2)
	assert.Equal(t, "Somebody's", w.commits()[1], "below the turn's own commit")
	assert.Equal(t, 1, w.calls(), "no conflict: the agent is not asked again")
}

func TestAConflictWithAFastForwardCostsAnotherRound(t *testing.T) {
	w, ev := commented(t)
	was := w.api("bob", "GET", w.path("/contents/greeting.txt?ref="+w.head), nil)["sha"]
	w.meanwhile(deed{"bob", "PUT", w.path("/contents/greeting.txt"), fmt.Sprintf(`{"message": "Bob's", "branch": %q, "sha": %q, "content": %q}`, w.head, was, base64.StdEncoding.EncodeToString([]byte("hello\nworld\nbob\n")))})
	w.done(w.handle(ev))
	w.settled(1, 1, 2)
	assert.Equal(t, "hello\nworld\nbob\nanswered\n", w.file("greeting.txt"))
	assert.Equal(t, 2, w.calls())
}

func TestARewriteBeforeTheTurnBlocksOnceAndKeepsTheFeedback(t *testing.T) {
	w := newWorld(t)
	w.handle(w.delivery("pull_request")) // tracked from its opening on
	require.Len(t, w.marked("pr", ""), 1)
	old := w.tip()
	observed := w.rewritten()
	w.review("alice", "Answer me.")
	for range 3 {
		w.blocked("history_rewrite", w.handle(w.delivery("pull_request_review_comment")))
	}
	body := w.saidOnce("block", "")
	assert.Contains(t, body, old)
	assert.Contains(t, body, "/mergexo unblock head_sha="+observed)
	assert.Zero(t, w.calls())
	assert.Contains(t, w.logged.String(), "msg=history_rewrite_blocked issue_number=0 pr_number=1 turn_key=\"\" expected_head_sha="+old+" observed_head_sha="+observed)
}

func TestARewriteWhileTheAgentWorksBlocksAndPushesNothing(t *testing.T) {
	w, ev := commented(t)
	other := w.besides(sameGreeting)
	w.meanwhile(deed{"bob", "PATCH", w.path("/git/refs/heads/" + w.head), fmt.Sprintf(`{"sha": %q, "force": true}`, other)})
	w.blocked("history_rewrite", w.handle(ev))
	assert.Equal(t, other, w.tip())
	assert.Empty(t, w.replies())
	assert.Len(t, w.stages(), 2, "the work is kept on its stage")
	assert.Contains(t, w.saidOnce("turn", "planned"), "the history of agent/greet was rewritten")
	assert.Equal(t, model.ResultBlocked, w.handle(ev).Result)
	assert.Len(t, w.marked("block", ""), 1)
	for _, c := range w.comments() {
		assert.NotContains(t, journal.Text(c["body"].(string)), "history_rewrite", "it says why in words")
	}
}

func TestAnOldHeadThatIsGoneForGoodWasRewrittenAway(t *testing.T) {
	w := newWorld(t)
	w.handle(w.delivery("pull_request"))
	w.rewritten()
	w.bare("reflog", "expire", "--expire=now", "--all")
	w.bare("gc", "-q", "--prune=now")
	w.blocked("history_rewrite", w.handle(w.remark("alice", "Answer me.")))
}

func TestAnAgentMayWorkOnAnotherBranch(t *testing.T) {
	w := newWorld(t).whoseAgent("elsewhere")
	w.done(w.handle(w.remark("alice", "Answer me.")))
	w.settled(0, 1, 1)
}

func TestAnAgentThatRewritesHistoryBlocks(t *testing.T) {
	w, ev := commented(t, "reset")
	before := w.tip()
	w.blocked("history_rewrite", w.handle(ev))
	assert.Equal(t, before, w.tip())
	assert.Len(t, w.marked("block", ""), 1)
	assert.Empty(t, w.stages())
}

func TestMergedOrClosedInMidTurn(t *testing.T) {
	each(t, map[string]deed{
		"closed": {"octo", "PATCH", "/api/v3/repos/octo/widgets/pulls/1", `{"state": "closed"}`},
		"merged": {"octo", "PUT", "/api/v3/repos/octo/widgets/pulls/1/merge", `{}`},
	}, func(t *testing.T, what string, d deed) {
		w, ev := commented(t)
		w.meanwhile(d)
		before := w.tip()
		w.ended(model.ResultNothing, "is "+what, w.handle(ev))
		assert.Equal(t, before, w.tip())
		assert.Empty(t, w.replies())
		assert.Len(t, w.marked("turn", "planned"), 1)
		assert.Len(t, w.stages(), 2, "the work is kept")
		if what == "closed" {
			w.api("octo", "PATCH", w.pull(""), object{"state": "open"})
			w.done(w.handle(ev))
			w.settled(1, 1, 1)
			assert.Equal(t, 1, w.calls(), "its work was recorded")
		}
	})
}

func TestAHeadThatMovesUnderTheClaimIsLeftToTheNextRun(t *testing.T) {
	w, ev := commented(t)
	w.beforeWrite(2, func() { // the claim
		w.write("bob", w.head, "bob.txt", "bob\n")
	})
	w.gives(model.ResultRetry, w.handle(ev))
	assert.Empty(t, w.marked("turn", ""), "the claim is taken back")
	assert.Zero(t, w.calls())
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.settled(1, 1, 2)
}

func TestADepthOneCheckoutServesAsWellAsAnyOther(t *testing.T) {
	w := newWorld(t)
	w.clone("--depth=1")
	for i := range 2 {
		w.done(w.handle(w.remark("alice", fmt.Sprintf("Answer me, %d.", i))))
	}
	w.settled(2, 2, 2)
}

func TestTheAgentsOwnCommitsAreKept(t *testing.T) {
	w := newWorld(t).whoseAgent("commits+answer")
	w.done(w.handle(w.remark("alice", "Answer me.")))
	assert.Equal(t, []string{"Write greeting.txt", "Agent's one", "Agent's two", "Answer, in words of call 1"}, w.commits())
}

func TestRequiredTestsRunBeforeThePushAndAreRepaired(t *testing.T) {
	w := newWorld(t, `required_tests = ["test", "-f", "fixed.txt"]`).whoseAgent("answer+repair")
	w.done(w.handle(w.remark("alice", "Answer me.")))
	assert.Equal(t, 2, w.calls())
	assert.Equal(t, []string{"Write greeting.txt", "Answer, in words of call 1", "Repair"}, w.commits())
	assert.Len(t, w.replies(), 1)
}

func TestTestsThatKeepFailingBlock(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "echo broken; exit 1"]`, "[feedback]\nrepair_rounds = 1")
	w.blocked("tests_failed", w.handle(w.remark("alice", "Answer me.")))
	assert.Equal(t, 2, w.calls())
	assert.Contains(t, w.marked("block", "")[0]["body"], "broken")
	assert.Len(t, w.commits(), 1)
	branch, subjects := w.kept()
	assert.Len(t, subjects, 2, "one of each round")
	assert.Contains(t, w.marked("block", "")[0]["body"], w.linkOf(branch))
}

func TestAnAgentThatFailsIsTriedThreeTimes(t *testing.T) {
	w, ev := commented(t, "exit")
	before := w.tip()
	for i := 1; i <= 2; i++ {
		rep := w.ended(model.ResultFailed, fmt.Sprintf("attempt %d of 3", i), w.handle(ev))
		assert.Contains(t, rep.Reason, "exit code 3")
		assert.Len(t, w.marked("turn", "failed"), 1, "one comment for the turn")
	}
	w.blocked("agent_failed", w.handle(ev))
	assert.Equal(t, model.ResultBlocked, w.handle(ev).Result)
	assert.Equal(t, 3, w.calls())
	assert.Equal(t, before, w.tip())
	assert.Empty(t, w.replies())
	assert.Len(t, w.marked("block", ""), 1)
}

func TestWhatIsDangerousBlocksAtOnce(t *testing.T) {
	w := newWorld(t).whoseAgent("workflow")
	w.blocked("path_forbidden", w.handle(w.remark("alice", "Answer me.")))
	assert.Contains(t, w.saidOnce("block", ""), ".github/workflows/x.yml: forbid_paths")
	assert.Len(t, w.commits(), 1)
	assert.Empty(t, w.replies())
	require.Len(t, w.stages(), 2) // it is kept where it starts nothing
	assert.Contains(t, w.stages()[1], "refs/mergexo/kept/1/")
}

func TestAThirdDeathBlocksAndLeavesNoClaim(t *testing.T) {
	w, ev := twoComments(t)
	for range 3 {
		w.gate.revive()
		w.gate.when(diesFirst, isPush)
		w.handle(ev)
	}
	w.gate.revive()
	w.blocked("agent_failed", w.handle(ev))
	assert.Equal(t, 3, w.calls())
	assert.Empty(t, w.marked("turn", "started"))
}

func TestACancelledRunLeavesItsClaimAndTheNextRecovers(t *testing.T) {
	w, ev := commented(t, "hang")
	e := w.engine()
	e.Foreign = nil
	assert.Equal(t, model.ResultRetry, w.interrupted(e, ev, 1).Result)
	assert.Len(t, w.marked("turn", "started"), 1)

	w.agent = "answer"
	assert.Equal(t, model.ResultRetry, w.handle(ev).Result, "its run is not over for GitHub yet")
	w.over(1)
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
}

// GitHub tells no editor once the account is gone; that somebody edited it is still to be seen.
func TestAReceiptWhoseMarkerWasEditedAwayBlocksOnce(t *testing.T) {
	w := newWorld(t)
	id := w.review("alice", "Answer me.")
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)
	w.reword("carol", w.marked("turn", "done")[0].id(), "thanks")
	w.api("", "DELETE", "/_sandbox/users/carol", nil)
	w.api("alice", "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", id)), object{"body": "Answer me again."})
	ev := w.delivery("pull_request_review_comment")
	for range 2 {
		w.blocked("marker_edited", w.handle(ev))
	}
	assert.Contains(t, w.saidOnce("block", ""), "was edited by an account that was deleted")
	assert.Len(t, w.replies(), 1)
	assert.Len(t, w.commits(), 2)
	assert.Equal(t, 1, w.calls(), "what the spoilt receipt had answered is not redone")
}
