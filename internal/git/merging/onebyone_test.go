package merging_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

// Two people work from the same commit, and one of them pulls: the branch is an ordinary one, and the base has not moved.
func TestABranchThatMergesASideBranchLands(t *testing.T) {
	r := gittest.OneRepo(t)
	root := r.Commit("root", gittest.Texts("f", gittest.Numbers(20)))
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20, "1", "one")), root)
	b := r.Commit("b", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), root)
	head := r.Commit("Merge branch 'g'", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty")), a, b)
	for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
		made := r.Must(merging.Request{Strategy: strategy, Base: root, Head: head})
		assert.Equal(t, strategy, made.Strategy)
		assert.ElementsMatch(t, []string{a, b}, []string{made.Commits[0].Was, made.Commits[1].Was}, strategy)
		assert.Equal(t, root, r.Git("rev-parse", made.Tip+"~2"), "one after the other: %s", strategy)
		assert.Equal(t, r.Tree(head), made.Tree, strategy)
	}
	c := r.Commit("c", gittest.Texts("g", "g\n"), head)
	moved := r.Commit("moved", gittest.Texts("h", "h\n"), root)
	for _, base := range []string{root, moved} {
		made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: c})
		assert.Equal(t, 3, made.Count)
		assert.Equal(t, "c", r.Git("log", "-1", "--format=%s", made.Tip))
	}
}

// The base has made the file executable before it took the change over: that is the same change.
func TestATakenChangeOfAFileWithAnotherModeIsTheSame(t *testing.T) {
	r := gittest.OneRepo(t)
	root := r.Commit("root", gittest.Texts("f", gittest.Numbers(20)))
	h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), root)
	head := r.Commit("h2", gittest.Texts("g", "g\n"), h1)
	base := r.Commit("executable", map[string]gittest.Edit{"f": {Mode: "100755", Text: gittest.Numbers(20)}}, root)
	base = r.Commit("h1, taken", map[string]gittest.Edit{"f": {Mode: "100755", Text: gittest.Numbers(20, "5", "five")}}, base)
	base = r.Commit("again", map[string]gittest.Edit{"f": {Mode: "100755", Text: gittest.Numbers(20, "5", "FIVE")}}, base)
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
	assert.Equal(t, "h2", r.Log("%s", base, made.Tip))
	assert.Equal(t, []string{h1}, gittest.Shas(made.Dropped))
}

// Where a merge conflicts and a rebase does not, what git rebase makes lands; not where something would be lost.
func TestARebaseLandsWhereTheMergeConflicts(t *testing.T) {
	r := gittest.OneRepo(t)
	root := r.Commit("root", gittest.Texts("f", gittest.Numbers(20), "g", gittest.Numbers(20)))
	h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), root)
	side := r.Commit("side", gittest.Texts("s", "s\n"), root)
	taken := r.Commit("h1, taken", gittest.Texts("f", gittest.Numbers(20, "5", "five")), root)
	again := r.Commit("and changed again", gittest.Texts("f", gittest.Numbers(20, "5", "FIVE")), taken)
	undone := r.Commit("back", gittest.Texts("g", gittest.Numbers(20)), r.Commit("h3, taken", gittest.Texts("g", gittest.Numbers(20, "9", "nine")), again))
	joined := r.Commit("Merge branch 'side'", gittest.Texts("s", "s\n"), h1, side)
	h3 := r.Commit("h3", gittest.Texts("g", gittest.Numbers(20, "9", "nine")), joined)
	last := r.Commit("last", gittest.Texts("z", "z\n"), h3)
	for name, c := range map[string]struct{ base, head, want string }{
		"with a merge of a side branch":           {again, joined, "side"},
		"what the base took and gave up is its":   {undone, last, "side\nlast"},
		"the same change in another commit":       {r.Commit("more", gittest.Texts("f", gittest.Numbers(20, "5", "FIVE"), "s", "s\n", "t", "t\n"), again), last, "h3\nlast"},
		"a plain branch, and nothing but a twin ": {again, r.Commit("x", gittest.Texts("x", "x\n"), h1), "x"},
	} {
		_, ok := r.Merge(c.base, c.head)
		require.False(t, ok, "%s: git merge sees a conflict", name)
		made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: c.base, Head: c.head})
		assert.Equal(t, model.StrategyRebase, made.Strategy, name)
		assert.Equal(t, c.want, r.Log("%s", c.base, made.Tip), name)
	}
	evil := r.Commit("Merge branch 'side'", gittest.Texts("s", "s\n", "more", "m\n"), h1, side)
	for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
		_, err := r.Build(merging.Request{Strategy: strategy, Base: again, Head: evil})
		require.ErrorAs(t, err, new(*merging.ErrConflict), "what only the merge commit has would be lost: %s", strategy)
	}
	gittest.Must(r.Build(merging.Request{Strategy: model.StrategyRebase, Base: taken, Head: r.Commit("h2", gittest.Texts("f", gittest.Numbers(20, "5", "other")), h1)}))(t)
}
