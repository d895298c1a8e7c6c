package merging_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

var treeStrategies = []string{model.StrategyRebase, model.StrategySquash, model.StrategyNoFF}

// likeGit are pairs of a base and a head that git merges cleanly, with all that is peculiar about files.
var likeGit = map[string]func(r *gittest.Repo) (base, head string){
	"two sides of a file": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
		return r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a), r.Commit("head", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), a)
	},
	"a rename against an edit": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("old/f", gittest.Numbers(30), "x", "x\n"))
		return r.Commit("base", gittest.Texts("old/f", "", "new/f", gittest.Numbers(30, "3", "three")), a), r.Commit("head", gittest.Texts("old/f", gittest.Numbers(30, "28", "...")), a)
	},
	"an edit against a rename of ours": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("old/f", gittest.Numbers(30), "x", "x\n"))
		return r.Commit("base", gittest.Texts("old/f", gittest.Numbers(30, "3", "three")), a), r.Commit("head", gittest.Texts("old/f", "", "new/f", gittest.Numbers(30, "28", "...")), a)
	},
	"modes, links, submodules and binaries": func(r *gittest.Repo) (string, string) {
		sub := map[string]gittest.Edit{"run": {Mode: "100644", Text: "#!\n"}, "link": {Mode: git.ModeSymlink, Text: "a"}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("1", 40)}, "bin": {Mode: "100644", Text: "\x00\x01\xff\r\n"}, "gone": {Mode: "100644", Text: "g"}}
		a := r.Commit("a", sub)
		theirs := map[string]gittest.Edit{"run": {Mode: "100755", Text: "#!\n"}, "link": {Mode: git.ModeSymlink, Text: "b"}, "sub": {Mode: git.ModeSubmodule, Text: strings.Repeat("2", 40)}, "bin": {Mode: "100644", Text: "\x00\x02\xff\r\n"}, "gone": {}, "new": {Mode: git.ModeSymlink, Text: "bin"}}
		return r.Commit("base", gittest.Texts("other", "o\n"), a), r.Commit("head", theirs, a)
	},
	"CRLF and no newline at the end": func(r *gittest.Repo) (string, string) {
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		a := r.Commit("a", gittest.Texts("f", crlf(gittest.Numbers(20)), "end", "1\n2\n3\n4\n5\n6\n7\nend", ".gitattributes", "* text=auto eol=crlf\n"))
		return r.Commit("base", gittest.Texts("f", crlf(gittest.Numbers(20, "1", "one")), "end", "one\n2\n3\n4\n5\n6\n7\nend"), a), r.Commit("head", gittest.Texts("f", crlf(gittest.Numbers(20, "20", "twenty")), "end", "1\n2\n3\n4\n5\n6\n7\nthe end"), a)
	},
	"names and contents that are not UTF-8": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("caf\xe9", "caf\xe9\n"+gittest.Numbers(9), "a \"b\"\n\tc", "x\n"))
		return r.Commit("base", gittest.Texts("caf\xe9", "caf\xe9\n"+gittest.Numbers(9, "9", "\xff")), a), r.Commit("head", gittest.Texts("caf\xe9", "\xfe\n"+gittest.Numbers(9), "a \"b\"\n\tc", "y\n", "neu \xfc/\x01", "z\n"), a)
	},
	"both have made the same change": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
		base := r.Commit("base too", gittest.Texts("f", gittest.Numbers(20, "3", "three")), a)
		return base, r.Commit("more", gittest.Texts("g", "g\n"), r.Commit("head", gittest.Texts("f", gittest.Numbers(20, "3", "three")), a))
	},
	"the base's own way to merge a file": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("CHANGES", "0\n", "deep/er/LIST", "0\n", ".gitattributes", "CHANGES merge=union\n", "deep/.gitattributes", "er/LIST merge=union\n"))
		return r.Commit("base", gittest.Texts("CHANGES", "0\nours\n", "deep/er/LIST", "0\nours\n"), a), r.Commit("head", gittest.Texts("CHANGES", "0\ntheirs\n", "deep/er/LIST", "0\ntheirs\n"), a)
	},
	"the base's own way to merge a file that it moved": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("old/LIST", gittest.Numbers(20), "old/keep", "k\n", "new/.gitattributes", "LIST merge=union\n"))
		return r.Commit("base", gittest.Texts("old/LIST", "", "new/LIST", gittest.Numbers(20)+"ours\n"), a), r.Commit("head", gittest.Texts("old/LIST", gittest.Numbers(20)+"theirs\n"), a)
	},
	"criss-cross": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "g\n"))
		b1, h1 := r.Commit("b1", gittest.Texts("f", gittest.Numbers(20, "1", "b1")), a), r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "10", "h1")), a)
		both := gittest.Texts("f", gittest.Numbers(20, "1", "b1", "10", "h1"))
		b2, h2 := r.Commit("b2", both, b1, h1), r.Commit("h2", both, h1, b1)
		return r.Commit("b3", gittest.Texts("f", gittest.Numbers(20, "1", "b1", "10", "h1", "20", "b3")), b2), r.Commit("h3", gittest.Texts("g", "h3\n"), h2)
	},
	"merges of the base into the branch": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "g\n"))
		b1, h1 := r.Commit("b1", gittest.Texts("f", gittest.Numbers(20, "1", "b1")), a), r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "10", "h1")), a)
		h2 := r.Commit("Merge branch 'main'", gittest.Texts("f", gittest.Numbers(20, "1", "b1", "10", "h1")), h1, b1)
		return r.Commit("b2", gittest.Texts("g", "b2\n"), b1), r.Commit("h3", gittest.Texts("f", gittest.Numbers(20, "1", "b1", "10", "h1", "20", "h3")), h2)
	},
	"a change in a merge that neither side has": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20), "g", "g\n"))
		b1, h1 := r.Commit("b1", gittest.Texts("f", gittest.Numbers(20, "1", "b1")), a), r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "10", "h1")), a)
		h2 := r.Commit("Merge branch 'main'", gittest.Texts("f", gittest.Numbers(20, "1", "b1", "10", "h1"), "evil", "e\n"), h1, b1)
		return r.Commit("b2", gittest.Texts("g", "b2\n"), b1), r.Commit("h3", gittest.Texts("h", "h\n"), h2)
	},
	"a conflict on the way that is gone at the end": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
		h1 := r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "wrong")), a)
		return r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a), r.Commit("h2", gittest.Texts("f", gittest.Numbers(20, "5", "five"), "g", "g\n"), h1)
	},
	"the base has not moved": func(r *gittest.Repo) (string, string) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
		return a, r.Commit("h2", gittest.Texts("g", "g\n"), r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a))
	},
	"another history is brought in": func(r *gittest.Repo) (string, string) {
		a, other := r.Commit("a", gittest.Texts("f", "f\n")), r.Commit("root", gittest.Texts("lib/x", "x\n"))
		h := r.Commit("Merge lib", gittest.Texts("lib/x", "x\n"), r.Commit("h1", gittest.Texts("g", "g\n"), a), other)
		return r.Commit("base", gittest.Texts("b", "b\n"), a), h
	},
}

func TestWhatLandsIsWhatGitMergeMakes(t *testing.T) {
	gittest.EachGit(t, func(t *testing.T, path string) {
		for _, name := range slices.Sorted(maps.Keys(likeGit)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := gittest.NewRepo(t, path)
				base, head := likeGit[name](r)
				want, ok := r.Merge(base, head)
				require.True(t, ok)
				for _, strategy := range treeStrategies {
					made := r.Must(merging.Request{Strategy: strategy, Base: base, Head: head})
					assert.Equal(t, r.Tree(want), made.Tree, "%s: %s", strategy, r.Git("diff-tree", "-p", want, made.Tip))
				}
			})
		}
	})
}

func TestRebaseKeepsWhoWroteWhatWhen(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one"), "same", "same\n"), a)
	h1 := r.CommitBy("Zo\xeb <zoe@example.com> 1600000000 +0530", "caf\xe9\n\nbody  \n\n\nTrailer: yes", gittest.Texts("f", gittest.Numbers(20, "20", "twenty")), a)
	h2 := r.Commit("what the base did too", gittest.Texts("same", "same\n"), h1)
	h3 := r.Commit("empty from the start", nil, h2)
	raw := strings.Replace(r.Git("cat-file", "commit", h3), "\n\n", "\ngpgsig -----BEGIN SSH SIGNATURE-----\n aGk=\n -----END SSH SIGNATURE-----\n\n", 1)
	signed := gittest.Must(r.Run(r.Dir, raw, "hash-object", "-t", "commit", "-w", "--stdin"))(t)
	head := r.Commit("no newline, \x01 in it", gittest.Texts("last", "last\n"), strings.TrimSpace(signed))
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
	require.Equal(t, 3, made.Count)
	assert.Equal(t, model.StrategyRebase, made.Strategy)
	assert.Equal(t, []string{h2}, gittest.Shas(made.Dropped))
	assert.Equal(t, 1, made.Signed)
	var was []string
	for _, moved := range made.Commits {
		was = append(was, moved.Was)
	}
	assert.Equal(t, []string{h1, strings.TrimSpace(signed), head}, was)
	parent := base
	for i, moved := range made.Commits {
		before, after := r.Git("cat-file", "commit", was[i]), r.Git("cat-file", "commit", moved.SHA)
		want := "tree " + r.Tree(moved.SHA) + "\nparent " + parent + "\n"
		for _, row := range strings.SplitAfter(before[:strings.Index(before, "\n\n")+1], "\n") {
			switch {
			case strings.HasPrefix(row, "author "), strings.HasPrefix(row, "encoding "):
				want += row
			case strings.HasPrefix(row, "committer "):
				want += "committer MergeXO <mergexo@example.com> 1800000000 +0000\n"
			}
		}
		assert.Equal(t, want+before[strings.Index(before, "\n\n")+1:], after)
		parent = moved.SHA
	}
	assert.Equal(t, "café", made.Commits[0].Subject)

	made = r.Must(merging.Request{Strategy: model.StrategyRebase, Base: a, Head: head})
	assert.Equal(t, head, made.Tip, "nothing is written anew when the base is where the branch began")
	assert.Zero(t, made.Signed)
}

func TestRebaseFallsBackToOneCommit(t *testing.T) {
	gittest.EachRepo(t, func(t *testing.T, r *gittest.Repo) {
		a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
		h1 := r.CommitBy("Ann <ann@example.com> 1600000000 +0100", "first\n\nCo-authored-by: Cy <cy@example.com>", gittest.Texts("f", gittest.Numbers(20, "5", "wrong")), a)
		h2 := r.CommitBy("Bob <bob@example.com> 1600000001 +0100", "second", gittest.Texts("f", gittest.Numbers(20, "5", "five"), "g", "g\x00\n"), h1)
		base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "5", "five")), a)
		made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: h2, Body: "Why.\n\nReviewed-by: Dee <dee@example.com>"})
		assert.Equal(t, merging.SquashReapply, made.Strategy)
		assert.Equal(t, 1, made.Count)
		assert.Equal(t, "Ann <ann@example.com> 1600000000 +0100\nTitle (#7)\n\nWhy.\n\n"+r.Offered(base, h2)+"\n\nReviewed-by: Dee <dee@example.com>\nCo-authored-by: Cy <cy@example.com>\nCo-authored-by: Bob <bob@example.com>",
			strings.TrimSpace(r.Git("log", "-1", "--date=raw", "--format=%an <%ae> %ad%n%B", made.Tip)))
		assert.Equal(t, base, r.Git("rev-parse", made.Tip+"^"))

		evilBase, evilHead := likeGit["a change in a merge that neither side has"](r)
		made = r.Must(merging.Request{Strategy: model.StrategyRebase, Base: evilBase, Head: evilHead})
		assert.Equal(t, merging.SquashReapply, made.Strategy)
		assert.Equal(t, []string{r.Git("rev-parse", evilHead+"^")}, gittest.Shas(made.Evil))
		assert.Equal(t, "e", r.Git("show", made.Tip+":evil"))

		base, head := likeGit["merges of the base into the branch"](r)
		made = r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
		assert.Equal(t, model.StrategyRebase, made.Strategy)
		assert.Equal(t, "h1\nh3", r.Log("%s", base, made.Tip))
		assert.Empty(t, made.Evil)
	})
}

func TestSquashNamesEverybodyOnce(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", "f\n"))
	base := r.Commit("base", gittest.Texts("b", "b\n"), a)
	h1 := r.CommitBy("Ann <ann@example.com> 1600000000 +0100", "first\n\nCo-authored-by: MergeXO <MERGEXO@example.com>\nco-authored-by: Cy <cy@example.com>", gittest.Texts("g", "g\n"), a)
	h2 := r.CommitBy("Bob <bob@example.com> 1600000001 +0100", "second", gittest.Texts("h", "h\n"), h1)
	h3 := r.CommitBy("Zo\xeb <zoe@example.com> 1600000001 +0100", "caf\xe9", gittest.Texts("i", "i\n"), h2)
	h4 := r.CommitBy("MergeXO <mergexo@example.com> 1600000002 +0100", "ours\n\nCo-authored-by: Bob <BOB@example.com>", gittest.Texts("j", "j\n"), h3)
	made := r.Must(merging.Request{Strategy: model.StrategySquash, Base: base, Head: h4})
	assert.Equal(t, "Ann <ann@example.com> 1600000000 +0100|MergeXO 1800000000 +0000|Title (#7)\n\n"+r.Offered(base, h4)+"\n\nCo-authored-by: Cy <cy@example.com>\nCo-authored-by: Bob <bob@example.com>\nCo-authored-by: Zoë <zoe@example.com>",
		strings.TrimSpace(r.Git("log", "-1", "--date=raw", "--format=%an <%ae> %ad|%cn %cd|%B", made.Tip)))
	made = r.Must(merging.Request{Strategy: model.StrategySquash, Base: base, Head: h1, Body: "Co-authored-by: Cy <cy@example.com>"})
	assert.Equal(t, "Ann first\n\nCo-authored-by: MergeXO <MERGEXO@example.com>\nco-authored-by: Cy <cy@example.com>", strings.TrimSpace(r.Git("log", "-1", "--format=%an %B", made.Tip)),
		"one commit keeps its message")
}

func TestNoFFKeepsTheBranchAsItIs(t *testing.T) {
	r := gittest.OneRepo(t)
	base, head := likeGit["two sides of a file"](r)
	made := r.Must(merging.Request{Strategy: model.StrategyNoFF, Base: base, Head: head, Body: "Body.\r\n"})
	assert.Equal(t, base+" "+head+"|MergeXO|Title (#7)\n\nBody.", strings.TrimSpace(r.Git("log", "-1", "--format=%P|%an|%B", made.Tip)))
	assert.Equal(t, []model.Moved{
		{Commit: model.Commit{SHA: head, Subject: "head", Author: "Dev"}, Was: head},
		{Commit: model.Commit{SHA: made.Tip, Subject: "Title (#7)", Author: "MergeXO"}},
	}, made.Commits)
	asked := r.Must(merging.Request{Strategy: model.StrategyAPI, Base: base, Head: head, Body: "Body."})
	assert.Equal(t, made.Tip, asked.Tip, "what GitHub would make, to be tested")
	require.ErrorContains(t, gittest.Err(r.Build(merging.Request{Strategy: "octopus", Base: base, Head: head})), `there is no strategy "octopus"`)
	for _, name := range model.Strategies() {
		gittest.Must(r.Build(merging.Request{Strategy: name, Base: base, Head: head}))(t, name)
	}
	require.ErrorContains(t, gittest.Err(r.Build(merging.Request{Strategy: model.StrategyNoFF, Base: base, Head: strings.Repeat("1", 40)})), "is not here")
}

func TestCherryPickSaysWhereFromAsGitDoes(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", gittest.Numbers(20)))
	base := r.Commit("base", gittest.Texts("f", gittest.Numbers(20, "1", "one")), a)
	head := a
	for i, message := range []string{
		"subject", "subject\n\nbody", "subject\n\nbody\n\nSigned-off-by: X <x@y>", "Fix: only a subject", "subject\n\nTicket: 7\nnot a trailer", "s\n\nNot\nSigned-off-by: X <x@y>\nA: b\n", "s\n\n(cherry picked from commit " + strings.Repeat("1", 40) + ")\n", "caf\xe9\n\nA: \xe9",
	} {
		head = r.Commit(message, gittest.Texts("n", strings.Repeat("x", i+1)+"\n"), head)
	}
	made := r.Must(merging.Request{Strategy: model.StrategyCherryPick, Base: base, Head: head})
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "."}, {"pull", "-q", "--ff-only", r.Dir, base}} {
		if args[0] == "pull" {
			r.Git("update-ref", "refs/base", base)
			r.Git("update-ref", "refs/head", head)
			args = []string{"fetch", "-q", r.Dir, "refs/base", "refs/head"}
		}
		out, err := r.Run(dir, "", args...)
		require.NoError(t, err, out)
	}
	out, err := r.Run(dir, "", "checkout", "-q", "--detach", base)
	require.NoError(t, err, out)
	out, err = r.Run(dir, "", "cherry-pick", "-x", a+".."+head)
	require.NoError(t, err, out)
	want := gittest.Must(r.Run(dir, "", "log", "--reverse", "--encoding=UTF-8", "--format=%an %ad %B---", base+"..HEAD"))(t)
	assert.Equal(t, strings.TrimSpace(want), strings.TrimSpace(r.Git("log", "--reverse", "--encoding=UTF-8", "--format=%an %ad %B---", base+".."+made.Tip)))

	_, err = r.Build(merging.Request{Strategy: model.StrategyCherryPick, Base: r.Commit("in the way", gittest.Texts("n", "other\n"), base), Head: head})
	require.ErrorAs(t, err, new(*merging.ErrConflict))
	base, head = likeGit["a change in a merge that neither side has"](r)
	_, err = r.Build(merging.Request{Strategy: model.StrategyCherryPick, Base: base, Head: head})
	var changed *merging.ErrChanged
	require.True(t, errors.As(err, &changed), "%v", err)
	assert.Equal(t, []string{"evil"}, changed.Paths)
}
