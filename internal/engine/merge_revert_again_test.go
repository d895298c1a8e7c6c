package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// opening matches the write that opens a pull request.
func opening(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/pulls") }

// undoneUntil is a revert whose run dies after a write, and the event of its command.
func undoneUntil(t *testing.T, write func(*http.Request) bool, more ...string) (*world, model.Event) {
	t.Helper()
	w := merged(t, more...)
	return w, w.undoUntil(write)
}

// undoUntil asks for a revert whose run dies after a write.
func (w *world) undoUntil(write func(*http.Request) bool) model.Event {
	w.t.Helper()
	w.gate.revive()
	w.gate.when(diesAfter, write)
	ev := w.say("carol", "/mergexo revert")
	w.dies(ev)
	return ev
}

// lastSaid is the newest comment on the pull request.
func (w *world) lastSaid() string {
	w.t.Helper()
	all := w.comments()
	return all[len(all)-1]["body"].(string)
}

// closedRevert is a merge whose revert was asked for, opened and closed.
func closedRevert(t *testing.T) *world {
	t.Helper()
	w := merged(t)
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo revert").Result)
	w.api("octo", "PATCH", w.path("/pulls/2"), object{"state": "closed"})
	return w
}

// reverts sees that one revert is open, from this branch, that the command is answered with it, and how many pull requests there are.
func (w *world) reverts(branch string, pulls int) {
	w.t.Helper()
	open := w.opened()
	require.Len(w.t, open, 1, w.lastSaid())
	assert.Equal(w.t, branch, open[0].at("head", "ref"))
	assert.Contains(w.t, w.lastSaid(), fmt.Sprintf("**Opened a revert:** [#%v]", open[0]["number"]))
	assert.Len(w.t, w.list("octo", w.path("/pulls?state=all")), pulls)
}

// since gives the base another commit, and lets the next run go on with the command.
func (w *world) since(ev model.Event) {
	w.t.Helper()
	w.moveOn()
	w.recover(ev)
}

// The run that goes on for one that died finds what that one has pushed and opened, also where the base has moved meanwhile.
func TestRevertGoesOnWhereTheBaseMovedMeanwhile(t *testing.T) {
	each(t, map[string]func(*http.Request) bool{"pushed": isPush, "opened": opening}, func(t *testing.T, _ string, write func(*http.Request) bool) {
		w, ev := undoneUntil(t, write)
		was := w.at("mergexo/revert-1")
		require.NotEmpty(t, was)
		w.since(ev)
		w.reverts("mergexo/revert-1", 2)
		assert.Equal(t, was, w.at("mergexo/revert-1"), "what was pushed stays")
		assert.Empty(t, w.at("mergexo/revert-1-2"))
		assert.Len(t, w.marked("command", ""), 1)
	})
}

// Once its pull request is open, a revert is answered with it, whatever happened to the base, the branch or the pull request since.
func TestRevertIsAnsweredWithThePullRequestThatADeadRunOpened(t *testing.T) {
	each(t, map[string]func(w *world){
		"later changes conflict": func(w *world) { w.write("octo", "main", "greeting.txt", "hello\nall of you\n") },
		"it is merged, and its branch is gone": func(w *world) {
			w.api("octo", "PUT", w.path("/pulls/2/merge"), object{"merge_method": "squash"})
			w.branchGone("mergexo/revert-1")
		},
		"somebody pushed to it": func(w *world) { w.write("alice", "mergexo/revert-1", "more.txt", "more\n"); w.moveOn() },
	}, func(t *testing.T, _ string, since func(w *world)) {
		w, ev := undoneUntil(t, opening)
		require.Len(t, w.opened(), 1)
		since(w)
		w.recover(ev)
		assert.Contains(t, w.lastSaid(), "**Opened a revert:** [#2]")
		assert.Len(t, w.list("octo", w.path("/pulls?state=all")), 2)
	})
}

// The name of a branch is used again once it is free. A pull request that another command opened from it is no answer.
func TestRevertIsNotAnsweredWithAPullRequestOfAnotherCommand(t *testing.T) {
	each(t, map[string]func(*http.Request) bool{"pushed": isPush, "opened": opening}, func(t *testing.T, _ string, write func(*http.Request) bool) {
		w := closedRevert(t)
		w.branchGone("mergexo/revert-1")
		ev := w.undoUntil(write)
		require.NotEmpty(t, w.at("mergexo/revert-1"))
		w.recover(ev)
		w.reverts("mergexo/revert-1", 3)
	})
}

// branchGone deletes a branch, as people and GitHub do once its pull request is over.
func (w *world) branchGone(name string) {
	w.t.Helper()
	w.api("octo", "DELETE", w.path("/git/refs/heads/"+name), nil)
}

// The branch of another command whose pull request is closed is left alone, although it has the same content: a run that dies, and
// a base that moves, make no second branch and no second pull request.
func TestRevertTakesNoBranchOfAnotherCommandThatIsClosed(t *testing.T) {
	w := closedRevert(t)
	w.since(w.undoUntil(opening))
	w.reverts("mergexo/revert-1-2", 3)
	assert.Empty(t, w.at("mergexo/revert-1-3"))
}

// While the pull request of another command is open, it is the answer to the same command.
func TestRevertThatIsAskedForTwiceIsOnePullRequest(t *testing.T) {
	w := merged(t)
	for range 2 {
		w.command("carol", "/mergexo revert")
		w.reverts("mergexo/revert-1", 2)
	}
	assert.Empty(t, w.at("mergexo/revert-1-2"))
}

// Who may push can write what a revert of ours says over another change. It is not opened in our name.
func TestRevertTakesNoBranchThatOnlySaysThatItIsTheSame(t *testing.T) {
	w, ev := undoneUntil(t, isPush)
	tip := w.at("mergexo/revert-1")
	evil := w.bareTold(w.bare("log", "-1", "--format=%B", tip), "commit-tree", w.evilTree(tip), "-p", tip+"~1", "-F", "-")
	w.moveRef("refs/heads/mergexo/revert-1", evil)
	w.since(ev)
	w.reverts("mergexo/revert-1-2", 2)
	w.lacks("mergexo/revert-1-2", "evil.txt")
}

// Another command is another revert: what it makes stands on the base as it is now.
func TestRevertThatIsAskedForAgainStandsOnTheBaseOfNow(t *testing.T) {
	w := closedRevert(t)
	w.moveOn()
	w.command("carol", "/mergexo revert")
	w.reverts("mergexo/revert-1-2", 3)
	assert.Equal(t, "meanwhile\n", w.fileOf("mergexo/revert-1-2", "meanwhile.txt"))
}
