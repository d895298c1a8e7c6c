package engine_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestACheckpointIsHeldAgainstTheRulesOnceMore(t *testing.T) {
	type row struct {
		setting, first, second string
		reason, says           string
	}
	each(t, map[string]row{
		"tests that fail":  {`required_tests = ["sh", "-c", "echo broken; exit 1"]`, "ask", "pleased", model.ReasonTests, "broken"},
		"conflict markers": {"", "marked", "beside", model.ReasonTests, "conflict markers are committed in greeting.txt"},
	}, func(t *testing.T, _ string, c row) {
		w := newIssue(t, c.setting, "[feedback]\nrepair_rounds = 0").whoseAgent(c.first)
		w.blocked(model.ReasonAgent, w.handle(w.label("alice", smallJob)))
		before := w.fileOf(branch, "greeting.txt")
		w.agent = c.second
		w.blocked(c.reason, w.handle(w.say("carol", "/mergexo retry")))
		assert.Contains(t, w.lastSaid(), c.says)
		assert.Contains(t, w.lastSaid(), w.linkOf(branch))
		assert.Equal(t, before, w.fileOf(branch, "greeting.txt"))
		assert.Empty(t, w.pulls())
	})
}

func TestADesignDocumentIsFoundWhereverPeopleMoveIt(t *testing.T) {
	w := worked(t, design)
	ev := w.say("eve", "Nice.")
	w.gate.revive()
	assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	api, _ := w.gate.counted()
	assert.LessOrEqual(t, api, 2, "%v", w.gate.seen)

	on, old := "agent/design/2-greet-in-french", "docs/design/2-greet-in-french.md"
	w.write("alice", on, "docs/design/french.md", w.fileOf(on, old))
	w.write("alice", on, "docs/design/another.md", strings.Replace(w.fileOf(on, old), "issue: 2", "issue: 1", 1))
	sha := w.api("octo", "GET", w.path("/contents/"+old+"?ref="+on), nil)["sha"]
	w.api("alice", "DELETE", w.path("/contents/"+old), object{"message": "Move it", "branch": on, "sha": sha})
	w.agent = "record+job"
	w.done(w.handle(w.merged(3)))
	require.Len(t, w.pulls(), 2)
	assert.Contains(t, w.requests()[0].Prompt, "docs/design/french.md")
	assert.NotContains(t, w.requests()[0].Prompt, "another.md")
}

func TestWorkThatConflictsWithSomebodysPushIsKeptBesideIt(t *testing.T) {
	w, _ := stuckIssue(t)
	w.agent = "meanwhile+overwrites"
	ev := w.say("bob", "Formal")
	sha := w.api("octo", "GET", w.path("/contents/greeting.txt?ref="+branch), nil)["sha"].(string)
	text := base64.StdEncoding.EncodeToString([]byte("bob's line\n"))
	w.meanwhile(deed{"bob", "PUT", w.path("/contents/greeting.txt"), fmt.Sprintf(`{"message": "Bob", "branch": %q, "content": %q, "sha": %q}`, branch, text, sha)})
	w.blocked(model.ReasonConflict, w.handle(ev))
	assert.Empty(t, w.pulls())
	assert.Equal(t, "bob's line\n", w.fileOf(branch, "greeting.txt"))
	require.Len(t, w.checkpoints(), 1)
	assert.Equal(t, "the agent's line\n", w.fileOf(w.checkpoints()[0], "greeting.txt"))
	assert.Contains(t, w.lastSaid(), w.linkOf(w.checkpoints()[0]))
}

func TestWorkThatWasRefusedIsPartOfTheNextAttempt(t *testing.T) {
	w := newIssue(t)
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo"}})
	w.blocked(model.ReasonPush, w.handle(w.label("alice", smallJob)))
	require.Len(t, w.checkpoints(), 1)
	assert.Contains(t, w.lastSaid(), w.linkOf(w.checkpoints()[0]))
	w.blocked(model.ReasonPush, w.handle(w.say("bob", "And now?")))
	w.gate.revive()
	w.blocked(model.ReasonPush, w.handle(w.say("eve", "Nice.")))
	assert.Zero(t, w.gate.writes, "that was said: %v", w.gate.seen)
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo", "github-actions[bot]"}})
	w.agent = "beside"
	w.done(w.handle(w.say("bob", "I let you push now.")))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch, w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, "new\n", w.fileOf(branch, "new.txt"))
}

func TestAnAnswerThatArrivesBeforeTheStopIsTakenUpAndRemembered(t *testing.T) {
	w, ev := labelled(t, smallJob, "record+meanwhile+stuck")
	w.later(time.Minute)
	w.meanwhile(deed{"bob", "POST", w.thread("/comments"), `{"body": "Vouvoyer"}`})
	w.blocked(model.ReasonAgent, w.handle(ev))
	asked := w.requests()
	require.Len(t, asked, 2, "nobody else looks at what came while this run was at work")
	assert.Equal(t, []string{"Vouvoyer"}, words(asked[1]))
	w.blocked(model.ReasonAgent, w.handle(w.say("alice", "And short")))
	asked = w.requests()
	require.Len(t, asked, 3)
	assert.Equal(t, []string{"And short"}, words(asked[2]), "bob is answered")
	assert.Contains(t, asked[2].Prompt, "Vouvoyer", "and not forgotten")
}

func TestWorkBeginsAnewWhereTheStopWasDeleted(t *testing.T) {
	w, _ := stuckIssue(t)
	before := w.branches()[branch]
	w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", w.comments()[0].id())), nil)
	w.blocked(model.ReasonMarkerDeleted, w.handle(w.say("bob", "Formal")))
	w.sweep()
	assert.Equal(t, 1, w.calls(), "it may have stopped anything")
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nFormal\n", w.fileOf(branch+"-2", "greeting.txt"))
	assert.Equal(t, before, w.branches()[branch], "nobody says whose it is")
	for _, told := range []string{w.pulls()[0]["body"].(string), w.lastSaid()} {
		assert.Contains(t, told, branch)
		assert.Contains(t, told, "already existed and was left alone")
	}
}

func TestWorkThatWasSavedBeforeSeveralDeathsIsToldOfInTheBlock(t *testing.T) {
	w, ev := commented(t, "quiet+hangs")
	saved := w.killed(ev)
	w.agentSetting(`checkpoint_every = "10s"`, "")
	w.agent = "answer"
	w.gate.when(diesFirst, isPush)
	w.dies(ev)
	w.agent = "stuck"
	w.blocked(model.ReasonAgent, w.recover(ev))
	require.Len(t, w.checkpoints(), 1)
	assert.NotEqual(t, saved, w.checkpoints()[0], "what a run that died had saved is part of what is kept now")
	assert.Contains(t, w.fileOf(w.checkpoints()[0], "greeting.txt"), "quiet\n")
	block := w.saidOnce("block", "")
	assert.Contains(t, block, w.linkOf(w.checkpoints()[0]))
	assert.NotContains(t, block, saved)
}
