package git_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

var allStrategies = []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF, model.StrategyCherryPick, model.StrategyUnion, model.StrategyAPI}

func TestNoStrategyMergesWhatHasNothingInCommon(t *testing.T) {
	r := newRepo(t, gitPath())
	base, head := r.commit("a", texts("f", "f\n")), r.commit("b", texts("g", "g\n"))
	for _, strategy := range allStrategies {
		_, err := r.build(git.Merge{Strategy: strategy, Base: base, Head: head})
		var unrelated *git.ErrUnrelated
		require.ErrorAs(t, err, &unrelated, strategy)
		assert.Equal(t, git.ErrUnrelated{Base: base, Head: head}, *unrelated)
	}
}

func TestNothingToMergeIsProvenOrNot(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", numbers(20), "g", "g\n"))
		h1 := r.commit("h1", texts("f", numbers(20, "5", "five")), a)
		h2 := r.commit("h2", texts("g", "other\n"), h1)
		empty := func(base, head string, only ...string) []string {
			var proof []string
			if len(only) == 0 {
				only = allStrategies
			}
			for i, strategy := range only {
				_, err := r.build(git.Merge{Strategy: strategy, Base: base, Head: head})
				var none *git.ErrEmpty
				require.ErrorAs(t, err, &none, strategy)
				if i > 0 {
					require.Equal(t, proof, none.Proof, strategy)
				}
				proof = none.Proof
			}
			return proof
		}
		assert.Equal(t, []string{h1 + " is an ancestor of " + h2}, empty(h2, h1))
		assert.Equal(t, []string{h1 + " is an ancestor of " + h1}, empty(h1, h1))

		moved := r.commit("meanwhile", texts("f", numbers(20, "15", "fifteen")), a)
		p1 := r.commit("p1", texts("f", numbers(20, "5", "five", "15", "fifteen")), moved)
		p2 := r.commit("p2", texts("g", "other\n"), p1)
		assert.Equal(t, []string{h1 + " is " + p1 + " on the base", h2 + " is " + p2 + " on the base"}, empty(p2, h2))

		squashed := r.commit("squashed", texts("f", numbers(20, "5", "five", "15", "fifteen"), "g", "other\n"), moved)
		later := r.commit("later", texts("h", "h\n"), squashed)
		assert.Equal(t, []string{"all that " + h2 + " changes is what " + squashed + " on the base changed"}, empty(later, h2))

		s1 := r.commit("in another way", texts("f", numbers(20, "5", "five"), "x", "x\n"), a)
		s2 := r.commit("and the rest", texts("g", "other\n"), s1)
		assert.Empty(t, empty(s2, h2), "the same files, but no commit that would prove it")

		undone := r.commit("back", texts("f", numbers(20)), h1)
		assert.Empty(t, empty(moved, undone, model.StrategySquash, model.StrategyNoFF))
		made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: moved, Head: undone})
		assert.Equal(t, "h1\nback", r.log("%s", moved, made.Tip), "commits that people wrote are kept, whatever they come to")
	})
}

func TestACommitThatTheBaseHasIsLeftOutThoughItDoesNotApply(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", numbers(20)))
		h1 := r.commit("h1", texts("f", numbers(20, "5", "five")), a)
		h2 := r.commit("h2", texts("g", "g\n"), h1)
		base := r.commit("changed again", texts("f", numbers(20, "5", "FIVE")), r.commit("picked", texts("f", numbers(20, "5", "five")), a))
		_, ok := r.merge(base, h2)
		require.False(t, ok, "git merge sees a conflict")
		made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: h2})
		assert.Equal(t, "h2", r.log("%s", base, made.Tip))
		assert.Equal(t, []string{h1}, shas(made.Dropped))
		assert.Equal(t, numbers(20, "5", "FIVE"), r.git("show", made.Tip+":f")+"\n")
	})
}

func TestWhatTheBaseGaveUpDoesNotComeBack(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", numbers(20), "g", "g\n"))
		bad := r.commit("given up", texts("secret", "s\n", "f", numbers(20, "10", "bad")), a)
		base := r.commit("base", texts("f", numbers(20, "1", "one")), a)
		head := r.commit("h2", texts("f", numbers(20, "10", "bad", "20", "twenty")), r.commit("h1", texts("g", "h1\n"), bad))
		gone := strings.Repeat("9", 40)
		for _, strategy := range []string{model.StrategyRebase, model.StrategySquash, model.StrategyCherryPick} {
			made := r.must(git.Merge{Strategy: strategy, Base: base, Head: head, Known: []string{gone, bad, base}})
			assert.Equal(t, numbers(20, "1", "one", "20", "twenty"), r.git("show", made.Tip+":f")+"\n", strategy)
			assert.Equal(t, "f\ng", r.git("ls-tree", "--name-only", made.Tip), strategy)
		}
		var rewound *git.ErrRewound
		for _, strategy := range []string{model.StrategyNoFF, model.StrategyAPI, model.StrategyUnion} {
			_, err := r.build(git.Merge{Strategy: strategy, Base: base, Head: head, Known: []string{bad}})
			require.ErrorAs(t, err, &rewound, strategy)
			assert.Equal(t, []string{bad}, rewound.Commits)
		}
		made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: a, Head: head, Known: []string{bad}})
		assert.Equal(t, "h1\nh2", r.log("%s", a, made.Tip), "also where the base went back to where the branch begins")

		twice := r.commit("h3", nil, r.commit("Merge branch 'main'", texts("f", numbers(20, "1", "one", "10", "bad", "20", "twenty")), head, base))
		_, err := r.build(git.Merge{Strategy: model.StrategyRebase, Base: r.commit("b", nil, base), Head: twice, Known: []string{bad}})
		require.ErrorAs(t, err, &rewound, "with the base merged in it cannot be told apart")
		_, err = r.build(git.Merge{Strategy: model.StrategySquash, Base: base, Head: bad, Known: []string{bad}})
		require.ErrorAs(t, err, &rewound)
	})
}

func TestConflictsAreShown(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		long := func(word string) string { return strings.Repeat(word+" \xff\n", 60) }
		start := map[string]edit{"bin": {"100644", "\x00a"}, "gone": {"100644", "g\n"}, "mod": {"100644", "m\n"}, "long": {"100644", "l\n"}, "f": {"100644", numbers(20)}, "sub": {git.ModeSubmodule, strings.Repeat("1", 40)}, "link": {git.ModeSymlink, "a"}, "moved": {"100644", numbers(30)}}
		ours := map[string]edit{"bin": {"100644", "\x00b"}, "gone": {}, "mod": {"100644", "mm\n"}, "long": {"100644", long("ours")}, "f": {"100644", numbers(20, "5", "ours", "15", "OURS")}, "sub": {git.ModeSubmodule, strings.Repeat("2", 40)}, "link": {git.ModeSymlink, "b"}, "both": {"100644", "1\n"}, "moved": {}, "here": {"100644", numbers(30)}}
		theirs := map[string]edit{"bin": {"100644", "\x00c"}, "gone": {"100644", "changed\n"}, "mod": {}, "long": {"100644", long("theirs")}, "f": {"100644", numbers(20, "5", "theirs", "15", "THEIRS")}, "sub": {git.ModeSubmodule, strings.Repeat("3", 40)}, "link": {git.ModeSymlink, "c"}, "both": {"100644", "2\n"}, "moved": {}, "there": {"100644", numbers(30)}}
		a := r.commit("a", start)
		base, head := r.commit("base", ours, a), r.commit("head", theirs, a)
		for _, strategy := range allStrategies {
			_, err := r.build(git.Merge{Strategy: strategy, Base: base, Head: head, BaseWins: []string{"f", "**/none"}})
			var conflict *git.ErrConflict
			require.ErrorAs(t, err, &conflict, strategy)
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
		list, err := r.c.Culprits(ctx, r.commit("not this", texts("other", "o\n"), base), head, []string{"f", "both"})
		require.NoError(t, err)
		assert.Equal(t, []string{base}, shas(list))
	})
}

func TestManyConflictsAreBounded(t *testing.T) {
	r := newRepo(t, gitPath())
	sides := [3]map[string]edit{{}, {}, {}}
	for i := range 30 {
		for k, side := range sides {
			var lines strings.Builder
			for n := range 10 {
				fmt.Fprintf(&lines, "%s%d\n%s", []string{"", "ours ", "theirs "}[k], n, numbers(10))
			}
			side[fmt.Sprintf("f%02d", i)] = edit{"100644", lines.String()}
		}
	}
	a := r.commit("a", sides[0])
	_, err := r.build(git.Merge{Strategy: model.StrategySquash, Base: r.commit("b", sides[1], a), Head: r.commit("h", sides[2], a)})
	var conflict *git.ErrConflict
	require.ErrorAs(t, err, &conflict)
	assert.Len(t, conflict.Paths, 30)
	require.Len(t, conflict.Files, 20)
	assert.Len(t, conflict.Files[0].Hunks, 5)
}

func TestTheBaseWinsWhereItMayAndNowhereElse(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("e/f", numbers(20), "e/gone", "g\n", "e/kept", "k\n", "x", "x\n", "src", numbers(20)))
		base := r.commit("base", texts("e/f", numbers(20, "5", "ours"), "e/gone", "", "e/kept", "ours\n", "e/both", "1\n"), a)
		h1 := r.commit("h1", texts("e/f", numbers(20, "5", "theirs"), "e/gone", "changed\n", "e/kept", "", "e/both", "2\n"), a)
		h2 := r.commit("h2", texts("e/new", "n\n", "src", numbers(20, "3", "three")), h1)
		wins := []string{"e/**"}
		for _, strategy := range []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF, model.StrategyCherryPick, model.StrategyUnion} {
			made := r.must(git.Merge{Strategy: strategy, Base: base, Head: h2, BaseWins: wins})
			assert.Equal(t, []string{"e/both", "e/f", "e/gone", "e/kept"}, made.BaseWon, strategy)
			assert.Equal(t, "e/new\nsrc", r.git("diff", "--name-only", base, made.Tip), strategy)
		}
		for name, head := range map[string]string{
			"another file conflicts": r.commit("h", texts("x", "theirs\n", "e/f", numbers(20, "5", "theirs")), a),
			"a file is renamed":      r.commit("h", texts("e/f", "", "e/h", numbers(20, "5", "theirs")), a),
			"a file is a directory":  r.commit("h", texts("e/f", numbers(20, "5", "theirs"), "e/both/x", "1\n"), a),
		} {
			_, err := r.build(git.Merge{Strategy: model.StrategyRebase, Base: r.commit("b", texts("x", "ours\n"), base), Head: head, BaseWins: wins})
			var conflict *git.ErrConflict
			require.ErrorAs(t, err, &conflict, name)
		}
		on := r.commit("b", texts("other", "o\n"), base)
		made := r.must(git.Merge{Strategy: model.StrategySquash, Base: on, Head: h2, BaseWins: wins})
		made.BaseWon = append(made.BaseWon, "src")
		var changed *git.ErrChanged
		require.ErrorAs(t, r.c.Verify(ctx, git.Merge{Strategy: model.StrategySquash, Base: on, Head: h2, BaseWins: wins}, made), &changed)
		assert.Equal(t, []string{"src"}, changed.Paths)
	})
}

func TestListsOfFrontMatterAreUnited(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		note := func(tags, body string) string { return "---\ntitle: x\ntags:\n" + tags + "---\n" + body }
		a := r.commit("a", texts("n/a.md", note("- a\n", "body\n"), "plain.md", numbers(20), "code", numbers(20), "n/crlf.md", "---\r\ntags: [a]\r\n---\r\n"))
		base := r.commit("base", texts("n/a.md", note("- a\n- b\n", "the base's\n"), "plain.md", numbers(20, "1", "one"), "code", numbers(20, "1", "one"), "n/both.md", note("- x\n", "1\n")), a)
		head := r.commit("head", texts("n/a.md", note("- a\n- c\n", "the branch's\n"), "plain.md", numbers(20, "20", "twenty"), "code", numbers(20, "20", "twenty"), "n/new.md", note("- z\n", "z\n"), "n/both.md", note("- y\n", "2\n"), "n/crlf.md", "---\r\ntags: [b]\r\n---\r\n"), a)
		m := git.Merge{Strategy: model.StrategyUnion, Base: base, Head: head, UnionFields: []string{"tags"}}
		made := r.must(m)
		for file, want := range map[string]string{
			"n/a.md": note("- a\n- b\n- c\n", "the base's\n"), "n/both.md": note("- x\n- y\n", "1\n"), "n/new.md": note("- z\n", "z\n"),
			"plain.md": numbers(20, "1", "one", "20", "twenty"), "code": numbers(20, "1", "one", "20", "twenty"), "n/crlf.md": "---\r\ntags: [a, b]\r\n---\r\n",
		} {
			got, err := r.run(r.dir, "", "show", made.Tip+":"+file)
			require.NoError(t, err)
			assert.Equal(t, want, got, file)
		}
		tree := made.Tree
		for i := range 4 { // the branch goes on without changing anything, and is merged again
			m.Base, m.Head = made.Tip, r.commit("more", texts("round", fmt.Sprint(i, "\n"), "n/a.md", note("- a\n- c\n", fmt.Sprint("branch ", i, "\n"))), m.Head)
			made = r.must(m)
			assert.Equal(t, "round", r.git("diff", "--name-only", tree, made.Tree))
			tree = made.Tree
		}

		_, err := r.build(git.Merge{Strategy: model.StrategyUnion, Base: base, Head: r.commit("bad", texts("n/a.md", "---\ntags: [\n---\n"), head), UnionFields: []string{"tags"}})
		var wrong *git.ErrFrontmatter
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, "n/a.md branch", wrong.Path+" "+wrong.Side)
		_, err = r.build(git.Merge{Strategy: model.StrategyUnion, Base: r.commit("bad", texts("n/a.md", "none\n"), base), Head: head, UnionFields: []string{"tags"}})
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, "n/a.md base", wrong.Path+" "+wrong.Side)
		_, err = r.build(git.Merge{Strategy: model.StrategyUnion, Base: r.commit("c", texts("code", "c\n"), base), Head: head, UnionFields: []string{"tags"}})
		var conflict *git.ErrConflict
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, []string{"code"}, conflict.Paths, "the lists are not what conflicts")
	})
}

func TestTooManyCommitsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRepo(t, gitPath())
	a := r.commit("a", texts("f", numbers(20)))
	base := r.commit("base", texts("f", numbers(20, "1", "one")), a)
	var s strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&s, "commit refs/many\ncommitter Dev <dev@example.com> %d +0200\ndata 5\nmore\n\n", 1700001000+i)
		if i == 0 {
			s.WriteString("from " + a + "\n")
		}
		fmt.Fprintf(&s, "M 644 inline g%d\ndata 2\ng\n\n", i%100)
	}
	out, err := r.run(r.dir, s.String(), "fast-import", "--quiet")
	require.NoError(t, err, out)
	head := r.git("rev-parse", "refs/many")
	for _, strategy := range []string{model.StrategyRebase, model.StrategyCherryPick} {
		_, err := r.build(git.Merge{Strategy: strategy, Base: base, Head: head})
		var many *git.ErrTooMany
		require.ErrorAs(t, err, &many)
		assert.Equal(t, 10000, many.Count)
		assert.ErrorContains(t, err, "use squash or no-ff")
	}
	made := r.must(git.Merge{Strategy: model.StrategySquash, Base: base, Head: head})
	assert.Equal(t, 1, made.Count)
	made = r.must(git.Merge{Strategy: model.StrategyNoFF, Base: base, Head: head})
	assert.Equal(t, 10001, made.Count)
	assert.Len(t, made.Commits, 250)
	made = r.must(git.Merge{Strategy: model.StrategyRebase, Base: a, Head: head})
	assert.Equal(t, head, made.Tip, "nothing has to be put over")
}

func TestPointersAndSubmodulesAreNoted(t *testing.T) {
	r := newRepo(t, gitPath())
	pointer := func(of string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(of, 64) + "\nsize 12345\n"
	}
	a := r.commit("a", texts("big.bin", pointer("a"), ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"))
	base := r.commit("base", texts("f", "f\n"), a)
	head := r.commit("head", map[string]edit{"big.bin": {"100644", pointer("b")}, "sub": {git.ModeSubmodule, strings.Repeat("1", 40)}}, a)
	made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
	assert.Equal(t, []string{`The submodule "sub" is at ` + strings.Repeat("1", 40) + " now.", "1 changed files are pointers of Git LFS: what they point to is not part of this repository and was not looked at."}, made.Notes)
	assert.Equal(t, strings.TrimSpace(pointer("b")), r.git("show", made.Tip+":big.bin"))
	_, err := r.build(git.Merge{Strategy: model.StrategyRebase, Base: r.commit("c", texts("big.bin", pointer("c")), base), Head: head})
	var conflict *git.ErrConflict
	require.ErrorAs(t, err, &conflict)
}

func TestSettingsOfTheWorkspaceDoNotMatter(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		for name, pair := range map[string]func(r *repo) (string, string){
			"drivers": func(r *repo) (string, string) {
				a := r.commit("a", texts("f", numbers(20), ".gitattributes", "f merge=evil diff=evil text eol=crlf\n"))
				return r.commit("base", texts("f", numbers(20, "1", "one")), a), r.commit("head", texts("f", numbers(20, "20", "twenty")), a)
			}, "renames": likeGit["a rename against an edit"],
		} {
			r := newRepo(t, path)
			base, head := pair(r)
			want, ok := r.merge(base, head)
			require.True(t, ok)
			bomb := "touch " + r.dir + "/boom; false"
			for key, value := range map[string]string{
				"diff.noprefix": "true", "merge.conflictStyle": "diff3", "core.autocrlf": "true", "commit.gpgSign": "true", "gpg.program": bomb, "merge.renameLimit": "1", "diff.renameLimit": "1", "merge.renames": "false",
				"merge.evil.driver": bomb, "diff.evil.command": bomb, "diff.evil.textconv": bomb, "merge.default": "evil", "diff.external": bomb, "i18n.commitEncoding": "ISO-8859-1", "i18n.logOutputEncoding": "ISO-8859-1",
				"log.showSignature": "true", "color.ui": "always", "diff.submodule": "log", "core.hooksPath": r.dir, "log.date": "relative",
			} {
				r.git("config", key, value)
			}
			other, err := git.Open(ctx, git.Options{URL: "https://git.example/octo/widgets", Workspace: r.dir, Temp: t.TempDir(), Path: path, Identity: git.Identity{Name: "MergeXO", Email: "m@x"}, Now: epoch})
			require.NoError(t, err)
			r.c = other
			for _, strategy := range treeStrategies {
				made := r.must(git.Merge{Strategy: strategy, Base: base, Head: head, Title: "Größe"})
				assert.Equal(t, r.tree(want), made.Tree, name+" "+strategy)
			}
			require.NoError(t, other.Close())
			assert.NoFileExists(t, r.dir+"/boom")
		}
	})
}

func TestAMergeThatIsCancelledEnds(t *testing.T) {
	r := newRepo(t, gitPath())
	base, head := likeGit["two sides of a file"](r)
	over, cancel := context.WithCancel(ctx)
	cancel()
	_, err := r.c.Build(over, git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
	require.ErrorIs(t, err, context.Canceled)
}
