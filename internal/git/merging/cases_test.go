package merging_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

var allStrategies = []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF, model.StrategyCherryPick, model.StrategyUnion, model.StrategyAPI}

func TestNoStrategyMergesWhatHasNothingInCommon(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	base, head := r.Commit("a", gittest.Texts("f", "f\n")), r.Commit("b", gittest.Texts("g", "g\n"))
	for _, strategy := range allStrategies {
		_, err := r.Build(merging.Request{Strategy: strategy, Base: base, Head: head})
		assert.Equal(t, history.ErrUnrelated{Base: base, Head: head}, *gittest.As[*history.ErrUnrelated](t, err, strategy))
	}
}

func TestNothingToMergeIsProvenOrNot(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "g\n"))
	h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a)
	h2 := r.Commit("h2", gittest.Texts("g", "other\n"), h1)
	empty := func(base, head string, only ...string) []string {
		var proof []string
		if len(only) == 0 {
			only = allStrategies
		}
		for i, strategy := range only {
			none := gittest.As[*merging.ErrEmpty](t, gittest.Err(r.Build(merging.Request{Strategy: strategy, Base: base, Head: head})),
				strategy)
			if i > 0 {
				require.Equal(t, proof, none.Proof, strategy)
			}
			proof = none.Proof
		}
		return proof
	}
	assert.Equal(t, []string{h1 + " is an ancestor of " + h2}, empty(h2, h1))
	assert.Equal(t, []string{h1 + " is an ancestor of " + h1}, empty(h1, h1))

	moved := r.Commit("meanwhile", gittest.Texts("f", gittest.Numbers(20, "15", "fifteen")), a)
	p1 := r.Commit("p1", gittest.Texts("f", gittest.Numbers(20, "5", "five", "15", "fifteen")), moved)
	p2 := r.Commit("p2", gittest.Texts("g", "other\n"), p1)
	assert.Equal(t, []string{h1 + " is already on the base as " + p1, h2 + " is already on the base as " + p2}, empty(p2, h2))

	squashed := r.Commit("squashed", gittest.Texts("f", gittest.Numbers(20, "5", "five", "15", "fifteen"), "g", "other\n"), moved)
	later := r.Commit("later", gittest.Texts("h", "h\n"), squashed)
	assert.Equal(t, []string{"all that " + h2 + " changes is what " + squashed + " on the base changed"}, empty(later, h2))

	s1 := r.Commit("in another way", gittest.Texts("f", gittest.Numbers(20, "5", "five"), "x", "x\n"), a)
	s2 := r.Commit("and the rest", gittest.Texts("g", "other\n"), s1)
	assert.Empty(t, empty(s2, h2), "the same files, but no commit that would prove it")

	undone := r.Commit("back", gittest.Texts("f", gittest.Numbers(20)), h1)
	assert.Empty(t, empty(moved, undone, model.StrategySquash, model.StrategyNoFF))
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: moved, Head: undone})
	assert.Equal(t, "h1\nback", r.Log("%s", moved, made.Tip), "commits that people wrote are kept, whatever they come to")
}

// A commit that was made empty, to run the checks again say, goes along with the rest. Where the base has all of the rest
// already, nothing lands; git rebase would land the empty commit.
func TestAnEmptyCommitDoesNotLandWhereTheBaseHasTheRest(t *testing.T) {
	r := gittest.OneRepo(t)
	five := gittest.Texts("f", gittest.Numbers(20, "5", "five"))
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	h1 := r.Commit("h1", five, a)
	retry := r.Commit("retry", nil, h1)
	taken := r.Commit("h1, taken", five, a)
	for name, c := range map[string]struct{ head, want string }{
		"the base took it over":           {retry, "all that " + retry + " changes is what " + taken + " on the base changed"},
		"and the branch merges the base":  {r.Commit("Merge branch 'main'", nil, retry, taken), "the branch has no net change"},
		"at once with the empty commit":   {r.Commit("Merge them", nil, h1, taken, retry), "the branch has no net change"},
		"the empty one is on the base":    {r.Commit("Merge branch 'h1'", nil, r.Commit("retry", nil, taken), h1), "the branch has no net change"},
		"before there is an empty commit": {r.Commit("retry", nil, r.Commit("Merge branch 'main'", nil, h1, taken)), "the branch has no net change"},
	} {
		for _, strategy := range allStrategies {
			_, err := r.Build(merging.Request{Strategy: strategy, Base: taken, Head: c.head})
			require.ErrorAs(t, err, new(*merging.ErrEmpty), "%s: %s", name, strategy)
			assert.EqualError(t, err, "nothing would land: "+c.want, "%s: %s", name, strategy)
		}
	}
	for name, c := range map[string]struct{ base, head, want string }{
		"there is more":          {taken, r.Commit("h2", gittest.Texts("g", "g\n"), retry), "retry\nh2"},
		"there is nothing else":  {taken, r.Commit("only", nil, a), "only"},
		"the base has not moved": {a, retry, "h1\nretry"},
	} {
		for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
			made := r.Must(merging.Request{Strategy: strategy, Base: c.base, Head: c.head})
			assert.Equal(t, strategy, made.Strategy, name)
			assert.Equal(t, c.want, r.Log("%s", c.base, made.Tip), "%s: %s", name, strategy)
		}
	}
}

func TestACommitThatTheBaseHasIsLeftOutThoughItDoesNotApply(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a)
	h2 := r.Commit("h2", gittest.Texts("g", "g\n"), h1)
	base := r.Commit("changed again", gittest.Texts("f", gittest.Numbers(20, "5", "FIVE")), r.Commit("picked", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a))
	_, ok := r.Merge(base, h2)
	require.False(t, ok, "git merge sees a conflict")
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: h2})
	assert.Equal(t, "h2", r.Log("%s", base, made.Tip))
	assert.Equal(t, []string{h1}, gittest.Shas(made.Dropped))
	assert.Equal(t, gittest.Numbers(20, "5", "FIVE"), r.Git("show", made.Tip+":f")+"\n")
}

func TestWhatTheBaseGaveUpDoesNotComeBack(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "g\n"))
	bad := r.Commit("given up", gittest.Texts("secret", "s\n", "f", gittest.Numbers(20, "10", "bad")), a)
	base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a)
	head := r.Commit("h2", gittest.Texts("f", gittest.Numbers(20, "10", "bad", "20", "twenty")), r.Commit("h1", gittest.Texts("g", "h1\n"), bad))
	gone := strings.Repeat("9", 40)
	for _, strategy := range []string{model.StrategyRebase, model.StrategySquash, model.StrategyCherryPick} {
		made := r.Must(merging.Request{Strategy: strategy, Base: base, Head: head, Known: []string{gone, bad, base}})
		assert.Equal(t, gittest.Numbers(20, "1", "one", "20", "twenty"), r.Git("show", made.Tip+":f")+"\n", strategy)
		assert.Equal(t, "f\ng", r.Git("ls-tree", "--name-only", made.Tip), strategy)
	}
	var rewound *merging.ErrRewound
	for _, strategy := range []string{model.StrategyNoFF, model.StrategyAPI, model.StrategyUnion} {
		require.ErrorAs(t, gittest.Err(r.Build(merging.Request{Strategy: strategy, Base: base, Head: head, Known: []string{bad}})), &rewound, strategy)
		assert.Equal(t, []string{bad}, rewound.Commits)
	}
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: a, Head: head, Known: []string{bad}})
	assert.Equal(t, "h1\nh2", r.Log("%s", a, made.Tip), "also where the base went back to where the branch begins")

	twice := r.Commit("h3", nil, r.Commit("Merge branch 'main'", gittest.Texts("f", gittest.Numbers(20, "1", "one", "10", "bad", "20", "twenty")), head, base))
	_, err := r.Build(merging.Request{Strategy: model.StrategyRebase, Base: r.Commit("b", nil, base), Head: twice, Known: []string{bad}})
	require.ErrorAs(t, err, &rewound, "with the base merged in it cannot be told apart")
	require.ErrorAs(t, gittest.Err(r.Build(merging.Request{Strategy: model.StrategySquash, Base: base, Head: bad, Known: []string{bad}})), &rewound)
}

func TestConflictsAreShown(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		long := func(word string) string { return strings.Repeat(word+" \xff\n", 60) }
		start := map[string]gittest.Edit{"bin": {Mode: "100644", Text: "\x00a"}, "gone": {Mode: "100644", Text: "g\n"}, "mod": {Mode: "100644", Text: "m\n"}, "long": {Mode: "100644", Text: "l\n"}, "f": {Mode: "100644", Text: gittest.Numbers(20)}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("1", 40)}, "link": {Mode: git.ModeSymlink, Text: "a"}, "moved": {Mode: "100644", Text: gittest.Numbers(30)}}
		ours := map[string]gittest.Edit{"bin": {Mode: "100644", Text: "\x00b"}, "gone": {}, "mod": {Mode: "100644", Text: "mm\n"}, "long": {Mode: "100644", Text: long("ours")}, "f": {Mode: "100644", Text: gittest.Numbers(20, "5", "ours", "15", "OURS")}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("2", 40)}, "link": {Mode: git.ModeSymlink, Text: "b"}, "both": {Mode: "100644", Text: "1\n"}, "moved": {}, "here": {Mode: "100644", Text: gittest.Numbers(30)}}
		theirs := map[string]gittest.Edit{"bin": {Mode: "100644", Text: "\x00c"}, "gone": {Mode: "100644", Text: "changed\n"}, "mod": {}, "long": {Mode: "100644", Text: long("theirs")}, "f": {Mode: "100644", Text: gittest.Numbers(20, "5", "theirs", "15", "THEIRS")}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("3", 40)}, "link": {Mode: git.ModeSymlink, Text: "c"}, "both": {Mode: "100644", Text: "2\n"}, "moved": {}, "there": {Mode: "100644", Text: gittest.Numbers(30)}}
		a := r.Commit("a", start)
		base, head := r.Commit("base", ours, a), r.Commit("head", theirs, a)
		for _, strategy := range allStrategies {
			_, err := r.Build(merging.Request{Strategy: strategy, Base: base, Head: head, BaseWins: []string{"f", "**/none"}})
			conflict := gittest.As[*merging.ErrConflict](t, err, strategy)
			kinds := map[string]string{}
			for _, f := range conflict.Files {
				kinds[f.Path] = f.Kind
				switch f.Path {
				case "f":
					assert.Equal(t, []string{"<<<<<<< base\nours\n=======\ntheirs\n>>>>>>> branch", "<<<<<<< base\nOURS\n=======\nTHEIRS\n>>>>>>> branch"}, f.Hunks)
				case "long":
					require.Len(t, f.Hunks, 1)
					assert.Equal(t, 39, strings.Count(f.Hunks[0], "\n")+1)
					assert.Contains(t, f.Hunks[0], "ours \uFFFD\n... 85 more lines ...\ntheirs \uFFFD\n")
				case "bin", "mod", "gone", "sub":
					assert.Empty(t, f.Hunks, f.Path)
				}
			}
			assert.Equal(t, map[string]string{"bin": "binary", "gone": "modify/delete", "mod": "modify/delete", "long": "content", "f": "content", "sub": "submodule", "link": "symlink", "both": "add/add", "moved": "rename/rename", "here": "rename/rename", "there": "rename/rename"}, kinds)
			assert.ElementsMatch(t, conflict.Paths, []string{"bin", "gone", "mod", "long", "f", "sub", "link", "both", "moved", "here", "there"})
		}
		list := gittest.Must(merging.Culprits(gittest.Ctx, r.C, r.Commit("not this", gittest.Texts("other", "o\n"), base), head, []string{"f", "both"}))(t)
		assert.Equal(t, []string{base}, gittest.Shas(list))
	})
}

func TestManyConflictsAreBounded(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	sides := [3]map[string]gittest.Edit{{}, {}, {}}
	for i := range 30 {
		for k, side := range sides {
			var lines strings.Builder
			for n := range 10 {
				fmt.Fprintf(&lines, "%s%d\n%s", []string{"", "ours ", "theirs "}[k], n, gittest.Numbers(10))
			}
			side[fmt.Sprintf("f%02d", i)] = gittest.Edit{Mode: "100644", Text: lines.String()}
		}
	}
	a := r.Commit("a", sides[0])
	_, err := r.Build(merging.Request{Strategy: model.StrategySquash, Base: r.Commit("b", sides[1], a), Head: r.Commit("h", sides[2], a)})
	conflict := gittest.As[*merging.ErrConflict](t, err)
	assert.Len(t, conflict.Paths, 30)
	require.Len(t, conflict.Files, 20)
	assert.Len(t, conflict.Files[0].Hunks, 5)
}

func TestTheBaseWinsWhereItMayAndNowhereElse(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		a := r.Commit("a", gittest.Texts("e/f", gittest.Numbers(20), "e/gone", "g\n", "e/kept", "k\n", "x", "x\n", "src", gittest.Numbers(20)))
		base := r.Commit("base", gittest.Texts("e/f", gittest.Numbers(20, "5", "ours"), "e/gone", "", "e/kept", "ours\n", "e/both", "1\n"), a)
		h1 := r.Commit("h1", gittest.Texts("e/f", gittest.Numbers(20, "5", "theirs"), "e/gone", "changed\n", "e/kept", "", "e/both", "2\n"), a)
		h2 := r.Commit("h2", gittest.Texts("e/new", "n\n", "src", gittest.Numbers(20, "3", "three")), h1)
		wins := []string{"e/**"}
		for _, strategy := range []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF, model.StrategyCherryPick, model.StrategyUnion} {
			made := r.Must(merging.Request{Strategy: strategy, Base: base, Head: h2, BaseWins: wins})
			assert.Equal(t, []string{"e/both", "e/f", "e/gone", "e/kept"}, made.BaseWon, strategy)
			assert.Equal(t, "e/new\nsrc", r.Git("diff", "--name-only", base, made.Tip), strategy)
		}
		for name, head := range map[string]string{
			"another file conflicts": r.Commit("h", gittest.Texts("x", "theirs\n", "e/f", gittest.Numbers(20, "5", "theirs")), a),
			"a file is renamed":      r.Commit("h", gittest.Texts("e/f", "", "e/h", gittest.Numbers(20, "5", "theirs")), a),
			"a file is a directory":  r.Commit("h", gittest.Texts("e/f", gittest.Numbers(20, "5", "theirs"), "e/both/x", "1\n"), a),
		} {
			_, err := r.Build(merging.Request{Strategy: model.StrategyRebase, Base: r.Commit("b", gittest.Texts("x", "ours\n"), base), Head: head, BaseWins: wins})
			require.ErrorAs(t, err, new(*merging.ErrConflict), name)
		}
		on := r.Commit("b", gittest.Texts("other", "o\n"), base)
		made := r.Must(merging.Request{Strategy: model.StrategySquash, Base: on, Head: h2, BaseWins: wins})
		made.BaseWon = append(made.BaseWon, "src")
		changed := gittest.As[*merging.ErrChanged](t, merging.Verify(gittest.Ctx, r.C, merging.Request{Strategy: model.StrategySquash, Base: on, Head: h2, BaseWins: wins}, made))
		assert.Equal(t, []string{"src"}, changed.Paths)
	})
}

func TestListsOfFrontMatterAreUnited(t *testing.T) {
	r := gittest.OneRepo(t)
	note := func(tags, body string) string { return "---\ntitle: x\ntags:\n" + tags + "---\n" + body }
	a := r.Commit("a", gittest.Texts("n/a.md", note("- a\n", "body\n"), "plain.md", gittest.Numbers(20), "code", gittest.Numbers(20), "n/crlf.md", "---\r\ntags: [a]\r\n---\r\n"))
	base := r.Commit("base", gittest.Texts("n/a.md", note("- a\n- b\n", "the base's\n"), "plain.md", gittest.Numbers(20, "1", "one"), "code", gittest.Numbers(20, "1", "one"), "n/both.md", note("- x\n", "1\n")), a)
	head := r.Commit("head", gittest.Texts("n/a.md", note("- a\n- c\n", "the branch's\n"), "plain.md", gittest.Numbers(20, "20", "twenty"), "code", gittest.Numbers(20, "20", "twenty"), "n/new.md", note("- z\n", "z\n"), "n/both.md", note("- y\n", "2\n"), "n/crlf.md", "---\r\ntags: [b]\r\n---\r\n"), a)
	m := merging.Request{Strategy: model.StrategyUnion, Base: base, Head: head, UnionFields: []string{"tags"}}
	made := r.Must(m)
	for file, want := range map[string]string{
		"n/a.md": note("- a\n- b\n- c\n", "the base's\n"), "n/both.md": note("- x\n- y\n", "1\n"), "n/new.md": note("- z\n", "z\n"),
		"plain.md": gittest.Numbers(20, "1", "one", "20", "twenty"), "code": gittest.Numbers(20, "1", "one", "20", "twenty"), "n/crlf.md": "---\r\ntags: [a, b]\r\n---\r\n",
	} {
		assert.Equal(t, want, gittest.Must(r.Run(r.Dir, "", "show", made.Tip+":"+file))(t), file)
	}
	tree := made.Tree
	for i := range 4 { // the branch goes on without changing anything, and is merged again
		m.Base, m.Head = made.Tip, r.Commit("more", gittest.Texts("round", fmt.Sprint(i, "\n"), "n/a.md", note("- a\n- c\n", fmt.Sprint("branch ", i, "\n"))), m.Head)
		made = r.Must(m)
		assert.Equal(t, "round", r.Git("diff", "--name-only", tree, made.Tree))
		tree = made.Tree
	}

	_, err := r.Build(merging.Request{Strategy: model.StrategyUnion, Base: base, Head: r.Commit("bad", gittest.Texts("n/a.md", "---\ntags: [\n---\n"), head), UnionFields: []string{"tags"}})
	wrong := gittest.As[*merging.ErrFrontmatter](t, err)
	assert.Equal(t, "n/a.md branch", wrong.Path+" "+wrong.Side)
	_, err = r.Build(merging.Request{Strategy: model.StrategyUnion, Base: r.Commit("bad", gittest.Texts("n/a.md", "none\n"), base), Head: head, UnionFields: []string{"tags"}})
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, "n/a.md base", wrong.Path+" "+wrong.Side)
	_, err = r.Build(merging.Request{Strategy: model.StrategyUnion, Base: r.Commit("c", gittest.Texts("code", "c\n"), base), Head: head, UnionFields: []string{"tags"}})
	assert.Equal(t, []string{"code"}, gittest.As[*merging.ErrConflict](t, err).Paths, "the lists are not what conflicts")
}

// manyOn is the last of so many commits on another one, all made by one git. Each of them changes one
// of a hundred files.
func manyOn(r *gittest.Repo, parent string, n int) string {
	r.T.Helper()
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "commit refs/many\ncommitter Dev <dev@example.com> %d +0200\ndata 5\nmore\n\n", 1700001000+i)
		if i == 0 {
			s.WriteString("from " + parent + "\n")
		}
		fmt.Fprintf(&s, "M 644 inline g%d\ndata 2\n%d\n\n", i%100, i/100%3)
	}
	out, err := r.Run(r.Dir, s.String(), "fast-import", "--quiet")
	require.NoError(r.T, err, out)
	return r.Git("rev-parse", "refs/many")
}

func TestTooManyCommitsAreRefusedAtOnce(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a)
	head := manyOn(r, a, 10000)
	for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
		_, err := r.Build(merging.Request{Strategy: strategy, Base: base, Head: head})
		assert.Equal(t, 10000, gittest.As[*merging.ErrTooMany](t, err).Count)
		assert.ErrorContains(t, err, "use squash or no-ff")
	}
	made := r.Must(merging.Request{Strategy: model.StrategySquash, Base: base, Head: head})
	assert.Equal(t, 1, made.Count)
	made = r.Must(merging.Request{Strategy: model.StrategyNoFF, Base: base, Head: head})
	assert.Equal(t, 10001, made.Count)
	assert.Len(t, made.Commits, 250)
	assert.Equal(t, head, r.Must(merging.Request{Strategy: model.StrategyRebase, Base: a, Head: head}).Tip, "nothing has to be put over")
}

func TestPointersAndSubmodulesAreNoted(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	pointer := func(of string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(of, 64) + "\nsize 12345\n"
	}
	a := r.Commit("a", gittest.Texts("big.bin", pointer("a"), ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"))
	base := r.Commit("base", gittest.Texts("f", "f\n"), a)
	head := r.Commit("head", map[string]gittest.Edit{"big.bin": {Mode: "100644", Text: pointer("b")}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("1", 40)}}, a)
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
	assert.Equal(t, []string{`The submodule "sub" is at ` + strings.Repeat("1", 40) + " now.", "1 changed files are pointers of Git LFS: what they point to is not part of this repository and was not checked."}, made.Notes)
	assert.Equal(t, strings.TrimSpace(pointer("b")), r.Git("show", made.Tip+":big.bin"))
	_, err := r.Build(merging.Request{Strategy: model.StrategyRebase, Base: r.Commit("c", gittest.Texts("big.bin", pointer("c")), base), Head: head})
	require.ErrorAs(t, err, new(*merging.ErrConflict))
}

func TestSettingsOfTheWorkspaceDoNotMatter(t *testing.T) {
	gittest.EachGit(t, func(t *testing.T, path string) {
		for name, pair := range map[string]func(r *gittest.Repo) (string, string){
			"drivers": func(r *gittest.Repo) (string, string) {
				a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), ".gitattributes", "f merge=evil diff=evil text eol=crlf\n"))
				return r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a), r.Commit("head", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), a)
			}, "renames": likeGit["a rename against an edit"],
		} {
			r := gittest.NewRepo(t, path)
			base, head := pair(r)
			want, ok := r.Merge(base, head)
			require.True(t, ok)
			bomb := "touch " + r.Dir + "/boom; false"
			for key, value := range map[string]string{
				"diff.noprefix": "true", "merge.conflictStyle": "diff3", "core.autocrlf": "true", "commit.gpgSign": "true", "gpg.program": bomb, "merge.renameLimit": "1", "diff.renameLimit": "1", "merge.renames": "false",
				"merge.evil.driver": bomb, "diff.evil.command": bomb, "diff.evil.textconv": bomb, "merge.default": "evil", "diff.external": bomb, "i18n.commitEncoding": "ISO-8859-1", "i18n.logOutputEncoding": "ISO-8859-1",
				"log.showSignature": "true", "color.ui": "always", "diff.submodule": "log", "core.hooksPath": r.Dir, "log.date": "relative",
			} {
				r.Git("config", key, value)
			}
			other := gittest.Must(git.Open(gittest.Ctx, git.Options{URL: "https://git.example/octo/widgets", Workspace: r.Dir, Temp: t.TempDir(), Path: path, Identity: git.Identity{Name: "MergeXO", Email: "m@x"}, Now: gittest.Epoch}))(t)
			r.C = other
			for _, strategy := range treeStrategies {
				made := r.Must(merging.Request{Strategy: strategy, Base: base, Head: head, Title: "Größe"})
				assert.Equal(t, r.Tree(want), made.Tree, name+" "+strategy)
			}
			require.NoError(t, other.Close())
			assert.NoFileExists(t, r.Dir+"/boom")
		}
	})
}

func TestAMergeThatIsCancelledEnds(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	base, head := likeGit["two sides of a file"](r)
	over, cancel := context.WithCancel(gittest.Ctx)
	cancel()
	require.ErrorIs(t, gittest.Err(merging.Build(over, r.C, merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})), context.Canceled)
}
