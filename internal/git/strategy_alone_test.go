package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// Two people work from the same commit, and one of them pulls: the branch is an ordinary one, and the base has not moved.
func TestABranchThatMergesASideBranchLands(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		root := r.commit("root", texts("f", numbers(20)))
		a := r.commit("a", texts("f", numbers(20, "1", "one")), root)
		b := r.commit("b", texts("f", numbers(20, "20", "twenty")), root)
		head := r.commit("Merge branch 'g'", texts("f", numbers(20, "1", "one", "20", "twenty")), a, b)
		for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
			made := r.must(git.Merge{Strategy: strategy, Base: root, Head: head})
			assert.Equal(t, strategy, made.Strategy)
			assert.ElementsMatch(t, []string{a, b}, []string{made.Commits[0].Was, made.Commits[1].Was}, strategy)
			assert.Equal(t, root, r.git("rev-parse", made.Tip+"~2"), "one after the other: %s", strategy)
			assert.Equal(t, r.tree(head), made.Tree, strategy)
		}
		c := r.commit("c", texts("g", "g\n"), head)
		moved := r.commit("moved", texts("h", "h\n"), root)
		for _, base := range []string{root, moved} {
			made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: c})
			assert.Equal(t, 3, made.Count)
			assert.Equal(t, "c", r.git("log", "-1", "--format=%s", made.Tip))
		}
	})
}

// The base has made the file executable before it took the change over: that is the same change.
func TestATakenChangeOfAFileWithAnotherModeIsTheSame(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		root := r.commit("root", texts("f", numbers(20)))
		h1 := r.commit("h1", texts("f", numbers(20, "5", "five")), root)
		head := r.commit("h2", texts("g", "g\n"), h1)
		base := r.commit("executable", map[string]edit{"f": {"100755", numbers(20)}}, root)
		base = r.commit("h1, taken", map[string]edit{"f": {"100755", numbers(20, "5", "five")}}, base)
		base = r.commit("again", map[string]edit{"f": {"100755", numbers(20, "5", "FIVE")}}, base)
		made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
		assert.Equal(t, "h2", r.log("%s", base, made.Tip))
		assert.Equal(t, []string{h1}, shas(made.Dropped))
	})
}

// Where a merge conflicts and a rebase does not, what git rebase makes lands; not where something would be lost.
func TestARebaseLandsWhereTheMergeConflicts(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		root := r.commit("root", texts("f", numbers(20), "g", numbers(20)))
		h1 := r.commit("h1", texts("f", numbers(20, "5", "five")), root)
		side := r.commit("side", texts("s", "s\n"), root)
		taken := r.commit("h1, taken", texts("f", numbers(20, "5", "five")), root)
		again := r.commit("and changed again", texts("f", numbers(20, "5", "FIVE")), taken)
		undone := r.commit("back", texts("g", numbers(20)), r.commit("h3, taken", texts("g", numbers(20, "9", "nine")), again))
		joined := r.commit("Merge branch 'side'", texts("s", "s\n"), h1, side)
		h3 := r.commit("h3", texts("g", numbers(20, "9", "nine")), joined)
		last := r.commit("last", texts("z", "z\n"), h3)
		for name, c := range map[string]struct{ base, head, want string }{
			"with a merge of a side branch":           {again, joined, "side"},
			"what the base took and gave up is its":   {undone, last, "side\nlast"},
			"the same change in another commit":       {r.commit("more", texts("f", numbers(20, "5", "FIVE"), "s", "s\n", "t", "t\n"), again), last, "h3\nlast"},
			"a plain branch, and nothing but a twin ": {again, r.commit("x", texts("x", "x\n"), h1), "x"},
		} {
			_, ok := r.merge(c.base, c.head)
			require.False(t, ok, "%s: git merge sees a conflict", name)
			made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: c.base, Head: c.head})
			assert.Equal(t, model.StrategyRebase, made.Strategy, name)
			assert.Equal(t, c.want, r.log("%s", c.base, made.Tip), name)
		}
		evil := r.commit("Merge branch 'side'", texts("s", "s\n", "more", "m\n"), h1, side)
		for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
			_, err := r.build(git.Merge{Strategy: strategy, Base: again, Head: evil})
			require.ErrorAs(t, err, new(*git.ErrConflict), "what only the merge commit has would be lost: %s", strategy)
		}
		_, err := r.build(git.Merge{Strategy: model.StrategyRebase, Base: taken, Head: r.commit("h2", texts("f", numbers(20, "5", "other")), h1)})
		require.NoError(t, err)
	})
}
