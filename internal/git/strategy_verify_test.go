package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestTheGuardSeesWhatWouldRevertOthersWork(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		base, head := likeGit["two sides of a file"](r)
		a := r.git("rev-parse", base+"^")
		m := git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head}
		good := r.must(m)
		wrong := func(tip string) error {
			made := good
			made.Tip, made.Tree = tip, r.tree(tip)
			made.Commits = []model.Moved{{Commit: model.Commit{SHA: tip}, Was: head}}
			return r.c.Verify(ctx, m, made)
		}
		require.NoError(t, wrong(r.commit("the same by hand", texts("f", numbers(20, "1", "one", "20", "twenty")), base)))
		var changed *git.ErrChanged
		for name, tip := range map[string]string{
			"the head's tree, which takes back what the base did": r.commit("x", texts("f", numbers(20, "20", "twenty")), base),
			"a line too many":  r.commit("x", texts("f", numbers(20, "1", "one", "20", "twenty", "10", "ten")), base),
			"nothing":          r.commit("x", nil, base),
			"white space":      r.commit("x", texts("f", numbers(20, "1", "one", "20", "twenty ")), base),
			"a file too many":  r.commit("x", texts("f", numbers(20, "1", "one", "20", "twenty"), "g", "g\n"), base),
			"another mode":     r.commit("x", map[string]edit{"f": {"100755", numbers(20, "1", "one", "20", "twenty")}}, base),
			"no newline there": r.commit("x", texts("f", strings.TrimSuffix(numbers(20, "1", "one", "20", "twenty"), "\n")), base),
		} {
			require.ErrorAs(t, wrong(tip), &changed, name)
			assert.Contains(t, [][]string{{"f"}, {"g"}, {"f", "g"}}, changed.Paths, name)
		}
		require.ErrorContains(t, wrong(head), "does not grow from "+base)
		require.ErrorContains(t, wrong(r.commit("x", texts("f", numbers(20, "1", "one", "20", "twenty")), a)), "does not grow from "+base)
		lied := good
		lied.Tree = r.tree(a)
		require.ErrorContains(t, r.c.Verify(ctx, m, lied), "its tree is "+good.Tree)
	})
}

// A merge that was made with the wrong merge base, as a history that is cut off gives it, is seen as well.
func TestTheGuardSeesAWrongMergeBase(t *testing.T) {
	r := newRepo(t, gitPath())
	a := r.commit("a", texts("f", numbers(20), "g", "old\n"))
	b := r.commit("b", texts("g", "new\n"), a)
	head := r.commit("head", texts("f", numbers(20, "20", "twenty")), a)
	base := r.commit("base", texts("x", "x\n"), b)
	// As if head had begun at b, whose change of g it then seems to take back.
	tip := r.commit("x", texts("g", "old\n", "f", numbers(20, "20", "twenty")), base)
	var changed *git.ErrChanged
	require.ErrorAs(t, r.c.Verify(ctx, git.Merge{Strategy: model.StrategySquash, Base: base, Head: head}, git.Merged{Tip: tip, Tree: r.tree(tip), Count: 1}), &changed)
	assert.Equal(t, []string{"g"}, changed.Paths)

	require.NoError(t, r.c.Close())
	r.git("update-ref", "refs/heads/main", base)
	require.NoError(t, writeFile(r.dir+"/.git/shallow", b+"\n"))
	shallow, err := git.Open(ctx, git.Options{URL: "https://git.example/octo/widgets", Workspace: r.dir, Temp: t.TempDir(), Path: gitPath(), Identity: git.Identity{Name: "M", Email: "m@x"}, Now: epoch})
	require.NoError(t, err)
	defer func() { require.NoError(t, shallow.Close()) }()
	good := r.commit("y", texts("f", numbers(20, "20", "twenty")), base)
	require.ErrorContains(t, shallow.Verify(ctx, git.Merge{Strategy: model.StrategySquash, Base: base, Head: head}, git.Merged{Tip: good, Tree: r.tree(good), Count: 1}), "history is missing")
}

func TestTheGuardKnowsTheSameLinesAtAnotherPlace(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		block := "{\n\tone\n\ttwo\n\tthree\n}\n"
		a := r.commit("a", texts("f", block+block+block))
		head := r.commit("head", texts("f", block+strings.Replace(block, "two", "two\n\tmore", 1)+block), a)
		base := r.commit("base", texts("g", "g\n"), a)
		wrong := r.commit("x", texts("f", strings.Replace(block, "two", "two\n\tmore", 1)+block+block), base)
		made := git.Merged{Tip: wrong, Tree: r.tree(wrong), Count: 1, Commits: []model.Moved{{Commit: model.Commit{SHA: wrong}, Was: head}}}
		var changed *git.ErrChanged
		require.ErrorAs(t, r.c.Verify(ctx, git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head}, made), &changed)
		assert.Equal(t, []string{"f"}, changed.Paths)
	})
}

// The base has the first commit already and has changed its line once more, so that only picks tell what is to land.
func TestTheGuardMakesPicksOnceMoreWhereTheMergeIsAConflict(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		block := "{\n\tone\n\ttwo\n\tthree\n}\n"
		a := r.commit("a", texts("f", numbers(20), "g", block+block))
		h1 := r.commit("h1", texts("f", numbers(20, "5", "five")), a)
		h2 := r.commit("h2", texts("g", block+strings.Replace(block, "two", "two\n\tmore", 1)), h1)
		base := r.commit("again", texts("f", numbers(20, "5", "FIVE")), r.commit("picked", texts("f", numbers(20, "5", "five")), a))
		m := git.Merge{Strategy: model.StrategyRebase, Base: base, Head: h2}
		made := r.must(m)
		require.Equal(t, []string{h1}, shas(made.Dropped))
		for name, files := range map[string]map[string]edit{
			"at another place": texts("g", strings.Replace(block, "two", "two\n\tmore", 1)+block),
			"with the first":   texts("g", block+strings.Replace(block, "two", "two\n\tmore", 1), "f", numbers(20, "5", "five")),
		} {
			wrong := made
			wrong.Tip = r.commit("h2", files, base)
			wrong.Tree, wrong.Commits = r.tree(wrong.Tip), []model.Moved{{Commit: model.Commit{SHA: wrong.Tip}, Was: h2}}
			var changed *git.ErrChanged
			require.ErrorAs(t, r.c.Verify(ctx, m, wrong), &changed, name)
			assert.Equal(t, []string{"f"}, changed.Paths, name)
		}
		forgotten := made
		forgotten.Dropped = nil
		require.ErrorAs(t, r.c.Verify(ctx, m, forgotten), new(*git.ErrChanged))
	})
}

func TestACommitIsNotDroppedForTheSameLinesAtAnotherPlace(t *testing.T) {
	t.Parallel()
	r := newRepo(t, gitPath())
	a := r.commit("a", texts("f", "hello\n"))
	head := r.commit("head", texts("f", "hello\nworld\n"), a)
	base := r.commit("again", texts("f", "WORLD\nhello all\n"), r.commit("base", texts("f", "world\nhello\n"), a))
	_, err := r.build(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
	require.ErrorAs(t, err, new(*git.ErrConflict))
}

func TestSameMerge(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		start := texts("f", numbers(20), "hello", "hello\n", "bin", "\x00\x01\n\x02", "run", "#!\n", "LIST", "0\n", ".gitattributes", "LIST merge=union\n")
		a := r.commit("a", start)
		work := texts("f", numbers(20, "10", "ten"), "hello", "hello\nworld\n", "bin", "\x00\x01\n\x03", "LIST", "0\ntheirs\n")
		head := r.commit("two", work, r.commit("one", texts("f", numbers(20, "10", "TEN")), a))
		base := r.commit("base", texts("f", numbers(20, "1", "one"), "LIST", "0\nours\n"), a)
		on := texts("f", numbers(20, "1", "one", "10", "ten"), "hello", "hello\nworld\n", "bin", "\x00\x01\n\x03", "LIST", "0\nours\ntheirs\n")
		same := func(base, one, other string) bool {
			t.Helper()
			there, err := r.c.SameMerge(ctx, base, one, other)
			require.NoError(t, err)
			back, err := r.c.SameMerge(ctx, base, other, one)
			require.NoError(t, err)
			assert.Equal(t, there, back)
			return there
		}
		before := r.state()
		rebased := r.commit("rebased", on, base)
		assert.True(t, same(base, head, rebased))
		assert.True(t, same(base, head, r.commit("Merge branch 'main'", on, head, base)))
		assert.True(t, same(base, head, r.commit("in one", work, a)))
		assert.True(t, same(base, base, r.commit("nothing", nil, base)), "the base has one of them already")
		for name, other := range map[string]map[string]edit{
			"another place": texts("hello", "world\nhello\n"), "white space": texts("f", numbers(20, "1", "one", "10", "ten ")), "a binary": texts("bin", "\x00\x01\n\x04"),
			"a mode": {"run": {"100755", "#!\n"}}, "left out": texts("hello", "hello\n"), "more": texts("more", "more\n"), "a line end": texts("hello", "hello\nworld\r\n"), "a link": {"run": {git.ModeSymlink, "f"}},
			"what the base did": texts("f", numbers(20, "10", "ten")),
		} {
			assert.False(t, same(base, head, r.commit(name, other, rebased)), name)
		}
		conflicting := r.commit("conflicts", texts("f", numbers(20, "1", "eins")), a)
		assert.False(t, same(base, head, conflicting))
		assert.False(t, same(base, conflicting, conflicting), "nobody can say what either comes to")
		assert.False(t, same(base, head, r.commit("root", on)), "nothing in common")
		_, err := r.c.SameMerge(ctx, base, head, "main")
		require.ErrorContains(t, err, "not commit ids")
		_, err = r.c.SameMerge(ctx, base, head, strings.Repeat("1", 40))
		require.Error(t, err)
		assert.Equal(t, before, r.state())
	})
}

func TestRevertTakesBackWhatLanded(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", numbers(20), "gone", "g\n", ".gitattributes", "f text\n"))
		to := r.commit("two", texts("gone", "", "new", "\x00\n"), r.commit("one", texts("f", numbers(20, "10", "ten")), a))
		onto := r.commit("later", texts("f", numbers(20, "10", "ten", "20", "twenty")), to)
		before := r.state()
		made, err := r.c.Revert(ctx, a, to, onto, "Revert \"Title\"", "Reverts #7.")
		require.NoError(t, err)
		assert.Equal(t, onto+"|Revert \"Title\"\n\nReverts #7.", strings.TrimSpace(r.git("log", "-1", "--format=%P|%B", made.Tip)))
		assert.Equal(t, ".gitattributes\nf\ngone", r.git("ls-tree", "--name-only", made.Tip))
		assert.Equal(t, numbers(20, "20", "twenty"), r.git("show", made.Tip+":f")+"\n")
		assert.Equal(t, 1, made.Count)
		var empty *git.ErrEmpty
		_, err = r.c.Revert(ctx, a, to, made.Tip, "again", "")
		require.ErrorAs(t, err, &empty)
		var conflict *git.ErrConflict
		_, err = r.c.Revert(ctx, a, to, r.commit("in the way", texts("f", numbers(20, "10", "TEN")), onto), "no", "")
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, []git.ConflictFile{{Path: "f", Kind: "content", Hunks: []string{"<<<<<<< now\nTEN\n=======\n10\n>>>>>>> before"}}}, conflict.Files)
		assert.Equal(t, before, r.state())
	})
}

func TestLandedRange(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", numbers(20)))
		h1 := r.commit("h1", texts("f", numbers(20, "10", "ten")), a)
		head := r.commit("h2", texts("g", "g\n"), h1)
		base := r.commit("base", texts("f", numbers(20, "1", "one")), a)
		both := texts("f", numbers(20, "1", "one", "10", "ten"), "g", "g\n")
		r1 := r.commit("h1", texts("f", numbers(20, "1", "one", "10", "ten")), base)
		other := r.commit("unlike it", texts("g", "G\n"), base)
		for _, c := range []struct {
			name, merge, from string
			commits           int
		}{
			{"a merge commit", r.commit("Merge pull request #7", both, base, head), base, 2},
			{"a squash", r.commit("Title (#7)", both, base), base, 2},
			{"a rebase", r.commit("h2", texts("g", "g\n"), r1), base, 2},
			{"moved there by us", head, a, 2},
			{"neither", other, "", 2},
			{"a merge of something else", r.commit("Merge", both, base, h1), "", 2},
			{"a rebase of more", r.commit("h3", texts("h", "h\n"), r.commit("h2", texts("g", "g\n"), r1)), "", 3},
		} {
			from, to, err := r.c.LandedRange(ctx, c.merge, base, head, c.commits)
			if c.from == "" {
				require.ErrorContains(t, err, "it cannot be told", c.name)
				continue
			}
			require.NoError(t, err, c.name)
			assert.Equal(t, []string{c.from, c.merge}, []string{from, to}, c.name)
		}
	})
}
