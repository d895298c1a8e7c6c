package engine_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestACheckpointIsHeldAgainstTheRulesOnceMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setting, first, second string
		reason, says           string
	}{
		"tests that fail":         {`required_tests = ["sh", "-c", "echo broken; exit 1"]`, "ask", "pleased", model.ReasonTests, "broken"},
		"conflict markers":        {"", "marked", "beside", model.ReasonTests, "conflict markers are committed in greeting.txt"},
		"nobody says it is ready": {"", "ask", "idle", model.ReasonNoChange, "nothing changed in the checkout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newIssue(t, c.setting, "[feedback]\nrepair_rounds = 0")
			w.agent = c.first
			rep := w.handle(w.label("alice", smallJob))
			require.Equal(t, model.ReasonAgent, rep.BlockedReason, rep.Reason)
			before := w.fileOf(branch, "greeting.txt")
			w.agent = c.second
			rep = w.handle(w.say("carol", "/mergexo retry"))
			assert.Equal(t, c.reason, rep.BlockedReason, rep.Reason)
			assert.Contains(t, w.lastWords(), c.says)
			assert.Contains(t, w.lastWords(), w.linkOf(branch))
			assert.Equal(t, before, w.fileOf(branch, "greeting.txt"))
			assert.Empty(t, w.pulls())
		})
	}
}

func TestADesignIsItsDocumentAndClosesNoIssue(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agent = "scribbles"
	rep := w.handle(w.label("alice", design))
	require.Equal(t, model.ReasonAgent, rep.BlockedReason, rep.Reason)
	require.Len(t, w.checkpoints(), 1)
	assert.Equal(t, "scribble\n", w.fileOf(w.checkpoints()[0], "scribble.txt"))
	w.agent = "job+closes"
	rep = w.handle(w.say("bob", "Formal"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	require.Len(t, w.pulls(), 1)
	files := w.list("octo", w.path("/pulls/3/files"))
	require.Len(t, files, 1)
	assert.Equal(t, "docs/design/2-greet-in-french.md", files[0]["filename"])
	message := w.list("octo", w.path("/commits?sha=agent/design/2-greet-in-french"))[0].at("commit", "message").(string)
	assert.True(t, strings.HasPrefix(message, "Design: Fixes\u200b #"), "%q", message)
	assert.True(t, strings.HasSuffix(message, "\n\nRefs #2"), "%q", message)
}

func TestADesignDocumentIsFoundWhereverPeopleMoveIt(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.handle(w.label("alice", design))
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
	w.later(time.Minute)
	w.api("octo", "PUT", w.path("/pulls/3/merge"), object{})
	w.agent = "record+job"
	rep := w.handle(w.delivery("pull_request"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	require.Len(t, w.pulls(), 2)
	assert.Contains(t, w.requests()[0].Prompt, "docs/design/french.md")
	assert.NotContains(t, w.requests()[0].Prompt, "another.md")
}

func TestWorkThatConflictsWithSomebodysPushIsKeptBesideIt(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agent = "ask"
	w.handle(w.label("alice", smallJob))
	w.agent = "meanwhile+overwrites"
	ev := w.say("bob", "Formal")
	sha := w.api("octo", "GET", w.path("/contents/greeting.txt?ref="+branch), nil)["sha"].(string)
	text := base64.StdEncoding.EncodeToString([]byte("bob's line\n"))
	w.meanwhile(deed{"bob", "PUT", w.path("/contents/greeting.txt"), fmt.Sprintf(`{"message": "Bob", "branch": %q, "content": %q, "sha": %q}`, branch, text, sha)})
	rep := w.handle(ev)
	assert.Equal(t, model.ReasonConflict, rep.BlockedReason, rep.Reason)
	assert.Empty(t, w.pulls())
	assert.Equal(t, "bob's line\n", w.fileOf(branch, "greeting.txt"))
	require.Len(t, w.checkpoints(), 1)
	assert.Equal(t, "the agent's line\n", w.fileOf(w.checkpoints()[0], "greeting.txt"))
	assert.Contains(t, w.lastWords(), w.linkOf(w.checkpoints()[0]))
}

func TestWorkThatWasRefusedIsPartOfTheNextAttempt(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo"}})
	rep := w.handle(w.label("alice", smallJob))
	require.Equal(t, model.ReasonPush, rep.BlockedReason, rep.Reason)
	require.Len(t, w.checkpoints(), 1)
	assert.Contains(t, w.lastWords(), w.linkOf(w.checkpoints()[0]))
	rep = w.handle(w.say("bob", "And now?"))
	assert.Equal(t, model.ReasonPush, rep.BlockedReason, rep.Reason)
	w.gate.revive()
	rep = w.handle(w.say("eve", "Nice."))
	assert.Equal(t, model.ReasonPush, rep.BlockedReason, rep.Reason)
	assert.Zero(t, w.gate.writes, "that was said: %v", w.gate.seen)
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo", "github-actions[bot]"}})
	w.agent = "beside"
	rep = w.handle(w.say("bob", "I let you push now."))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch, w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, "new\n", w.fileOf(branch, "new.txt"))
}

func TestAnAnswerThatArrivesBeforeTheStopIsTakenUpAndRemembered(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agent = "record+meanwhile+stuck"
	ev := w.label("alice", smallJob)
	w.later(time.Minute)
	w.meanwhile(deed{"bob", "POST", w.thread("/comments"), `{"body": "Vouvoyer"}`})
	rep := w.handle(ev)
	assert.Equal(t, model.ReasonAgent, rep.BlockedReason, rep.Reason)
	asked := w.requests()
	require.Len(t, asked, 2, "nobody else looks at what came while this run was at work")
	assert.Equal(t, []string{"Vouvoyer"}, words(asked[1]))
	rep = w.handle(w.say("alice", "And short"))
	assert.Equal(t, model.ReasonAgent, rep.BlockedReason, rep.Reason)
	asked = w.requests()
	require.Len(t, asked, 3)
	assert.Equal(t, []string{"And short"}, words(asked[2]), "bob is answered")
	assert.Contains(t, asked[2].Prompt, "Vouvoyer", "and not forgotten")
}

func TestWorkBeginsAnewWhereTheStopWasDeleted(t *testing.T) {
	t.Parallel()
	w := newIssue(t)
	w.agent = "ask"
	w.handle(w.label("alice", smallJob))
	before := w.branches()[branch]
	w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", w.comments()[0].id())), nil)
	rep := w.handle(w.say("bob", "Formal"))
	require.Equal(t, model.ReasonMarkerDeleted, rep.BlockedReason, rep.Reason)
	w.sweep()
	assert.Equal(t, 1, w.calls(), "it may have stopped anything")
	rep = w.handle(w.say("carol", "/mergexo retry"))
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Equal(t, "hello\nFormal\n", w.fileOf(branch+"-2", "greeting.txt"))
	assert.Equal(t, before, w.branches()[branch], "nobody says whose it is")
	for _, told := range []string{w.pulls()[0]["body"].(string), w.lastWords()} {
		assert.Contains(t, told, branch)
		assert.Contains(t, told, "already existed and was left alone")
	}
}

func TestWorkThatWasSavedBeforeSeveralDeathsIsToldOfInTheBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = "quiet+hangs"
	w.review("alice", "Answer me.")
	ev := w.delivery("pull_request_review_comment")
	saved := w.killed(ev)
	w.agentSetting(`checkpoint_every = "10s"`, "")
	w.agent = "answer"
	w.gate.at = func(_ int, r *http.Request) fate {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			return diesFirst
		}
		return passes
	}
	w.handle(ev)
	require.True(t, w.gate.died())
	w.gate.revive()
	w.agent = "stuck"
	rep := w.recover(ev)
	require.Equal(t, model.ReasonAgent, rep.BlockedReason, rep.Reason)
	require.Len(t, w.checkpoints(), 1)
	assert.NotEqual(t, saved, w.checkpoints()[0], "what a run that died had saved is part of what is kept now")
	assert.Contains(t, w.fileOf(w.checkpoints()[0], "greeting.txt"), "quiet\n")
	blocks := w.marked("block", "")
	require.Len(t, blocks, 1)
	assert.Contains(t, blocks[0]["body"], w.linkOf(w.checkpoints()[0]))
	assert.NotContains(t, blocks[0]["body"], saved)
}
