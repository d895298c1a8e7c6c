package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// asked is a pull request whose agent has asked a question.
func asked(t *testing.T, more ...string) *world {
	t.Helper()
	w := newWorld(t, more...).whoseAgent("doubts")
	rep := w.blocked("agent_blocked", w.handle(w.remark("alice", "Greet.")))
	require.NotNil(t, rep.Need, "the job summary shows it")
	assert.Equal(t, "answer the agent's question", rep.Need.Headline)
	return w
}

func TestAnAnswerToTheAgentsQuestionGoesOn(t *testing.T) {
	w := asked(t)
	block := w.marked("block", "")[0]["body"].(string)
	assert.Contains(t, block, "Formal or not?")
	assert.Contains(t, block, "answer", "who may lift it")
	id := w.list("octo", w.pull("/comments"))[0].id()
	w.later(time.Minute)
	w.api("bob", "POST", w.pull(fmt.Sprintf("/comments/%d/replies", id)), object{"body": "Formal, please."})
	w.done(w.handle(w.delivery("pull_request_review_comment")))
	assert.Equal(t, 2, w.calls())
	done := w.saidOnce("turn", "done")
	assert.Contains(t, done, "You said: ")
	assert.Contains(t, done, "I had asked: Formal or not?")
	assert.Empty(t, w.stages())
	w.later(time.Minute)
	assert.Equal(t, model.ResultNothing, w.handle(w.delivery("pull_request")).Result, "the question is over")
}

// The words of an approval are for who merges, and an answer is for the agent: without it nothing is merged.
func TestAnAnswerInAnApprovalIsHeardWhileAMergeWaits(t *testing.T) {
	w := asked(t, "", "[merge]\ntests = \"none\"")
	w.command("carol", "/mergexo merge")
	require.Equal(t, []string{"in_approval BLOCKED"}, w.merges())
	w.handle(w.judges("bob", object{"event": "APPROVE", "body": "Formal, please."}))
	assert.Contains(t, w.saidOnce("turn", "done"), "You said: Formal, please.")
}

func TestAnAnswerWhoseTriggerWasLostIsHeardByTheSweep(t *testing.T) {
	w := asked(t)
	w.talk("bob", "Formal, please.")
	w.sweep()
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Equal(t, 2, w.calls())
}

func TestAnAnswerDoesNotLiftWhatAnOperatorHasToDecide(t *testing.T) {
	w := asked(t)
	w.later(time.Minute)
	w.rewritten()
	ev := w.say("bob", "Formal, please.")
	w.blocked("history_rewrite", w.handle(ev))
	blocks := w.marked("block", "")
	require.Len(t, blocks, 2, "the question stands, and so does the rewrite")
	assert.Contains(t, blocks[1]["body"], "A maintainer has to decide")
	assert.Equal(t, "history_rewrite", w.handle(w.say("bob", "Go on.")).BlockedReason)
	assert.Len(t, w.marked("block", ""), 2)
	assert.Equal(t, 1, w.calls())
}

func TestADeathAfterAnAnswerAsksNobodyAgain(t *testing.T) {
	w := asked(t)
	ev := w.say("bob", "Formal, please.")
	w.diesAt(1, ev) // the claim
	w.done(w.recover(w.delivery("pull_request")))
	assert.Contains(t, w.marked("turn", "done")[0]["body"], "I had asked: Formal or not?")
}

func TestAQuestionAfterAnAnswerIsAQuestionOfItsOwn(t *testing.T) {
	w := asked(t)
	w.agent = "stuck"
	ev := w.say("bob", "Whatever you think.")
	w.blocked("agent_blocked", w.handle(ev))
	require.Len(t, w.marked("block", ""), 2)
	rep := w.handle(ev)
	assert.Equal(t, "agent_blocked", rep.BlockedReason, "%s: and the first answer does not answer it", rep.Reason)
	assert.Equal(t, 2, w.calls())
	w.agent = "doubts"
	w.done(w.handle(w.say("bob", "Formal, please.")))
	require.Len(t, w.marked("block", ""), 2)
}
