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

func TestSameChange(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", map[string]edit{"f": {"100644", numbers(20)}, "bin": {"100644", "\x00\x01\n\x02"}, "caf\xe9 \"x\"": {"100644", "1\n"}})
		theirs := map[string]edit{"f": {"100644", numbers(20, "10", "ten")}, "bin": {"100644", "\x00\x01\n\x03"}, "caf\xe9 \"x\"": {"100644", "2\n"}, "run": {"100755", "#!\n"}, "e": {"100644", ""}}
		head := r.commit("head", theirs, a)
		b := r.commit("near and far", texts("f", numbers(20, "9", "nine", "11", "eleven", "1", "one\nmore"), "z", "z\n"), a)
		on := map[string]edit{}
		for path, e := range theirs {
			on[path] = e
		}
		on["f"] = edit{"100644", numbers(20, "9", "nine", "11", "eleven", "1", "one\nmore", "10", "ten")}
		same := func(head2 string) bool {
			t.Helper()
			ok, err := r.c.SameChange(ctx, a, head, b, head2)
			require.NoError(t, err)
			return ok
		}
		assert.True(t, same(r.commit("two", map[string]edit{"run": on["run"], "e": on["e"], "f": on["f"]}, r.commit("one", map[string]edit{"bin": on["bin"], "caf\xe9 \"x\"": on["caf\xe9 \"x\""]}, b))))
		for name, other := range map[string]map[string]edit{
			"white space": {"f": {"100644", strings.Replace(on["f"].text, "ten", "ten ", 1)}}, "a binary": {"bin": {"100644", "\x00\x01\n\x04"}}, "a mode": {"run": {"100644", "#!\n"}},
			"left out": {"e": {}}, "more": {"more": {"100644", "-- x\n++ y\n"}}, "a line end": {"f": {"100644", strings.Replace(on["f"].text, "ten\n", "ten\r\n", 1)}},
			"a link": {"e": {git.ModeSymlink, "f"}},
		} {
			assert.False(t, same(r.commit(name, other, r.commit("all", on, b))), name)
		}
		on["z"] = edit{"100644", "z\n"}
		merged := r.commit("Merge branch 'main'", on, head, b)
		ok, err := r.c.SameChange(ctx, a, head, b, merged)
		require.NoError(t, err)
		assert.True(t, ok, "the base merged in changes nothing")
		_, err = r.c.SameChange(ctx, a, head, a, r.commit("root", texts("f", "f\n")))
		var unrelated *git.ErrUnrelated
		require.ErrorAs(t, err, &unrelated)
	})
}

func TestRevertTakesBackWhatLanded(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
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
	eachGit(t, func(t *testing.T, path string) {
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
