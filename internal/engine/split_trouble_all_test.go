//go:build all

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// blockedBeside is an open pull request with another one beside it, whose agent waits for a decision.
func blockedBeside(t *testing.T) (w *world, other int) {
	w = newWorld(t)
	number, head := w.number, w.head
	w.number, w.head = w.another("agent/other"), "agent/other"
	w.agent = "stuck"
	require.Equal(t, model.ResultBlocked, w.handle(w.remark("alice", "Answer me there.")).Result)
	other, w.number, w.head, w.agent = w.number, number, head, "answer"
	return w, other
}

func TestACommandForAnotherPullRequestLosesNoHandoff(t *testing.T) {
	w, other := blockedBeside(t)
	ev := w.remark("alice", "Answer me.")
	dir := w.prepared(ev)
	w.talk("carol", fmt.Sprintf("/mergexo unblock pr=%d", other))
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	w.settled(1, 1, 1)
	assert.Equal(t, 2, w.calls(), "one on each pull request")
}

func TestAJobThatDiedIsChargedToItsOwnPullRequest(t *testing.T) {
	w, other := blockedBeside(t)
	ev := w.remark("alice", "Answer me.")
	w.talk("carol", fmt.Sprintf("/mergexo unblock pr=%d", other))
	w.ended(model.ResultFailed, "turn on pull request 1 failed, attempt 1 of 3: the agent's job handed over nothing", w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none")))
	assert.Contains(t, w.conversation(), "handed over nothing")
	w.number = other
	assert.NotContains(t, w.conversation(), "handed over nothing", "nobody handed anything over for that one")
}

func TestAJobThatDiedOverTheOperationsIssueIsChargedToNobody(t *testing.T) {
	w := newWorld(t).whoseAgent("stuck")
	require.Equal(t, model.ResultBlocked, w.handle(w.remark("alice", "Answer me.")).Result)
	issue := int(w.api("octo", "POST", w.path("/issues"), object{"title": "Operations"})["number"].(float64))
	w.setting(fmt.Sprintf("operations_issue = %d", issue))
	w.api("carol", "POST", w.path(fmt.Sprintf("/issues/%d/comments", issue)), object{"body": "/mergexo unblock pr=1"})
	ev := w.delivery("issue_comment")
	w.ended(model.ResultRetry, "1 comment on pull request 1 wait for an agent phase", w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none")))
	assert.NotContains(t, w.conversation(), "handed over nothing")
}

func TestAnOutageInTheAgentsPhaseIsNoAttempt(t *testing.T) {
	w, ev := commented(t)
	dir := filepath.Join(t.TempDir(), "handoff")
	w.gate.bury(diesFirst)
	w.gives(model.ResultRetry, w.phase(thread.AgentPhase, ev, dir))
	w.gate.revive()
	w.gives(model.ResultRetry, w.phase(thread.ApplyPhase, ev, dir))
	assert.Empty(t, w.marked("turn", ""))
	require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, w.prepared(ev)).Result)
	w.settled(1, 1, 1)
}

func TestAHandoffThatTheAgentPlantsIsNotTaken(t *testing.T) {
	w, ev := commented(t)
	planted, dir := w.prepared(ev), filepath.Join(t.TempDir(), "handoff")
	require.NoError(t, os.WriteFile(w.log+".plants", []byte(planted+" "+dir), 0o600))
	w.agent = "plants"
	w.done(w.phase(thread.AgentPhase, ev, dir))
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	w.settled(0, 1, 0) // this agent itself says and does nothing
}

func TestAFastForwardBetweenThePhasesLosesNoWork(t *testing.T) {
	w, ev := commented(t)
	dir := w.prepared(ev)
	w.write("bob", w.head, "by-bob.txt", "bob\n")
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	w.settled(1, 1, 2)
	assert.Equal(t, []string{"Write greeting.txt", "Write by-bob.txt", "Answer, in words of call 1"}, w.commits())
	assert.Equal(t, "bob\n", w.file("by-bob.txt"))
	assert.Equal(t, "hello\nworld\nanswered\n", w.file("greeting.txt"))
	assert.Equal(t, 1, w.calls())
}

// What the agent says may be nothing that can be handed over. Its commits are.
func TestCommitsAreHandedOverWhoseOutcomeCannotBe(t *testing.T) {
	w, ev := commented(t, "commits+costly")
	dir := w.prepared(ev)
	assert.FileExists(t, filepath.Join(dir, "commits.bundle"))
	w.ended(model.ResultFailed, "usage", w.phase(thread.ApplyPhase, ev, dir))
	kept := strings.Fields(w.bare("for-each-ref", "--format=%(refname)", "refs/heads/mergexo/checkpoint"))
	require.Len(t, kept, 1)
	assert.Contains(t, w.bare("log", "--format=%s", kept[0]), "Agent's two")
	assert.Contains(t, w.conversation(), strings.TrimPrefix(kept[0], "refs/heads/"))
}
