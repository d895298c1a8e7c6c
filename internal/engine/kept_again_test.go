package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// askedAbout is a turn whose agent has left work and a question.
func askedAbout(t *testing.T, how string) (w *world, checkpoint string) {
	t.Helper()
	w = newWorld(t)
	w.agent = how + "+stuck"
	w.blocked("agent_blocked", w.handle(w.remark("alice", "Answer me.")))
	require.Len(t, w.checkpoints(), 1)
	return w, w.checkpoints()[0]
}

// answeredBy answers the agent's question, with an agent that then does this.
func (w *world) answeredBy(how string) model.Report {
	w.t.Helper()
	w.agent = how
	return w.handle(w.say("bob", "Formal."))
}

func TestUnfinishedWorkIsNotPublishedUnlessTheAgentSaysSo(t *testing.T) {
	type row struct {
		commits int
		note    string
	}
	each(t, map[string]row{
		"talk":       {0, "the agent left changes in its checkout without a commit message"},
		"dirty+talk": {0, "the agent left changes in its checkout without a commit message"},
		"empty+talk": {1, ""}, // a commit message says that it is ready
	}, func(t *testing.T, how string, want row) {
		w, checkpoint := askedAbout(t, "dirty")
		w.done(w.answeredBy(how))
		w.settled(1, 1, want.commits)
		assert.Contains(t, w.receipt(), want.note)
		assert.Contains(t, w.checkpoints(), checkpoint)
		if strings.Contains(how, "dirty") {
			assert.Len(t, w.checkpoints(), 2, "what it left this time is on top of that")
		}
	})
}

func TestWhatPeopleAddToACheckpointIsTakenUpWithIt(t *testing.T) {
	w, checkpoint := askedAbout(t, "dirty")
	w.write("bob", checkpoint, "bob.txt", "bob\n")
	require.Equal(t, model.ResultDone, w.answeredBy("answer").Result)
	assert.Equal(t, "bob\n", w.file("bob.txt"))
	assert.Equal(t, "bob", w.bare("log", "-1", "--format=%an", w.head+"~1"), "who wrote it has written it")
	assert.Equal(t, []string{checkpoint}, w.checkpoints())
}

func TestACheckpointIsReplayedOnWhatWasPushedMeanwhile(t *testing.T) {
	w, _ := askedAbout(t, "commits")
	w.write("bob", w.head, "bob.txt", "bob\n")
	require.Equal(t, model.ResultDone, w.answeredBy("answer").Result)
	assert.Equal(t, []string{"Write greeting.txt", "Write bob.txt", "Agent's one", "Agent's two", "Answer, in words of call 2"}, subjectsOf(w.commits()))
}

func TestAnAttemptThatStartsOverSaysWhyAndHowToUseTheWork(t *testing.T) {
	type row struct {
		left   string
		change func(w *world, checkpoint string)
		why    string
		usable bool
	}
	each(t, map[string]row{
		"a conflict": {"line", func(w *world, _ string) { w.write("bob", w.head, "greeting.txt", "hello\nmoon\n") }, "it conflicts with what is on the branch now", true},
		"its branch deleted": {"dirty", func(w *world, checkpoint string) { w.api("bob", "DELETE", w.path("/git/refs/heads/"+checkpoint), nil) },
			"GitHub does not have it", false},
		"its branch replaced": {"dirty", func(w *world, checkpoint string) {
			w.api("bob", "PATCH", w.path("/git/refs/heads/"+checkpoint), object{"sha": w.at("main"), "force": true})
		}, "its history was rewritten", false},
		"the comment edited": {"dirty", func(w *world, _ string) {
			w.api("alice", "PATCH", w.path(fmt.Sprintf("/pulls/comments/%d", w.list("octo", w.pull("/comments"))[0].id())), object{"body": "Rather not."})
		}, "the comments that it is about were changed or deleted", true},
		"what must not be pushed": {"dirty", func(w *world, checkpoint string) { w.write("bob", checkpoint, ".github/workflows/x.yml", "on: push\n") },
			".github/workflows/x.yml", true},
	}, func(t *testing.T, _ string, c row) {
		w, checkpoint := askedAbout(t, c.left)
		w.later(1e9)
		c.change(w, checkpoint)
		w.done(w.answeredBy("sees+answer"))
		assert.NotContains(t, w.found(), "left.txt")
		said := w.receipt()
		assert.Contains(t, said, "the agent started over, without the work of an earlier attempt")
		assert.Contains(t, said, c.why)
		how := regexp.MustCompile(`to use that work: (git fetch origin [0-9a-f]{40} && git cherry-pick [0-9a-f]+\.\.FETCH_HEAD)`).FindStringSubmatch(said)
		require.NotNil(t, how, said)
		if c.usable && c.left == "dirty" {
			w.pasted("git config user.name Bob && git config user.email bob@example.com && git switch -q " + w.head + " && " + how[1] + " && grep left left.txt")
		}
	})
}

func TestWorkThatNoBranchMayHoldIsNotTakenUp(t *testing.T) {
	w, ev := commented(t, "workflow+fail")
	require.Equal(t, model.ResultFailed, w.handle(ev).Result)
	assert.Contains(t, w.marked("turn", "failed")[0]["body"], "The next attempt starts without it")
	w.agent = "sees+answer"
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.NotContains(t, w.found(), "x.yml")
	assert.Contains(t, w.receipt(), "no branch may hold it; to use that work: git fetch origin refs/mergexo/kept/1/")
}

func TestAFlowThatIsNotTheSameBeginsAfresh(t *testing.T) {
	w := newIssue(t).whoseAgent("dirty+stuck")
	require.Equal(t, model.ReasonAgent, w.handle(w.label("alice", design)).BlockedReason)
	w.unlabel("alice", design)
	w.agent = "sees+job"
	w.label("alice", smallJob)
	w.done(w.handle(w.say("bob", "Just do it.")))
	assert.NotContains(t, w.found(), "left.txt", "files are no part of a design")
	assert.NotContains(t, w.lastSaid(), "started over")
}

func TestACheckpointIsTakenUpByTheAgentsJobToo(t *testing.T) {
	each(t, map[string]func(t *testing.T) (w *world, file func() string){
		"a turn": func(t *testing.T) (*world, func() string) {
			w, _ := askedAbout(t, "dirty")
			return w, func() string { return w.file("left.txt") }
		},
		"an issue": func(t *testing.T) (*world, func() string) {
			w := newIssue(t)
			w.branch("mergexo")
			w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch, "push": []string{"octo"}})
			w.agent = "dirty+stuck"
			require.Equal(t, model.ReasonAgent, w.handle(w.label("alice", smallJob)).BlockedReason)
			w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": branch})
			return w, func() string { return w.fileOf(branch, "left.txt") }
		},
	}, func(t *testing.T, name string, build func(t *testing.T) (w *world, file func() string)) {
		t.Parallel()
		w, file := build(t)
		w.agent = map[string]string{"a turn": "answer", "an issue": "job"}[name]
		ev := w.say("bob", "Formal.")
		dir := w.prepared(ev)
		w.done(w.phase(thread.ApplyPhase, ev, dir))
		assert.Equal(t, "left\n", file())
	})
}

func TestWorkThatIsOnlyOnTheRunnerIsNotSaidToBeRecoverable(t *testing.T) {
	turn := func(t *testing.T) (*world, model.Event) { return commented(t) }
	answered := func(w *world) model.Event { return w.say("bob", "Formal.") }
	type row struct {
		build     func(t *testing.T) (*world, model.Event)
		again     func(w *world) model.Event
		kind, how string
		ends      model.Result
		pushed    bool // by hand
	}
	each(t, map[string]row{
		"a turn that asks":  {turn, answered, "turn", "dirty+stuck", model.ResultBlocked, true},
		"a turn that fails": {turn, func(w *world) model.Event { return w.delivery("pull_request_review_comment") }, "turn", "dirty+fail", model.ResultFailed, false},
		"an issue":          {func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob) }, answered, "issue", "dirty+stuck", model.ResultFailed, true},
		"a design":          {func(t *testing.T) (*world, model.Event) { return labelled(t, design) }, answered, "issue", "dirty+stuck", model.ResultFailed, false},
	}, func(t *testing.T, _ string, c row) {
		w, ev := c.build(t)
		w.agent = c.how
		w.denies("refs/*")
		w.gives(c.ends, w.handle(ev))
		body := w.saidOnce(c.kind, "failed")
		paste := regexp.MustCompile(`git fetch (\S+\.bundle) work && git push origin FETCH_HEAD:\S+`).FindStringSubmatch(body)
		require.NotNil(t, paste, body)
		file := regexp.MustCompile("in the git bundle `?(/\\S+" + regexp.QuoteMeta(paste[1]) + ")").FindStringSubmatch(body)
		require.NotNil(t, file, body)
		assert.Regexp(t, `"checkpoint_sha":"[0-9a-f]{40}"`, body)
		_, waiting := w.standings("sandbox-actions")
		require.Len(t, waiting, 1)
		assert.Contains(t, waiting[0].Headline, "in the git bundle "+file[1]+"; then ")

		w.denies()
		if c.pushed {
			w.pasted(strings.Replace(paste[0], paste[1], file[1], 1))
		}
		w.agent = "sees+talk+stuck"
		again := w.handle(c.again(w))
		require.Equal(t, model.ReasonAgent, again.BlockedReason, again.Reason)
		if c.pushed {
			assert.Contains(t, w.found(), "left.txt", "it went on from there")
			assert.NotContains(t, w.lastSaid(), "started over")
			return
		}
		assert.NotContains(t, w.found(), "left.txt")
		assert.Contains(t, w.lastSaid(), paste[0], "the bundle is named until it is used")
	})
}

// tracked is commented on a pull request that a run has seen before.
func tracked(t *testing.T) (*world, model.Event) {
	w := newWorld(t)
	w.handle(w.delivery("pull_request"))
	return w, w.remark("alice", "Answer me.")
}

// refusesComment has GitHub refuse the second of our next comments.
func (w *world) refusesComment() {
	w.fail(object{"match": object{"method": "POST", "path": w.thread("/comments")}, "status": 403, "skip": 1, "times": 1})
}

func TestAStopThatGitHubRefusesIsSaidByTheNextRunWithoutTheAgent(t *testing.T) {
	type row struct {
		build                    func(t *testing.T) (*world, model.Event)
		kind, phase, reason, how string
	}
	each(t, map[string]row{
		"a turn":   {tracked, "block", "", "agent_blocked", "dirty+lost+stuck"},
		"an issue": {func(t *testing.T) (*world, model.Event) { return labelled(t, smallJob) }, "issue", "awaiting_issue_followup", model.ReasonAgent, "dirty+lost+stuck"},
		"a design": {func(t *testing.T) (*world, model.Event) { return labelled(t, design) }, "issue", "awaiting_issue_followup", model.ReasonOutcome, "job+astray"},
	}, func(t *testing.T, _ string, c row) {
		t.Parallel()
		w, ev := c.build(t)
		w.agent = c.how
		w.refusesComment()
		require.NotEqual(t, model.ResultBlocked, w.handle(ev).Result)
		kept, asked := len(w.checkpoints()), w.calls()
		w.blocked(c.reason, w.handle(ev))
		assert.Equal(t, asked, w.calls(), "the agent is not asked again")
		assert.Len(t, w.marked(c.kind, c.phase), 1)
		assert.Len(t, w.checkpoints(), kept)
		for _, one := range w.checkpoints() {
			assert.Contains(t, w.lastSaid(), one)
		}
		assert.Equal(t, model.ResultBlocked, w.handle(ev).Result)
		assert.Equal(t, asked, w.calls())
	})
}
