package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// merged is a pull request that was merged, and a base that went on since.
func merged(t *testing.T, more ...string) *world {
	t.Helper()
	return begin(t, "merged "+strings.Join(more, "\n"), func() *world {
		w := newMerge(t, more...)
		w.write("octo", "main", "other.txt", "meanwhile\n")
		require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result)
		w.write("octo", "main", "later.txt", "since then\n")
		return w
	})
}

// opened are the open pull requests.
func (w *world) opened() []object {
	w.t.Helper()
	return w.list("octo", w.path("/pulls?state=open"))
}

func TestRevertOpensAPullRequestThatTakesItBack(t *testing.T) {
	w := merged(t, `tests = ["sh", "-c", "test \"$(cat greeting.txt)\" != \"\""]`).landsNothing() // behind anybody's back
	w.done(w.command("carol", "/mergexo revert"))
	w.reverts("mergexo/revert-1", 2)
	assert.Equal(t, "hello\n", w.fileOf("mergexo/revert-1", "greeting.txt"))
	assert.Equal(t, "since then\n", w.fileOf("mergexo/revert-1", "later.txt"))
	assert.Contains(t, w.opened()[0]["body"], "#1")
	assert.Contains(t, w.opened()[0]["title"], "Greet people")
}

func TestRevertOfWhatGitHubMerged(t *testing.T) {
	every(t, []string{"merge", "squash", "rebase"}, func(t *testing.T, method string) {
		w := newMerge(t)
		w.write("octo", "main", "other.txt", "meanwhile\n")
		w.write("octo", w.head, "second.txt", "a second commit\n")
		w.api("octo", "PUT", w.pull("/merge"), object{"merge_method": method})
		w.write("octo", "main", "later.txt", "since then\n")
		w.done(w.command("carol", "/mergexo revert"))
		require.Len(t, w.opened(), 1, "%s", w.lastSaid())
		tree := w.bare("ls-tree", "--name-only", "mergexo/revert-1")
		assert.NotContains(t, tree, "second.txt")
		assert.Contains(t, tree, "later.txt")
	})
}

func TestRevertThatCannotBeDone(t *testing.T) {
	type row struct {
		more []string
		do   func(w *world)
		says string
		ends model.Result
	}
	each(t, map[string]row{
		"tests fail":     {[]string{`tests = ["sh", "-c", "grep world greeting.txt"]`}, func(*world) {}, "grep world", model.ResultBlocked},
		"conflicts":      {nil, func(w *world) { w.write("octo", "main", "greeting.txt", "hello\nall of you\n") }, "greeting.txt", model.ResultBlocked},
		"already undone": {nil, func(w *world) { w.write("octo", "main", "greeting.txt", "hello\n") }, "nothing", model.ResultDone},
	}, func(t *testing.T, _ string, c row) {
		w := merged(t, c.more...)
		c.do(w)
		rep := w.command("carol", "/mergexo revert")
		assert.Equal(t, c.ends, rep.Result, rep.Reason)
		assert.Empty(t, w.opened())
		assert.Empty(t, w.at("mergexo/revert-1"))
		assert.Contains(t, w.lastSaid(), c.says)
	})
}

func TestRevertDeathAfterAnyWriteIsMadeGood(t *testing.T) {
	w := merged(t)
	ev := w.say("carol", "/mergexo revert")
	dead := w.wrecks(func() { w.done(w.handle(ev)) })
	last := w.gate.writes
	dead.each(t, writes(1, last, 2, last-1), func(t *testing.T, w *world, _ int) {
		w.recover(ev)
		assert.Len(t, w.opened(), 1)
		assert.Len(t, w.marked("command", ""), 1)
		assert.Empty(t, w.at("mergexo/revert-1-2"))
	})
}

// A revert of what GitHub merged onto a base that had moved meanwhile takes back nothing of others.
func TestRevertOfWhatGitHubMergedOntoAMovedBase(t *testing.T) {
	w := newMerge(t, `strategy = "api"`)
	w.before(byGitHub, func() { w.write("octo", "main", "theirs.txt", "theirs\n") })
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result)
	w.gate.revive()
	require.Contains(t, w.bare("ls-tree", "--name-only", "main"), "theirs.txt")
	w.command("carol", "/mergexo revert")
	require.Len(t, w.opened(), 1)
	assert.Contains(t, w.bare("ls-tree", "--name-only", "mergexo/revert-1"), "theirs.txt")
	assert.Equal(t, "hello\n", w.fileOf("mergexo/revert-1", "greeting.txt"))
}

// What was reverted is brought back by reverting the revert.
func TestRevertOfARevert(t *testing.T) {
	w := merged(t)
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo revert").Result)
	w.number, w.head = 2, "mergexo/revert-1"
	w.approve("alice")
	w.done(w.command("carol", "/mergexo merge"))
	require.Equal(t, "hello\n", w.fileOf("main", "greeting.txt"))
	w.command("carol", "/mergexo revert")
	w.reverts("mergexo/revert-2", 3)
	assert.Equal(t, "hello\nworld\n", w.fileOf("mergexo/revert-2", "greeting.txt"))
}
