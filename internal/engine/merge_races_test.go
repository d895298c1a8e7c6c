package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// waitingThenApproved is a request that waits, and the event of what it waits for.
func waitingThenApproved(t *testing.T) (*world, model.Event) {
	t.Helper()
	w := begin(t, "waiting then approved", func() *world {
		w := newWorld(t, "", "[merge]\ntests = \"none\"")
		w.write("octo", "main", "other.txt", "meanwhile\n")
		w.command("carol", "/mergexo merge")
		require.Equal(t, []string{"in_approval APPROVAL_MISSING"}, w.merges())
		w.approve("alice")
		return w
	})
	return w, w.delivery("pull_request_review")
}

// beside lets another process take an event while one is at work. What it reports is what it found there.
func (w *world) beside(ev model.Event) model.Report {
	w.t.Helper()
	rep, err := w.engine().Handle(context.Background(), ev)
	assert.NoError(w.t, err)
	return rep
}

// beforeWrite lets something happen before the n-th write, which has to come.
func (w *world) beforeWrite(n int, do func()) {
	came := false
	w.t.Cleanup(func() { assert.True(w.t, came, "there is no write %d", n) })
	w.gate.at = func(i int, _ *http.Request) fate {
		if i == n {
			came = true
			do()
		}
		return passes
	}
}

// before lets something happen before the first write that matches, which has to come.
func (w *world) before(match func(*http.Request) bool, do func()) {
	came := false
	w.t.Cleanup(func() { assert.True(w.t, came, "there is no such write") })
	w.gate.at = func(_ int, r *http.Request) fate {
		if !came && match(r) {
			came = true
			do()
		}
		return passes
	}
}

// requests matches requests by their method and a part of their path.
func requests(method, path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.Contains(r.URL.Path, path) }
}

// isEdit matches the edit of a comment.
var isEdit = requests(http.MethodPatch, "/issues/comments/")

// beforeEdit lets something happen before the first edit of a comment.
func (w *world) beforeEdit(do func()) { w.before(isEdit, do) }

// afterWrite lets something happen once the n-th write is applied, which has to come, and before it is answered.
func (w *world) afterWrite(n int, do func()) {
	w.t.Cleanup(func() { assert.Nil(w.t, w.gate.after, "there is no write %d", n) })
	w.gate.after = func(i int) {
		if i == n {
			w.gate.after = nil
			do()
		}
	}
}

// mergedOnce says that the pull request is merged, once, and that nothing more is to come of it.
func (w *world) mergedOnce(ev model.Event, base string) {
	w.t.Helper()
	w.over(w.runs - 1)
	w.gate.revive()
	w.handle(ev)
	assert.Equal(w.t, "merged", w.badge())
	assert.Equal(w.t, []string{"done"}, w.merges())
	assert.Len(w.t, strings.Fields(w.bare("rev-list", base+"..main")), 1)
	assert.Empty(w.t, w.stages())
	assert.Len(w.t, w.comments(), 2)
}

// A second process that takes up the same request between what the first has read and its claim meets the lock.
func TestMergeOfOneRequestByTwoProcesses(t *testing.T) {
	w, ev := waitingThenApproved(t)
	base := w.at("main")
	w.beforeEdit(func() {
		rep := w.beside(ev)
		assert.Equal(t, model.ResultRetry, rep.Result, "the first one has the lock: %s", rep.Reason)
	})
	w.done(w.handle(ev))
	w.mergedOnce(ev, base)
}

// Who has the lock and took too long lands nothing, also where nobody is at it: somebody may be, in the next moment.
func TestMergeWhoseClaimHasExpiredLandsNothing(t *testing.T) {
	w := newMerge(t)
	w.moveOn()
	w.landsNothing().beforeGitPush(1, func() { w.later(48 * time.Hour) }) // the lock
	w.gives(model.ResultRetry, w.command("carol", "/mergexo merge"))
	assert.NotEqual(t, "merged", w.badge())
}

// The claim ends after the record says what is about to land: the next run lands it.
func TestMergeWhoseClaimExpiresOnceItIsRecordedLandsNothing(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	before := w.at("main")
	w.beforeEdit(func() { w.later(48 * time.Hour) })
	ev := w.say("carol", "/mergexo merge")
	w.ended(model.ResultRetry, "the claim of this run on the merge of pull request", w.handle(ev))
	assert.Equal(t, before, w.at("main"))
	w.done(w.handle(ev))
	w.mergedOnce(ev, before)
}

// A request that is taken back between what a process has read and its claim is not merged, once the operator was told so.
func TestMergeThatIsTakenBackBeforeTheClaim(t *testing.T) {
	w, ev := waitingThenApproved(t)
	w.landsNothing().beforeEdit(func() { w.beside(w.say("carol", "/mergexo merge cancel")) })
	w.handle(ev)
	said := w.marked("command", "")
	require.NotEmpty(t, said)
	require.Contains(t, said[len(said)-1]["body"], "Cancelled")
	w.gate.revive()
	w.handle(ev)
	assert.Equal(t, []string{"merge_failed CANCELLED"}, w.merges())
}

// A command that two processes answer in one moment is obeyed once, also where the first one is through with it by then.
func TestMergeCommandThatTwoProcessesAnswer(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	run := script(t, fmt.Sprintf("echo run >>%s; exit 1", log))
	w := newMerge(t, fmt.Sprintf("tests = [%q]", run))
	ev := w.say("carol", "/mergexo merge")
	w.beforeWrite(1, func() { w.beside(ev) })
	w.handle(ev)
	assert.Equal(t, []string{"merge_failed PRE_MERGE_FAILED"}, w.merges())
	assert.Equal(t, "run\n", string(contents(t, log)), "the command acted once")
}

// What is done is not undone in words by a process that had read the request while it waited.
func TestMergeThatIsDoneIsNotSaidToWait(t *testing.T) {
	w := unapproved(t)
	w.opinion("bob", "REQUEST_CHANGES")
	ev := w.delivery("pull_request_review")
	w.beforeEdit(func() {
		w.approve("bob")
		w.beside(w.delivery("pull_request_review"))
	})
	w.handle(ev)
	require.Equal(t, "merged", w.badge())
	w.gate.revive()
	w.handle(w.delivery("pull_request"))
	assert.Equal(t, []string{"done"}, w.merges())
}

// A pull request that gets another commit in the last moment stays open for it, and keeps its branch.
func TestMergeLeavesALateCommitOpen(t *testing.T) {
	w := newMerge(t)
	w.beforeGitPush(2, func() { w.write("alice", w.head, "late.txt", "late\n") }) // lock, base
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "open", w.badge())
	assert.Equal(t, "late\n", w.file("late.txt"))
	assert.NotContains(t, w.bare("ls-tree", "--name-only", "main"), "late.txt")
}

// A push of the base whose fate nobody knew lands late; the next run says that it is merged.
func TestMergeThatLandsLate(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.gate.pushes(lost, func(n int) bool { return n >= 3 }) // lock, head, base
	w.command("carol", "/mergexo merge")
	w.gate.revive()
	require.Equal(t, "open", w.badge())
	w.api("octo", "PATCH", w.path("/git/refs/heads/main"), object{"sha": w.tip()})
	require.Equal(t, "merged", w.badge())
	w.handle(w.delivery("pull_request"))
	assert.Equal(t, []string{"done"}, w.merges())
}

// A lock that was taken from a run that died is a lock.
func TestMergeLockThatWasTakenFromADeadRunHolds(t *testing.T) {
	w := newMerge(t)
	first := w.number
	second := w.second("agent/second", "second.txt")
	w.approve("alice")
	w.number, w.head = first, "agent/greet"
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.gate.when(diesAfter, isPush)
	ev := w.say("carol", "/mergexo merge")
	w.dies(ev)
	require.NotEmpty(t, w.stages())
	w.number = second
	theirs := w.say("carol", "/mergexo merge")
	var inner model.Report
	w.beforeGitPush(3, func() { inner = w.beside(ev) }) // the lock is there, so it is taken over, then the head
	rep := w.handle(theirs)
	assert.Equal(t, model.ResultDone, rep.Result, "it had the lock: %s", rep.Reason)
	assert.Equal(t, model.ResultRetry, inner.Result, "another one had the lock: %s", inner.Reason)
}

// second opens a second pull request, with a file that has this text, which the world is about from then on.
func (w *world) second(branch, file string, text ...string) int {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": w.at("main")})
	w.write("octo", branch, file, cmp.Or(strings.Join(text, ""), "second\n"))
	w.head = branch
	w.number = int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Another", "head": branch, "base": "main"})["number"].(float64))
	w.later(time.Minute)
	return w.number
}

// twoToMerge are two approved pull requests with a command each, and the events of these.
func twoToMerge(t *testing.T) (w *world, one, two model.Event) {
	t.Helper()
	w = begin(t, "two to merge", func() *world {
		w := newMerge(t)
		w.second("agent/second", "second.txt")
		w.approve("alice")
		w.number = 1
		return w
	})
	one = w.say("carol", "/mergexo merge")
	w.number = 2
	return w, one, w.say("carol", "/mergexo merge")
}
