//go:build all

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMarkersThatTheAgentCommitsItselfAreNotPushed(t *testing.T) {
	each(t, map[string]string{
		"merge+self-commits": "conflict markers are committed in greeting.txt",
		"merge+renames":      "conflict markers are committed in welcome.txt",
	}, func(t *testing.T, how string, says string) {
		w, ev := behind(t, how, "greeting.txt", "hello\nmoon\n")
		w.blocked("tests_failed", w.handle(ev))
		assert.Contains(t, w.saidOnce("block", ""), says)
		assert.Equal(t, []string{"Write greeting.txt"}, w.commits())
	})
}

func TestAClaimLastsAsLongAsItsErrands(t *testing.T) {
	w := newWorld(t, "", "[feedback]\nrepair_rounds = 0")
	w.agentSetting(`timeout = "1m"`, `timeout = "30m"`)
	w.agent = "patient"
	ev := w.remark("alice", "Answer me.")
	e := w.engine()
	e.Now = func() time.Time { // every call of the agent takes 29 of its 30 minutes
		return w.now.Add(time.Duration(w.calls()) * 29 * time.Minute)
	}
	rep := w.by(e, ev)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.settled(1, 1, 1)
	assert.Equal(t, 4, w.calls(), "three errands, and the answer")
}

func TestASessionThatIsNotNamedAgainIsKeptForTheNextRound(t *testing.T) {
	w := newWorld(t).whoseAgent("remembers")
	for _, text := range []string{"One.", "Two."} {
		w.done(w.handle(w.say("alice", text)))
	}
	assert.Equal(t, 3, w.calls(), "the second turn has an errand")
	assert.Contains(t, w.marked("turn", "done")[1]["body"], "call 3 is in session s1")
}

func TestWhatGitOverlooksDoesNotMakeTheTestsPass(t *testing.T) {
	each(t, map[string]string{"commits+skips": "greeting.txt", "commits+excludes": "left.txt"}, func(t *testing.T, how string, file string) {
		w := newWorld(t, fmt.Sprintf(`required_tests = ["grep", "fixed", %q]`, file), "[feedback]\nrepair_rounds = 0").whoseAgent(how)
		w.blocked("tests_failed", w.handle(w.remark("alice", "Answer me.")))
		assert.Len(t, w.commits(), 1)
	})
}

func TestMoreTextThanIsCheckedForSecretsIsNotPushed(t *testing.T) {
	w := newWorld(t).whoseAgent("vast")
	assert.Contains(t, w.blocked(model.ReasonSecret, w.handle(w.say("alice", "Leave room."))).Reason, "the commits could not be checked for secrets: more than 16 MB of text; allow_secrets exempts files")
	assert.Len(t, w.commits(), 1)
	assert.Empty(t, w.stages())

	w = newWorld(t, "", "[feedback]\nallow_secrets = [\"?.txt\"]").whoseAgent("vast")
	w.done(w.handle(w.say("alice", "Leave room for tests.")))
	assert.Len(t, w.commits(), 2)
}

func TestAMergeSurvivesAReplay(t *testing.T) {
	w, ev := behind(t, "merge", "news.txt", "news\n")
	w.meanwhile(w.push("bob"))
	w.done(w.handle(ev))
	diff := w.api("octo", "GET", w.path("/compare/main..."+w.tip()), nil)
	assert.Equal(t, "ahead", diff["status"], "the pull request contains main as it was merged: %v", w.commits())
	assert.Contains(t, w.commits(), "Merge branch 'main' into agent/greet")
	assert.Equal(t, "bob\n", w.file("other.txt"))
	assert.Equal(t, "news\n", w.file("news.txt"))
	assert.Equal(t, 2, w.calls(), "none for the replay")
}
