package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// receipt is the text of the one receipt there is.
func (w *world) receipt() string {
	w.t.Helper()
	return w.saidOnce("turn", "done")
}

// behind is a world in which a file of main has changed, and alice wants an agent that does this to catch up.
func behind(t *testing.T, how, file, text string) (*world, model.Event) {
	t.Helper()
	w := newWorld(t).whoseAgent(how)
	w.write("octo", "main", file, text)
	return w, w.say("alice", "Catch up with main.")
}

func TestAnAgentIsToldHowItsGitOperationsEnded(t *testing.T) {
	type row struct {
		says  []string
		calls int
	}
	each(t, map[string]row{
		"tenfold": {[]string{"fetch_origin: failed not carried out, like all after it: at most 4 operations per round"}, 2},
		"merge":   {[]string{"merge_origin_default_branch: done the head is now"}, 2},
	}, func(t *testing.T, how string, c row) {
		w, ev := behind(t, how, "news.txt", "news\n")
		w.done(w.handle(ev))
		assert.Equal(t, c.calls, w.calls())
		for _, text := range c.says {
			assert.Contains(t, w.receipt(), text)
		}
		assert.Equal(t, how == "tenfold", strings.Contains(w.receipt(), "at most 4"))
		if how == "merge" {
			assert.Contains(t, strings.Join(w.commits(), "\n"), "Merge branch 'main' into agent/greet")
			assert.Equal(t, "news\n", w.file("news.txt"))
		}
	})
}

func TestAConflictWithTheDefaultBranchIsTheAgentsToResolve(t *testing.T) {
	type row struct {
		file  string
		calls int
	}
	each(t, map[string]row{
		"merge+resolve":  {"hello\nboth\n", 2},
		"merge+heedless": {"conflict markers remain in greeting.txt", 3},
		"merge":          {"hello\nworld\n", 2}, // it gave up
	}, func(t *testing.T, how string, c row) {
		w, ev := behind(t, how, "greeting.txt", "hello\nmoon\n")
		w.done(w.handle(ev))
		assert.Equal(t, c.calls, w.calls())
		assert.Contains(t, w.receipt(), "merge_origin_default_branch: conflict the merge is in progress")
		assert.Equal(t, c.file, w.file("greeting.txt"))
		tip := w.api("octo", "GET", w.path("/commits/"+w.tip()), nil)
		assert.Len(t, tip["parents"], map[bool]int{true: 1, false: 2}[how == "merge"])
	})
}

func TestMarkersThatWereThereBeforeAreNobodysConflict(t *testing.T) {
	w := newWorld(t)
	w.write("octo", w.head, "greeting.txt", "<<<<<<< an example\n=======\n>>>>>>> of markers\n")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Add a line.")).Result)
	assert.Equal(t, 1, w.calls())
}

func TestAWorkflowThatTheDefaultBranchBringsIsNotTheAgents(t *testing.T) {
	w, ev := behind(t, "merge", ".github/workflows/ci.yml", "on: push\n")
	w.done(w.handle(ev))
	assert.Equal(t, "on: push\n", w.file(".github/workflows/ci.yml"))
}

func TestAnAgentThatOnlyAsksForGitOperationsFails(t *testing.T) {
	w := newWorld(t).whoseAgent("insist")
	w.ended(model.ResultFailed, "the agent asked for git operations in more than 3 rounds", w.handle(w.say("alice", "Catch up with main.")))
	assert.Equal(t, 4, w.calls())
}

func TestAMergeOverUncommittedChangesIsRefused(t *testing.T) {
	w, ev := behind(t, "dirty+merge", "news.txt", "news\n")
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Contains(t, w.receipt(), "the checkout has uncommitted changes")
	assert.Len(t, w.commits(), 1)
}

func TestASecretIsPushedNowhereAndShownToNobody(t *testing.T) {
	for _, how := range []string{"secret", "secret+fail"} {
		w := newWorld(t).whoseAgent(how)
		rep := w.handle(w.say("alice", "Use my key."))
		said := w.readable(rep)
		assert.Contains(t, said, "testdata/key.txt:1: github-pat (ghp")
		assert.NotContains(t, said, "016C7EnX")
		assert.Equal(t, how == "secret", rep.BlockedReason == "secret_found", rep.Reason)
		assert.Empty(t, w.stages())
		assert.Empty(t, w.checkpoints())
		assert.Len(t, w.commits(), 1)
	}
	w := newWorld(t, "", "[feedback]\nallow_secrets = [\"testdata/**\"]").whoseAgent("secret")
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Use the key of the tests.")).Result)
	assert.Len(t, w.commits(), 3)
}

func TestAnAgentHidesNothingByForgingWhatTheBranchHas(t *testing.T) {
	t.Parallel()
	for how := range forgeries {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t).whoseAgent(how)
			rep := w.gives(model.ResultBlocked, w.handle(w.say("alice", "Hide it well.")))
			assert.Contains(t, []string{model.ReasonSecret, model.ReasonForbidden}, rep.BlockedReason, rep.Reason)
			assert.Len(t, w.commits(), 1)
		})
	}
}

// fiftyComments is one review with fifty of them.
func fiftyComments(t *testing.T) (*world, model.Event) {
	w := newWorld(t)
	comments := slices.Repeat([]object{{"path": "greeting.txt", "line": 2, "body": "Why?"}}, 50)
	return w, w.judges("alice", object{"event": "COMMENT", "body": "", "comments": comments})
}

func TestAnswersThatAreTooLongAreAskedForOnceMoreInShort(t *testing.T) {
	w, ev := fiftyComments(t)
	w.agent = "wordy"
	w.done(w.handle(ev))
	w.settled(50, 1, 1)
	assert.Equal(t, 2, w.calls())
	assert.Contains(t, w.replies()[0]["body"], "In short: yes.")
}

func TestAnswersThatStayTooLongAreCutAndNameTheSettingThatHelps(t *testing.T) {
	w, ev := fiftyComments(t)
	w.agent = "stubborn"
	w.done(w.handle(ev))
	w.settled(50, 1, 0)
	assert.Equal(t, 2, w.calls())
	assert.Contains(t, w.replies()[49]["body"], "*(cut here: what the agent says is longer)*")
	assert.Contains(t, w.receipt(), "a lower [feedback] max_per_turn splits them into several turns")
}
