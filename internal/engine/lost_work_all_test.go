//go:build all

package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// outage has GitHub refuse requests of git as one that is overloaded does, once the first so many have passed.
func (w *world) outage(method, service string, skip, times int) deed {
	w.t.Helper()
	body := must.Get(json.Marshal(object{"match": object{"method": method, "path": "/" + repo.String() + "*" + service}, "status": 503, "skip": skip, "times": times}))(w.t)
	return deed{"octo", "PUT", "/_sandbox/faults", string(body)}
}

func TestAStageThatDoesNotGetThroughIsNotSaidToBeThere(t *testing.T) {
	w := newWorld(t)
	w.meanwhile(w.outage("GET", "info/refs", 0, 6))
	ev := w.remark("alice", "Answer me.")
	w.gives(model.ResultRetry, w.handle(ev))
	assert.Empty(t, w.stages())
	assert.Empty(t, w.marked("turn", "planned"), "planned says that the work is on GitHub")
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
}

func TestAReplayThatCannotBeStagedKeepsWhatIsRecorded(t *testing.T) {
	w := newWorld(t)
	w.meanwhile(w.push("bob"))
	ev := w.remark("alice", "Answer me.")
	w.before(isPush, func() { // the first stage gets through; the next push finds the server down
		o := w.outage("POST", "git-receive-pack", 1, 4)
		w.send(o.Login, o.Method, o.Path, json.RawMessage(o.Body))
	})
	w.gives(model.ResultRetry, w.handle(ev))
	w.gate.revive()
	planned := w.saidOnce("turn", "planned")
	stages := w.stages()
	require.Len(t, stages, 2, "the work as it was before the replay")
	assert.Contains(t, planned, "The work so far is kept as [`"+stages[0][:10]+"`]")

	w.done(w.handle(ev))
	w.settled(1, 1, 2)
	assert.Equal(t, []string{"Write greeting.txt", "Somebody's", "Answer, in words of call 1"}, w.commits())
	assert.Equal(t, 1, w.calls(), "the recorded work is published")
}

func TestAnOutageInTheMiddleOfATurnLosesNoWork(t *testing.T) {
	w := newWorld(t).whoseAgent("commits+insist")
	w.meanwhile(w.outage("GET", "info/refs", 0, 1))
	ev := w.remark("alice", "Answer me.")
	w.gives(model.ResultRetry, w.handle(ev))
	branch, subjects := w.kept()
	assert.Equal(t, []string{"Agent's one", "Agent's two"}, subjects)
	assert.Contains(t, w.saidOnce("turn", "started"), w.linkOf(branch))
	assert.Empty(t, w.marked("turn", "failed"), "it is not the agent's fault")
	w.recovers(ev, false)
}

func TestTestsThatBreakTheCheckoutOfAReplayAreGotOver(t *testing.T) {
	mended := filepath.Join(t.TempDir(), "mended")
	w := newWorld(t, fmt.Sprintf(`required_tests = ["sh", "-c", "test -e %s || test ! -e other.txt || rm -rf .git"]`, mended))
	w.meanwhile(w.push("bob"))
	ev := w.remark("alice", "Answer me.")
	w.ended(model.ResultFailed, "not a git repository", w.handle(ev))
	assert.Equal(t, []string{"Write greeting.txt", "Somebody's"}, w.commits())
	assert.Empty(t, w.replies())

	require.NoError(t, os.WriteFile(mended, nil, 0o600))
	w.agent = "answer"
	w.done(w.handle(ev))
	assert.Equal(t, []string{"Write greeting.txt", "Somebody's", "Checkpoint of work on pull request 1", "Answer, in words of call 2"}, subjectsOf(w.commits()))
	assert.Len(t, w.replies(), 1)
	assert.Len(t, w.marked("turn", ""), 1, "the receipt")
	assert.Len(t, w.stages(), 2, "the branch has moved, so it was another turn: the stage of the one before is a checkpoint")
	assert.Contains(t, w.handle(ev).Reason, "nothing is pending")
}

func TestACheckpointIsLinkedThoughAnotherRunBlockedFirst(t *testing.T) {
	w := newWorld(t).whoseAgent("commits+stuck")
	w.handle(w.delivery("pull_request"))
	pr := w.marked("pr", "")[0]
	ev := w.remark("alice", "Answer me.")
	w.before(isPush, func() { // the checkpoint
		w.api("bob", "PATCH", w.path(fmt.Sprintf("/issues/comments/%d", pr.id())), object{"body": pr["body"].(string) + "!"})
		w.blocked("marker_edited", w.beside(ev))
	})
	w.blocked("agent_blocked", w.handle(ev))
	branch, subjects := w.kept()
	assert.Equal(t, []string{"Agent's one", "Agent's two"}, subjects)
	assert.Contains(t, w.conversation(), w.linkOf(branch))
	assert.Contains(t, w.conversation(), "Formal or not?", "the agent's question")
}

func TestACheckpointInTheMiddleOfAMergeSaysSo(t *testing.T) {
	w, ev := behind(t, "merge+despairs", "greeting.txt", "hello\nmoon\n")
	w.ended(model.ResultFailed, "no model today", w.handle(ev))
	branch, _ := w.kept()
	require.Contains(t, w.fileOf(branch, "greeting.txt"), "<<<<<<<")
	said := w.saidOnce("turn", "failed")
	assert.Contains(t, said, w.linkOf(branch))
	assert.Contains(t, said+w.bare("log", "-1", "--format=%B", branch), "conflict markers", "who goes on from there has to know")
}
