package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// readyToMerge is a pull request whose base went on, and the event of the command that merges it.
func readyToMerge(t *testing.T, strategy string) (*world, model.Event) {
	t.Helper()
	w := begin(t, "ready to merge", func() *world {
		w := newMerge(t, "tests = [\"true\"]", "[[merge.rule]]", "branch = \"agent/*\"", "strategy = \"rebase\"", "union_fields = [\"tags\"]")
		w.write("octo", "main", "other.txt", "meanwhile\n")
		return w
	})
	return w, w.say("carol", "/mergexo merge strategy="+strategy)
}

// ends is all of a merge that counts, without what differs from run to run.
func (w *world) ends() string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "pull request: %s, branch there: %t\n", w.badge(), w.at(w.head) != "")
	fmt.Fprintf(&b, "main:\n%s\n%s\n", w.bare("log", "--format=%an: %s%n%b", "--topo-order", "main"), w.bare("ls-tree", "-r", "main"))
	for _, c := range w.comments() {
		text, _, _ := strings.Cut(shown(c["body"]), "\n")
		fmt.Fprintf(&b, "== %s says %s\n", c.at("user", "login"), text)
	}
	fmt.Fprintf(&b, "requests: %v, hidden refs: %v\n", w.merges(), w.stages())
	return b.String()
}

func TestMergeDeathAfterAnyWriteIsMadeGood(t *testing.T) {
	diesAfterAnyWrite(t, model.StrategyRebase)
}

// diesAfterAnyWrite lets a process die after each write of a merge in turn. One that dies before a write leaves what one leaves
// that dies after the write before.
func diesAfterAnyWrite(t *testing.T, strategy string) {
	w, ev := readyToMerge(t, strategy)
	trees := []string{w.bare("rev-parse", "main^{tree}")}
	dead := w.wrecks(func() {
		w.done(w.handle(ev))
	})
	trees = append(trees, w.bare("rev-parse", "main^{tree}"))
	want, last := w.ends(), w.gate.writes
	require.Equal(t, "merged", w.badge())
	require.NotEqual(t, trees[0], trees[1])
	dead.each(t, writes(1, last, 2, 3, 5, 6, last-1), func(t *testing.T, w *world, _ int) {
		assert.Contains(t, trees, w.bare("rev-parse", "main^{tree}"), "the base is never wrong in between")
		rep := w.recover(ev)
		assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
		assert.Equal(t, want, w.ends())
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result, "nothing is left to do")
		assert.Equal(t, want, w.ends())
	})
}

// losesAnswer breaks the connection of a process at a write of a merge, once.
func losesAnswer(t *testing.T, strategy string, n int, how fate, want string) {
	w, ev := readyToMerge(t, strategy)
	w.gate.only(n, how)
	for range 3 { // what cannot be told is left to the next run
		if rep := w.handle(ev); rep.Result == model.ResultNothing {
			break
		}
	}
	assert.Equal(t, want, w.ends())
}
