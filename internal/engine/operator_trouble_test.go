package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
)

// operations makes an operations issue and gives a way to say something there.
func (w *world) operationsIssue() (say func(line string) model.Report, said func() []string) {
	w.t.Helper()
	issue := int(w.api("octo", "POST", w.path("/issues"), object{"title": "Operations", "body": ""})["number"].(float64))
	w.setting(fmt.Sprintf("operations_issue = %d", issue))
	comments := w.path(fmt.Sprintf("/issues/%d/comments", issue))
	say = func(line string) model.Report {
		w.t.Helper()
		w.later(time.Minute)
		w.api("carol", "POST", comments, object{"body": line})
		return w.handle(w.delivery("issue_comment"))
	}
	said = func() (out []string) {
		for _, c := range w.list("octo", comments) {
			if c.at("user", "login") == "github-actions[bot]" {
				out = append(out, c["body"].(string))
			}
		}
		return out
	}
	return say, said
}

// answeredTurn is a pull request with one answered review comment.
func answeredTurn(t *testing.T, more ...string) *world {
	return begin(t, fmt.Sprintf("answered turn %q", more), func() *world {
		w := newWorld(t, more...)
		require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
		return w
	})
}

func TestAReleaseIsRememberedInALongConversation(t *testing.T) {
	w := answeredTurn(t)
	w.orders("carol", "/mergexo release")
	for range 5 {
		w.talk("alice", "Between people.")
	}
	w.orders("carol", "/mergexo adopt")
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me, too.")).Result)
	for len(w.comments()) < 103 { // the page ends among what was said while it was released
		w.talk("eve", "Chatter.")
	}
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "A fresh one.")).Result)
	done := w.marked("turn", "done")
	assert.Contains(t, done[len(done)-1]["body"], "**Answered 1 comment**")
}

func TestOnePullRequestsBrokenSettingsStopNobodyElse(t *testing.T) {
	w := newWorld(t)
	say, said := w.operationsIssue()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/legacy", "sha": w.at("main")})
	w.write("alice", "legacy", ".github/mergexo.toml", "[repo]\nnonsense = 1\n")
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/topic", "sha": w.tip()})
	broken := int(w.api("octo", "POST", w.path("/pulls"), object{"title": "x", "head": "topic", "base": "legacy"})["number"].(float64))
	assert.Equal(t, model.ResultDone, say(fmt.Sprintf("/mergexo status pr=%d", broken)).Result)
	assert.Contains(t, said()[0], "its settings are invalid")
	assert.Contains(t, said()[0], "legacy:.github/mergexo.toml:2: repo.nonsense: unknown key")
	assert.Equal(t, model.ResultDone, say("/mergexo status pr=1").Result)
	assert.Contains(t, said()[1], "**Pull request 1: idle.**")

	all, _, err := w.engine().Standings(context.Background(), repo)
	require.NoError(t, err)
	assert.Len(t, all, 1)
	assert.Contains(t, w.logged.String(), "left_out")
}

func TestALongOperationsIssueIsReadToItsNewestReplyOnly(t *testing.T) {
	w := newWorld(t)
	say, said := w.operationsIssue()
	for _, line := range []string{"/mergexo help", "/mergexo pause pr=1"} {
		for range 150 {
			w.api("eve", "POST", w.path("/issues/2/comments"), object{"body": "Chatter."})
		}
		require.Equal(t, model.ResultDone, say(line).Result)
	}
	w.gate.revive()
	require.Equal(t, model.ResultDone, say("/mergexo help").Result)
	api, _ := w.gate.counted()
	assert.Equal(t, 5, api, "%v", w.gate.seen)
	assert.Len(t, said(), 3)
}

func TestWorkRecordedOnAPersonsCommitIsPublishedAfterAnUnblock(t *testing.T) {
	w := answeredTurn(t)
	w.write("bob", w.head, "more.txt", "a person's commit\n")
	protect := func(logins ...string) { w.barHead(object{"branch": w.head, "push": logins}) }
	protect("octo")
	require.Equal(t, "push_refused", w.handle(w.remark("alice", "Answer me again.")).BlockedReason)
	protect("octo", "github-actions[bot]")
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo unblock").Result)
	assert.Equal(t, 2, w.calls(), "without the agent")
	w.settled(2, 2, 3)
}

// A run died between its reply and its receipt, and somebody rewrote its work away. The reply alone answers nothing then.
func TestFeedbackIsDoneAgainOnceItsWorkWasRewrittenAway(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	w.gate.when(diesAfter, requests(http.MethodPost, "/replies"))
	w.handle(w.delivery("pull_request_review_comment"))
	w.gate.revive()
	require.Len(t, w.replies(), 1)
	head := w.rewritten()
	w.sweep()
	require.Len(t, w.marked("block", ""), 1)
	w.agent = "fail"
	w.orders("carol", "/mergexo unblock head_sha="+head)
	require.Equal(t, 2, w.calls())
	w.agent = "answer"
	w.sweep()
	assert.Equal(t, 3, w.calls())
	require.Len(t, w.marked("turn", "done"), 1)
	assert.NotContains(t, w.marked("turn", "done")[0]["body"], "Receipt restored")
	assert.Len(t, w.replies(), 2)
}

func TestACompareThatFailsStopsNoCommand(t *testing.T) {
	w, _, head := rewrittenPull(t)
	w.gate.answers(requests(http.MethodGet, "/compare/"), func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusInternalServerError) })
	w.ordered("carol", "/mergexo unblock", "failed", "GitHub did not compare the head with the last accepted one")
	w.ordered("carol", "/mergexo unblock head_sha="+head, "applied", "is now the accepted head")
}

func TestAnOldCommandIsNotRepeatedWhereReactionsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.gate.answers(requests(http.MethodPost, "/reactions"), func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusForbidden) })
	id := w.talk("carol", "/mergexo release")
	w.handle(w.delivery("issue_comment"))
	w.orders("carol", "/mergexo adopt")
	w.chatter(120)
	w.handle(w.remark("alice", "Answer me."))
	w.later(time.Minute)
	w.api("alice", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", id)), object{"body": "/mergexo release!"})
	w.orders("carol", "Hello.")
	assert.Len(t, w.answers(), 2)
}

func TestAResetEndsNoBlockThatItHasNotSeen(t *testing.T) {
	w, ev := commented(t, "stuck")
	require.Equal(t, model.ResultBlocked, w.handle(ev).Result)
	w.beforeWriting(func() { // the first reset is about to write
		w.reset("sandbox-actions", engine.Reset{Numbers: []int{1}})
		w.agent = "workflow"
		w.later(time.Minute)
		assert.Equal(t, "path_forbidden", w.handle(ev).BlockedReason)
		w.later(time.Minute)
	})
	w.reset("sandbox-actions", engine.Reset{Numbers: []int{1}})
	one, _, err := w.engine().Look(context.Background(), repo, 1)
	require.NoError(t, err)
	assert.Equal(t, model.StatusBlocked, one.State)
	assert.Equal(t, "path_forbidden", one.Block.Reason)
}

func TestTwoResetsAtOnceSayItOnce(t *testing.T) {
	every(t, []string{"sandbox-actions", "sandbox-carol"}, func(t *testing.T, token string) {
		w, _, head := rewrittenPull(t)
		before := len(w.comments())
		w.beforeWriting(func() {
			w.reset(token, engine.Reset{Numbers: []int{1}, Head: head})
		})
		w.reset(token, engine.Reset{Numbers: []int{1}, Head: head})
		assert.Len(t, w.comments(), before+1)
	})
}

func TestAnUnblockAcceptsNoEditThatWasNotSaid(t *testing.T) {
	w, _, head := rewrittenPull(t)
	receipt := w.marked("turn", "done")[0]
	w.api("bob", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", receipt.id())), object{"body": "haha"})
	require.Equal(t, model.ResultBlocked, w.orders("carol", "/mergexo unblock head_sha="+head).Result)
	blocks := w.marked("block", "")
	require.Len(t, blocks, 2)
	assert.Contains(t, blocks[1]["body"], "was edited by bob")
}

func TestAResetHeedsTheTakeover(t *testing.T) {
	w, _, head := rewrittenPull(t)
	w.labels("octo", "agent:ignore")
	reports := w.reset("sandbox-actions", engine.Reset{Numbers: []int{1}, Head: head})
	assert.Equal(t, model.ResultBlocked, reports[0].Result)
	assert.Contains(t, reports[0].Reason, "A person had already taken over by adding a label")
}

func TestAFreshCommentInTheLastSecondOfATakeoverSurvivesADeath(t *testing.T) {
	w := newWorld(t)
	w.labels("octo", "agent:ignore")
	w.later(time.Minute)
	w.takesOff("octo", "agent:ignore")
	w.api("alice", "POST", w.path("/issues/1/comments"), object{"body": "Fresh."})
	w.gate.only(3, diesFirst) // after the claim
	w.handle(w.delivery("issue_comment"))
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.handle(w.pullEvent()).Result)
	w.settled(0, 1, 1)
}

func TestStatusReadsNoMoreForAPersonThanForTheBotThatWorks(t *testing.T) {
	w := newWorld(t, `bots = ["mergexo-app[bot]"]`)
	w.put("/_sandbox/users/mergexo-app[bot]", object{"type": "Bot", "repository": repo.String(), "permission": "write"})
	for range 300 {
		w.api("eve", "POST", w.path("/issues/1/comments"), object{"body": "Chatter."})
	}
	w.by(w.engineAs("sandbox-mergexo-app[bot]"), w.remark("alice", "Answer me."))
	for _, token := range []string{"sandbox-mergexo-app[bot]", "sandbox-carol"} {
		w.gate.revive()
		all, _, err := w.engineAs(token).Standings(context.Background(), repo)
		require.NoError(t, err)
		require.Len(t, all, 1)
		api, _ := w.gate.counted()
		assert.LessOrEqual(t, api, 4, "%s: %v", token, w.gate.seen)
	}
}

func TestACommandBehindOtherWordsGetsAHintOnceAndTheAgentReadsIt(t *testing.T) {
	w := newWorld(t).whoseAgent("echo")
	ev := w.say("carol", "Do not run /mergexo merge")
	for range 2 {
		w.handle(ev)
	}
	said := w.marked("command", "")
	require.Len(t, said, 1)
	assert.Contains(t, said[0]["body"], "A command must be on its own line")
	assert.Empty(t, w.marked("merge", ""))
	assert.Contains(t, w.saidOnce("turn", "done"), "You said: Do not run /mergexo merge")
}
