package merging_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
)

func TestTwoBuildsAreAlikeIfTheyDifferInTheirTimesOnly(t *testing.T) {
	r := gittest.OneRepo(t)
	older := r.Commit("older", gittest.Texts("f", "f\n"))
	base := r.Commit("base", gittest.Texts("b", "b\n"), older)
	f, g := gittest.Texts("f", "one\n"), gittest.Texts("g", "two\n")
	const ann, later = "Ann <ann@example.com> 1600000000 +0100", "Ann <ann@example.com> 1600000009 +0530"
	one := r.CommitBy(ann, "one", f, base)
	two := r.CommitBy(ann, "two", g, one)
	merge := r.CommitBy(ann, "merge", nil, two, one)
	oneLater := r.CommitBy(later, "one", f, base)
	twoLater := r.CommitBy(later, "two\n\n", g, oneLater)
	alike := func(a, b string) bool {
		t.Helper()
		same := gittest.Must(merging.Alike(gittest.Ctx, r.C, base, a, b))(t)
		if same != nil && a != b { // each with its own
			assert.Equal(t, b, same[a])
		}
		return same != nil
	}
	assert.True(t, alike(two, two))
	assert.True(t, alike(two, twoLater))
	assert.True(t, alike(merge, r.CommitBy(later, "merge", nil, twoLater, oneLater)))
	for name, other := range map[string]string{
		"another author":        r.CommitBy("Bob <bob@example.com> 1600000000 +0100", "two", g, one),
		"another message":       r.CommitBy(ann, "Two", g, one),
		"another tree":          r.CommitBy(ann, "two", gittest.Texts("g", "2\n"), one),
		"another tree before":   r.CommitBy(ann, "two", gittest.Texts("f", "one\n", "g", "two\n"), r.CommitBy(ann, "one", gittest.Texts("f", "x\n"), base)),
		"a commit less":         r.CommitBy(ann, "two", gittest.Texts("f", "one\n", "g", "two\n"), base),
		"a commit taken back":   r.CommitBy(ann, "two", g, r.CommitBy(ann, "back", f, r.CommitBy(ann, "forth", gittest.Texts("f", "x\n"), one))),
		"a merge":               merge,
		"a merge's other shape": r.CommitBy(ann, "two", g, one, older),
		"begun elsewhere":       r.CommitBy(ann, "two", gittest.Texts("b", "b\n", "g", "two\n"), r.CommitBy(ann, "one", gittest.Texts("b", "b\n", "f", "one\n"), older)),
		"nothing":               base,
	} {
		assert.False(t, alike(two, other), name)
	}
	assert.False(t, alike(merge, two), "a longer one comes first")
	assert.False(t, alike(merge, r.CommitBy(later, "merge", nil, oneLater, twoLater)), "the sides of a merge are in order")
	for _, ids := range [][3]string{{"main", two, one}, {base, "HEAD", one}, {base, two, "--all"}} {
		require.ErrorContains(t, gittest.Err(merging.Alike(gittest.Ctx, r.C, ids[0], ids[1], ids[2])), "not commit ids")
	}
}

// The line says which command a revert is of. GitHub's button and people can merge, quote and repeat it.
func TestARevertIsFoundByItsLineBelowWhatWasPushedOnTop(t *testing.T) {
	r := gittest.OneRepo(t)
	const line = "<!-- mergexo:revert 7 -->"
	base := r.Commit("base", gittest.Texts("f", "f\n"))
	marked := r.Commit("Revert \"Title\"\n\nReverts #7.\n"+line, gittest.Texts("f", "g\n"), base)
	more := r.Commit("more", nil, r.Commit("some", nil, marked))
	again := r.Commit("Revert it\n\n"+line+"\nonce more", nil, more)
	for name, c := range map[string]struct{ tip, sha, onto string }{
		"the tip":             {marked, marked, base},
		"below others":        {more, marked, base},
		"the newest of two":   {again, again, more},
		"none":                {base, "", ""},
		"a quotation":         {r.Commit("Re:\n\n> "+line, nil, base), "", ""},
		"on the other side":   {r.Commit("Merge branch 'revert'", nil, base, marked), "", ""},
		"by a merge":          {r.Commit("Merge\n\n"+line, nil, marked, base), "", ""},
		"by the first of all": {r.Commit("root\n\n"+line, nil), "", ""},
	} {
		sha, onto, err := merging.Reverted(gittest.Ctx, r.C, c.tip, line)
		require.NoError(t, err, name)
		assert.Equal(t, []string{c.sha, c.onto}, []string{sha, onto}, name)
	}
	_, _, err := merging.Reverted(gittest.Ctx, r.C, "HEAD", line)
	require.ErrorContains(t, err, "not a commit id")
}
