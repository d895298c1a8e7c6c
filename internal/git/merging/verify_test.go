package merging_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

func TestTheGuardSeesWhatWouldRevertOthersWork(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		base, head := likeGit["two sides of a file"](r)
		a := r.Git("rev-parse", base+"^")
		m := merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head}
		good := r.Must(m)
		wrong := func(tip string) error {
			made := good
			made.Tip, made.Tree = tip, r.Tree(tip)
			made.Commits = []model.Moved{{Commit: model.Commit{SHA: tip}, Was: head}}
			return merging.Verify(gittest.Ctx, r.C, m, made)
		}
		require.NoError(t, wrong(r.Commit("the same by hand", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty")), base)))
		var changed *merging.ErrChanged
		for name, tip := range map[string]string{
			"the head's tree, which takes back what the base did": r.Commit("x", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), base),
			"a line too many":  r.Commit("x", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty", "10", "ten")), base),
			"nothing":          r.Commit("x", nil, base),
			"white space":      r.Commit("x", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty ")), base),
			"a file too many":  r.Commit("x", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty"), "g", "g\n"), base),
			"another mode":     r.Commit("x", map[string]gittest.Edit{"f": {Mode: "100755", Text: gittest.Numbers(20, "1", "one", "20", "twenty")}}, base),
			"no newline there": r.Commit("x", gittest.Texts("f", strings.TrimSuffix(gittest.Numbers(20, "1", "one", "20", "twenty"), "\n")), base),
		} {
			require.ErrorAs(t, wrong(tip), &changed, name)
			assert.Contains(t, [][]string{{"f"}, {"g"}, {"f", "g"}}, changed.Paths, name)
		}
		require.ErrorContains(t, wrong(head), "does not grow from "+base)
		require.ErrorContains(t, wrong(r.Commit("x", gittest.Texts("f", gittest.Numbers(20, "1", "one", "20", "twenty")), a)), "does not grow from "+base)
		lied := good
		lied.Tree = r.Tree(a)
		require.ErrorContains(t, merging.Verify(gittest.Ctx, r.C, m, lied), "its tree is "+good.Tree)
	})
}

func TestWhatIsBuiltWrongIsNeverGiven(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	base, head := likeGit["two sides of a file"](r)
	m := merging.Request{Strategy: model.StrategySquash, Base: base, Head: head, Title: "Title (#7)"}
	tip := r.Commit("x", gittest.Texts("g", "g\n"), base)
	for wrong, change := range map[string]func(*merging.Merged){
		"differs from what was reviewed: \"f\", \"g\"": func(made *merging.Merged) { made.Tip, made.Tree = tip, r.Tree(tip) },
		"its tree is": func(made *merging.Merged) { made.Tree = r.Tree(base) },
	} {
		restore := merging.Falsify(m.Strategy, change)
		made, err := merging.Build(gittest.Ctx, r.C, m)
		restore()
		require.ErrorContains(t, err, wrong)
		assert.Empty(t, made)
	}
	gittest.Must(merging.Build(gittest.Ctx, r.C, m))(t)
}

// A merge that was made with the wrong merge base, as a history that is cut off gives it, is seen as well.
func TestTheGuardSeesAWrongMergeBase(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "old\n"))
	b := r.Commit("b", gittest.Texts("g", "new\n"), a)
	head := r.Commit("head", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), a)
	base := r.Commit("base", gittest.Texts("x", "x\n"), b)
	// As if head had begun at b, whose change of g it then seems to take back.
	tip := r.Commit("x", gittest.Texts("g", "old\n", "f", gittest.Numbers(20, "20", "twenty")), base)
	changed := gittest.As[*merging.ErrChanged](t, merging.Verify(gittest.Ctx, r.C, merging.Request{Strategy: model.StrategySquash, Base: base, Head: head}, merging.Merged{Tip: tip, Tree: r.Tree(tip), Count: 1}))
	assert.Equal(t, []string{"g"}, changed.Paths)

	require.NoError(t, r.C.Close())
	r.Git("update-ref", "refs/heads/main", base)
	require.NoError(t, gittest.WriteFile(r.Dir+"/.git/shallow", b+"\n"))
	shallow := gittest.Must(git.Open(gittest.Ctx, git.Options{URL: "https://git.example/octo/widgets", Workspace: r.Dir, Temp: t.TempDir(), Path: gittest.GitPath(), Identity: git.Identity{Name: "M", Email: "m@x"}, Now: gittest.Epoch}))(t)
	defer func() { require.NoError(t, shallow.Close()) }()
	good := r.Commit("y", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), base)
	require.ErrorContains(t, merging.Verify(gittest.Ctx, shallow, merging.Request{Strategy: model.StrategySquash, Base: base, Head: head}, merging.Merged{Tip: good, Tree: r.Tree(good), Count: 1}), "history is missing")
}

func TestTheGuardKnowsTheSameLinesAtAnotherPlace(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		block := "{\n\tone\n\ttwo\n\tthree\n}\n"
		a := r.Commit("a", gittest.Texts("f", block+block+block))
		head := r.Commit("head", gittest.Texts("f", block+strings.Replace(block, "two", "two\n\tmore", 1)+block), a)
		base := r.Commit("base", gittest.Texts("g", "g\n"), a)
		wrong := r.Commit("x", gittest.Texts("f", strings.Replace(block, "two", "two\n\tmore", 1)+block+block), base)
		made := merging.Merged{Tip: wrong, Tree: r.Tree(wrong), Count: 1, Commits: []model.Moved{{Commit: model.Commit{SHA: wrong}, Was: head}}}
		changed := gittest.As[*merging.ErrChanged](t, merging.Verify(gittest.Ctx, r.C, merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head}, made))
		assert.Equal(t, []string{"f"}, changed.Paths)
	})
}

// The base has the first commit already and has changed its line once more, so that only picks tell what is to land.
func TestTheGuardMakesPicksOnceMoreWhereTheMergeIsAConflict(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		block := "{\n\tone\n\ttwo\n\tthree\n}\n"
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", block+block))
		h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a)
		h2 := r.Commit("h2", gittest.Texts("g", block+strings.Replace(block, "two", "two\n\tmore", 1)), h1)
		base := r.Commit("again", gittest.Texts("f", gittest.Numbers(20, "5", "FIVE")), r.Commit("picked", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a))
		m := merging.Request{Strategy: model.StrategyRebase, Base: base, Head: h2}
		made := r.Must(m)
		require.Equal(t, []string{h1}, gittest.Shas(made.Dropped))
		for name, files := range map[string]map[string]gittest.Edit{
			"at another place": gittest.Texts("g", strings.Replace(block, "two", "two\n\tmore", 1)+block),
			"with the first":   gittest.Texts("g", block+strings.Replace(block, "two", "two\n\tmore", 1), "f", gittest.Numbers(20, "5", "five")),
		} {
			wrong := made
			wrong.Tip = r.Commit("h2", files, base)
			wrong.Tree, wrong.Commits = r.Tree(wrong.Tip), []model.Moved{{Commit: model.Commit{SHA: wrong.Tip}, Was: h2}}
			changed := gittest.As[*merging.ErrChanged](t, merging.Verify(gittest.Ctx, r.C, m, wrong), name)
			assert.Equal(t, []string{"f"}, changed.Paths, name)
		}
		forgotten := made
		forgotten.Dropped = nil
		require.ErrorAs(t, merging.Verify(gittest.Ctx, r.C, m, forgotten), new(*merging.ErrChanged))
		renamed := made
		renamed.Commits = []model.Moved{{Commit: made.Commits[0].Commit, Was: h1}}
		require.ErrorAs(t, merging.Verify(gittest.Ctx, r.C, m, renamed), new(*merging.ErrChanged))
	})
}

func TestACommitIsNotDroppedForTheSameLinesAtAnotherPlace(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", "hello\n"))
	head := r.Commit("head", gittest.Texts("f", "hello\nworld\n"), a)
	base := r.Commit("again", gittest.Texts("f", "WORLD\nhello all\n"), r.Commit("base", gittest.Texts("f", "world\nhello\n"), a))
	require.ErrorAs(t, gittest.Err(r.Build(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})),
		new(*merging.ErrConflict))
}

func TestSameMerge(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		start := gittest.Texts("f", gittest.Numbers(20), "hello", "hello\n", "bin", "\x00\x01\n\x02", "run", "#!\n", "LIST", "0\n", ".gitattributes", "LIST merge=union\n")
		a := r.Commit("a", start)
		work := gittest.Texts("f", gittest.Numbers(20, "10", "ten"), "hello", "hello\nworld\n", "bin", "\x00\x01\n\x03", "LIST", "0\ntheirs\n")
		head := r.Commit("two", work, r.Commit("one", gittest.Texts("f", gittest.Numbers(20, "10", "TEN")), a))
		base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one"), "LIST", "0\nours\n"), a)
		on := gittest.Texts("f", gittest.Numbers(20, "1", "one", "10", "ten"), "hello", "hello\nworld\n", "bin", "\x00\x01\n\x03", "LIST", "0\nours\ntheirs\n")
		same := func(base, one, other string) bool {
			t.Helper()
			there := gittest.Must(merging.SameMerge(gittest.Ctx, r.C, base, one, other))(t)
			assert.Equal(t, there, gittest.Must(merging.SameMerge(gittest.Ctx, r.C, base, other, one))(t))
			return there
		}
		before := r.State()
		rebased := r.Commit("rebased", on, base)
		assert.True(t, same(base, head, rebased))
		assert.True(t, same(base, head, r.Commit("Merge branch 'main'", on, head, base)))
		assert.True(t, same(base, head, r.Commit("in one", work, a)))
		assert.True(t, same(base, base, r.Commit("nothing", nil, base)), "the base has one of them already")
		for name, other := range map[string]map[string]gittest.Edit{
			"another place": gittest.Texts("hello", "world\nhello\n"), "white space": gittest.Texts("f", gittest.Numbers(20, "1", "one", "10", "ten ")), "a binary": gittest.Texts("bin", "\x00\x01\n\x04"),
			"a mode": {"run": {Mode: "100755", Text: "#!\n"}}, "left out": gittest.Texts("hello", "hello\n"), "more": gittest.Texts("more", "more\n"), "a line end": gittest.Texts("hello", "hello\nworld\r\n"), "a link": {"run": {Mode: git.ModeSymlink, Text: "f"}},
			"what the base did": gittest.Texts("f", gittest.Numbers(20, "10", "ten")),
		} {
			assert.False(t, same(base, head, r.Commit(name, other, rebased)), name)
		}
		conflicting := r.Commit("conflicts", gittest.Texts("f", gittest.Numbers(20, "1", "eins")), a)
		assert.False(t, same(base, head, conflicting))
		assert.False(t, same(base, conflicting, conflicting), "nobody can say what either comes to")
		assert.False(t, same(base, head, r.Commit("root", on)), "nothing in common")
		require.ErrorContains(t, gittest.Err(merging.SameMerge(gittest.Ctx, r.C, base, head, "main")), "not commit ids")
		require.Error(t, gittest.Err(merging.SameMerge(gittest.Ctx, r.C, base, head, strings.Repeat("1", 40))))
		assert.Equal(t, before, r.State())
	})
}

func TestRevertTakesBackWhatLanded(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "gone", "g\n", ".gitattributes", "f text\n"))
	to := r.Commit("two", gittest.Texts("gone", "", "new", "\x00\n"), r.Commit("one", gittest.Texts("f", gittest.Numbers(20, "10", "ten")), a))
	onto := r.Commit("later", gittest.Texts("f", gittest.Numbers(20, "10", "ten", "20", "twenty")), to)
	before := r.State()
	made := gittest.Must(merging.Revert(gittest.Ctx, r.C, a, to, onto, "Revert \"Title\"", "Reverts #7."))(t)
	assert.Equal(t, onto+"|Revert \"Title\"\n\nReverts #7.", strings.TrimSpace(r.Git("log", "-1", "--format=%P|%B", made.Tip)))
	assert.Equal(t, ".gitattributes\nf\ngone", r.Git("ls-tree", "--name-only", made.Tip))
	assert.Equal(t, gittest.Numbers(20, "20", "twenty"), r.Git("show", made.Tip+":f")+"\n")
	assert.Equal(t, 1, made.Count)
	require.ErrorAs(t, gittest.Err(merging.Revert(gittest.Ctx, r.C, a, to, made.Tip, "again", "")), new(*merging.ErrEmpty))
	_, err := merging.Revert(gittest.Ctx, r.C, a, to, r.Commit("in the way", gittest.Texts("f", gittest.Numbers(20, "10", "TEN")), onto), "no", "")
	conflict := gittest.As[*merging.ErrConflict](t, err)
	assert.Equal(t, []merging.ConflictFile{{Path: "f", Kind: "content", Hunks: []string{"<<<<<<< now\nTEN\n=======\n10\n>>>>>>> before"}}}, conflict.Files)
	assert.Equal(t, before, r.State())
}

func TestLandedRange(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "10", "ten")), a)
	head := r.Commit("h2", gittest.Texts("g", "g\n"), h1)
	base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a)
	both := gittest.Texts("f", gittest.Numbers(20, "1", "one", "10", "ten"), "g", "g\n")
	r1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "1", "one", "10", "ten")), base)
	other := r.Commit("unlike it", gittest.Texts("g", "G\n"), base)
	for _, c := range []struct {
		name, merge, from string
		commits           int
	}{
		{"a merge commit", r.Commit("Merge pull request #7", both, base, head), base, 2},
		{"a squash", r.Commit("Title (#7)", both, base), base, 2},
		{"a rebase", r.Commit("h2", gittest.Texts("g", "g\n"), r1), base, 2},
		{"moved there by us", head, a, 2},
		{"neither", other, "", 2},
		{"a merge of something else", r.Commit("Merge", both, base, h1), "", 2},
		{"a rebase of more", r.Commit("h3", gittest.Texts("h", "h\n"), r.Commit("h2", gittest.Texts("g", "g\n"), r1)), "", 3},
	} {
		from, to, err := merging.LandedRange(gittest.Ctx, r.C, c.merge, base, head, c.commits)
		if c.from == "" {
			require.ErrorContains(t, err, "it is unclear what", c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, []string{c.from, c.merge}, []string{from, to}, c.name)
	}
}
