package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

func TestTwoRunsAtOnceMakeOnePullRequest(t *testing.T) {
	t.Parallel()
	for _, n := range writes(1, 7, 2, 5) {
		w, ev := labelled(t, smallJob)
		w.afterWrite(n, func() {
			rep := w.handle(ev) // GitHub does not know of the first run yet that it is over
			assert.Contains(t, []model.Result{model.ResultRetry, model.ResultNothing}, rep.Result, rep.Reason)
		})
		w.done(w.by(w.engine(), ev))
		assert.Len(t, w.pulls(), 1)
		assert.Len(t, w.branches(), 1)
		assert.Len(t, w.comments(), 1)
		assert.Equal(t, 1, w.calls())
	}
}

func TestABranchThatIsMadeMeanwhileIsLeftAlone(t *testing.T) {
	w := newIssue(t)
	main := w.at("main")
	w.agent = "meanwhile+job"
	ev := w.label("alice", smallJob)
	w.meanwhile(deed{"octo", "POST", w.path("/git/refs"), `{"ref": "refs/heads/` + branch + `", "sha": "` + main + `"}`})
	w.done(w.handle(ev))
	assert.Equal(t, main, w.branches()[branch])
	assert.Equal(t, branch+"-2", w.pulls()[0].at("head", "ref"))
	assert.Len(t, w.comments(), 1)
	assert.Contains(t, w.comments()[0]["body"], "was left alone")
	assert.Empty(t, w.stages())
}

func TestACheckpointThatIsMovedOrDeletedMeanwhile(t *testing.T) {
	w, _ := stuckIssue(t)
	w.agent = "meanwhile+told"
	ev := w.say("bob", "Formal")
	w.meanwhile(deed{"bob", "PUT", w.path("/contents/bob.txt"), `{"message": "Bob", "branch": "` + branch + `", "content": "Ym9iCg=="}`})
	w.done(w.handle(ev))
	assert.Equal(t, "bob\n", w.fileOf(branch, "bob.txt"))
	assert.Equal(t, "hello\nsalut?\nFormal\ndone 2\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, 2, w.calls())

	w, _ = stuckIssue(t)
	w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil)
	w.agent = "told"
	w.done(w.handle(w.say("bob", "Formal")))
	assert.Equal(t, "hello\nFormal\ndone 2\n", w.fileOf(branch, "greeting.txt"))
	assert.Contains(t, w.attemptBody(), "was deleted after the checkpoint")
}

// TestRecordedWorkOutlivesAPushToItsBranch: the run that recorded it died before it could publish it.
func TestRecordedWorkOutlivesAPushToItsBranch(t *testing.T) {
	w, _ := stuckIssue(t)
	w.agent = "told"
	ev := w.say("bob", "Formal")
	w.diesAt(4, ev) // the claim, the question that it hides, the stage, the plan
	require.NotEmpty(t, w.attemptMarker(model.PhasePlanned).Outbox)
	require.Equal(t, "hello\nsalut?\n", w.fileOf(branch, "greeting.txt"), "nothing is published yet")
	w.api("bob", "PUT", w.path("/contents/bob.txt"), object{"message": "Bob", "branch": branch, "content": "Ym9iCg=="})
	w.done(w.handle(ev))
	assert.Equal(t, "bob\n", w.fileOf(branch, "bob.txt"))
	assert.Equal(t, "hello\nsalut?\nFormal\ndone 2\n", w.fileOf(branch, "greeting.txt"))
	assert.Equal(t, 2, w.calls(), "the work was done")
	assert.Len(t, w.pulls(), 1)
}

func TestWhatHappensToTheIssueMeanwhile(t *testing.T) {
	number := func(w *world, rest string) string { return w.thread(rest) }
	type row struct {
		deed   func(w *world) deed
		want   model.Result
		reason string
	}
	each(t, map[string]row{
		"closed": {func(w *world) deed { return deed{"alice", "PATCH", number(w, ""), `{"state": "closed"}`} }, model.ResultBlocked, model.ReasonClosed},
		"paused": {func(w *world) deed {
			return deed{"alice", "POST", number(w, "/labels"), `{"labels": ["agent:ignore"]}`}
		}, model.ResultNothing, ""},
		"locked": {func(w *world) deed { return deed{"octo", "PUT", number(w, "/lock"), `{}`} }, model.ResultDone, ""},
		"deleted": {func(w *world) deed {
			return deed{"octo", "PUT", "/_sandbox/issues", `{"repository": "octo/widgets", "number": 2, "state": "deleted"}`}
		}, model.ResultFailed, ""},
	}, func(t *testing.T, name string, c row) {
		w, ev := labelled(t, smallJob, "meanwhile+job")
		w.meanwhile(c.deed(w))
		rep := w.handle(ev)
		assert.Equal(t, c.want, rep.Result, rep.Reason)
		assert.Equal(t, c.reason, rep.BlockedReason)
		switch name {
		case "closed":
			assert.Empty(t, w.pulls())
			assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"))
			w.api("alice", "PATCH", w.thread(""), object{"state": "open"})
			w.done(w.handle(w.say("carol", "/mergexo retry")))
			assert.Len(t, w.pulls(), 1)
			assert.Equal(t, 1, w.calls(), "the work was done")
			assert.Empty(t, w.stages())
		case "paused":
			assert.Empty(t, w.pulls())
			rep = w.done(w.handle(w.unlabel("alice", "agent:ignore")))
			assert.Len(t, w.pulls(), 1)
			assert.Equal(t, 1, w.calls())
		case "deleted":
			assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"), "the work is on its branch")
			assert.Contains(t, rep.Reason, branch)
		default:
			assert.Len(t, w.pulls(), 1)
		}
	})
}

// An operator has the pull request opened once that is allowed, whatever has become of its branch.
func TestActionsMayNotOpenPullRequests(t *testing.T) {
	tidies := func(w *world) { w.api("octo", "DELETE", w.path("/git/refs/heads/"+branch), nil) }
	type row struct {
		meanwhile func(w *world)
		gone      string // what the first retry says where the work has to be done again
	}
	each(t, map[string]row{
		"its branch stays":            {func(*world) {}, ""},
		"its branch is deleted":       {tidies, ""},
		"the server has forgotten it": {func(w *world) { tidies(w); w.bare("gc", "-q", "--prune=now") }, `the planned commits are gone with branch "` + branch + `"`},
	}, func(t *testing.T, _ string, c row) {
		w := newIssue(t)
		w.pullsByActions(false)
		w.blocked(model.ReasonNoPull, w.handle(w.label("alice", smallJob)))
		require.Len(t, w.comments(), 1)
		assert.Contains(t, w.lastSaid(), "Allow GitHub Actions to create and approve pull requests")
		assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"))
		c.meanwhile(w)
		w.pullsByActions(true)
		assert.Equal(t, model.ResultBlocked, w.handle(w.delivery("issues")).Result)
		calls := 1 // no agent is needed again
		if c.gone != "" {
			w.ended(model.ResultFailed, c.gone, w.handle(w.say("carol", "/mergexo retry")))
			calls = 2
		}
		w.done(w.handle(w.say("carol", "/mergexo retry")))
		assert.Len(t, w.pulls(), 1)
		assert.Equal(t, "hello\nbonjour\n", w.fileOf(branch, "greeting.txt"))
		assert.Equal(t, calls, w.calls())
	})
}

// TestWorkIsForTheDefaultBranchAsItIsCalledNow: it was renamed before a run could go on that had recorded its work.
func TestWorkIsForTheDefaultBranchAsItIsCalledNow(t *testing.T) {
	w, ev := labelled(t, smallJob)
	w.diesAt(3, ev)
	require.NotEmpty(t, w.attemptMarker(model.PhasePlanned).Outbox)
	w.branch("trunk")
	w.api("octo", "PATCH", w.path(""), object{"default_branch": "trunk"})
	w.api("octo", "DELETE", w.path("/git/refs/heads/main"), nil)
	w.done(w.handle(ev))
	require.Len(t, w.pulls(), 1)
	assert.Equal(t, "trunk", w.pulls()[0].at("base", "ref"))
	assert.Equal(t, 1, w.calls(), "the work was done")
}

func TestADesignIsImplementedOnceItIsMerged(t *testing.T) {
	each(t, jobs, func(t *testing.T, _ string, run func(*world, model.Event) model.Report) {
		w := newIssue(t).whoseAgent("record+job")
		w.done(run(w, w.label("alice", design)))
		pull := w.pulls()[0]
		assert.Equal(t, "agent/design/2-greet-in-french", pull.at("head", "ref"))
		assert.Contains(t, pull["body"], "Refs #2")
		assert.NotContains(t, pull["body"], "Fixes")
		doc := w.fileOf("agent/design/2-greet-in-french", "docs/design/2-greet-in-french.md")
		assert.True(t, strings.HasPrefix(doc, "---\nissue: 2\ntitle: \"Greet in French\"\ntouch_paths:\n  - \"greeting.txt\"\n---\n"), doc)
		assert.Equal(t, "hello\n", w.fileOf("agent/design/2-greet-in-french", "greeting.txt"))

		merged := w.merged(3)
		assert.Equal(t, 2, w.done(run(w, merged)).Number)
		require.Len(t, w.pulls(), 2)
		impl := w.pulls()[1]
		assert.Equal(t, "agent/impl/2-greet-in-french", impl.at("head", "ref"))
		assert.Contains(t, impl["body"], "Fixes #2")
		assert.Contains(t, impl["body"], "#3")
		asked := w.requests()
		require.Len(t, asked, 2)
		assert.Equal(t, model.AskImplementation, asked[1].Kind)
		assert.Contains(t, asked[1].Prompt, "Say bonjour.")
		assert.Equal(t, model.ResultNothing, w.handle(merged).Result)
		assert.Len(t, w.pulls(), 2)
	})
}

// A merge with a workflow's token starts no run, so that the same run goes on with the issue. After an agent's job that has to wait.
func TestADesignThatACommandMergesIsImplemented(t *testing.T) {
	each(t, map[string]int{"in one job": 2, "after the agent's job": 3}, func(t *testing.T, how string, number int) {
		w := newIssue(t, "", "[merge]\ntests = \"none\"")
		w.done(w.handle(w.label("alice", design)))
		w.number, w.head = 3, "agent/design/2-greet-in-french"
		w.approve("alice")
		ev, dir, land := w.say("carol", "/mergexo merge"), "", w.handle
		if how != "in one job" {
			dir = filepath.Join(t.TempDir(), "handoff")
			w.gives(model.ResultNothing, w.phase(thread.AgentPhase, ev, dir))
			land = func(ev model.Event) model.Report { return w.phase(thread.ApplyPhase, ev, dir) }
		}
		assert.Equal(t, number, w.done(land(ev)).Number)
		assert.Equal(t, "merged", w.badge())
		assert.Equal(t, number == 2, w.at("agent/impl/2-greet-in-french") != "")
	})
}

func TestADesignChangesNothingElse(t *testing.T) {
	w := newIssue(t)
	w.write("octo", "main", "docs/design/2-greet-in-french.md", "mine\n")
	w.agent = "job+sloppy"
	w.done(w.handle(w.label("alice", design)))
	b := "agent/design/2-greet-in-french"
	assert.Equal(t, "mine\n", w.fileOf(b, "docs/design/2-greet-in-french.md"))
	assert.Contains(t, w.fileOf(b, "docs/design/2-greet-in-french-2.md"), "Say bonjour.")
	w.lacks(b, "beside.txt")
	assert.Contains(t, w.pulls()[0]["body"], "changed files other than its design document")
	require.Len(t, w.checkpoints(), 1)
	assert.Equal(t, "beside\n", w.fileOf(w.checkpoints()[0], "beside.txt"))
}

func TestCommandsOnAnIssue(t *testing.T) {
	w, _ := stuckIssue(t)
	w.handle(w.say("carol", "/mergexo status"))
	assert.Contains(t, w.lastSaid(), "awaiting issue followup")
	assert.Contains(t, w.lastSaid(), branch)
	w.agent = "pleased"
	w.done(w.handle(w.say("carol", "/mergexo retry")))
	assert.Len(t, w.pulls(), 1, "the checkpoint was good as it was")
	assert.Equal(t, "hello\nsalut?\n", w.fileOf(branch, "greeting.txt"))
	w.handle(w.say("carol", "/mergexo retry"))
	assert.Contains(t, w.lastSaid(), "rejected")
}

func TestTheBudgetOfCallsFromLabelToPullRequest(t *testing.T) {
	t.Parallel()
	for _, author := range []string{"alice", "eve"} {
		w := newIssue(t)
		w.open(author, "Greet in French", "")
		ev := w.label("alice", smallJob)
		w.gate.seen = nil
		rep := w.done(w.handle(ev))
		api, git := w.gate.counted()
		assert.LessOrEqual(t, api, 12, "%v", w.gate.seen)
		assert.LessOrEqual(t, git, 4, "%v", w.gate.seen)
		assert.Equal(t, rep.Calls.Git, git)
	}
}

// attemptBody is what the newest status comment says.
func (w *world) attemptBody() string {
	w.t.Helper()
	all := w.marked("issue", "")
	require.NotEmpty(w.t, all)
	return all[len(all)-1]["body"].(string)
}

func TestAConversationIsReadNoFurtherThanTheLabel(t *testing.T) {
	w := newIssue(t)
	w.chatter(150)
	w.gate.revive()
	w.handle(w.delivery("issue_comment"))
	api, _ := w.gate.counted()
	assert.Equal(t, 1, api, "an issue without a label of ours")
	ev := w.label("alice", smallJob)
	w.chatter(150)
	w.gate.revive()
	w.done(w.handle(ev))
	w.chatter(150)
	w.gate.revive()
	w.gives(model.ResultNothing, w.handle(ev))
	assert.Len(t, w.pulls(), 1, "what was done is found below all that")
	api, _ = w.gate.counted()
	assert.LessOrEqual(t, api, 3, "the third asks who eve is, who may hide that she belongs here: %v", w.gate.seen)
}

// What the comment said no longer counts. What others say still does, and is not done again.
func TestAnEditOfAnOldStopDoesNoFinishedWorkAgain(t *testing.T) {
	type row struct {
		label string
		pulls int
	}
	each(t, map[string]row{
		"a pull request is open": {smallJob, 1},
		"its design was built":   {design, 2},
	}, func(t *testing.T, _ string, c row) {
		w, ev := labelled(t, c.label)
		w.agent = "ask"
		require.Equal(t, model.ReasonAgent, w.handle(ev).BlockedReason)
		stop := w.comments()[0].id()
		w.agent = "job"
		require.Equal(t, model.ResultDone, w.handle(w.say("alice", "In French, please.")).Result)
		if c.pulls == 2 {
			w.api("octo", "PUT", w.path("/pulls/3/merge"), object{})
			w.done(w.handle(ev))
		}
		issue, calls := w.number, w.calls()
		w.reword("octo", stop, "Nothing to see.")
		require.Equal(t, model.ReasonMarkerEdited, w.handle(ev).BlockedReason)
		assert.Contains(t, w.waiting("sandbox-actions"), fmt.Sprint(issue, " issue ", model.ReasonMarkerEdited))
		rep := w.handle(w.say("carol", "/mergexo retry"))
		assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
		assert.Contains(t, w.said(), "**The edit is accepted.** Nothing is done again: ")
		assert.Equal(t, calls, w.calls())
		assert.Len(t, w.pulls(), c.pulls)
		assert.NotContains(t, w.waiting("sandbox-actions"), fmt.Sprint(issue, " issue ", model.ReasonMarkerEdited))
		assert.NotEqual(t, model.ResultBlocked, w.handle(ev).Result)
		assert.Equal(t, calls, w.calls())
		if c.label == smallJob {
			w.api("octo", "PATCH", w.path("/pulls/3"), object{"state": "closed"})
			w.done(w.handle(w.say("carol", "/mergexo retry")))
			assert.Equal(t, calls+1, w.calls(), "the edit was accepted by the command before")
		}
	})
}
