package merging_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
)

func TestWhatLandedUnderOtherIds(t *testing.T) {
	r := gittest.OneRepo(t)
	start := r.Commit("start", gittest.Texts("a", gittest.Numbers(30), "b", gittest.Numbers(30)))
	one := r.Commit("one", gittest.Texts("a", gittest.Numbers(30, "10", "ten")), start)
	two := r.Commit("two", gittest.Texts("b", gittest.Numbers(30, "10", "ten"), "x.bin", "\x00binary"), one)
	other := r.Commit("other", gittest.Texts("a", gittest.Numbers(30, "29", "base")), start)
	p2 := r.Commit("two, picked", gittest.Texts("b", gittest.Numbers(30, "10", "ten"), "x.bin", "\x00binary"), other)
	p1 := r.Commit("one, picked", gittest.Texts("a", gittest.Numbers(30, "10", "ten", "29", "base")), p2)
	later := r.Commit("later", gittest.Texts("a", "rewritten\n"), p1)
	again := r.Commit("again", gittest.Texts("a", gittest.Numbers(30, "10", "ten")), r.Commit("back", gittest.Texts("a", gittest.Numbers(30)), one))
	undone := r.Commit("back, picked", gittest.Texts("a", gittest.Numbers(30, "29", "base")), r.Commit("one, picked", gittest.Texts("a", gittest.Numbers(30, "10", "ten", "29", "base")), other))
	empty := r.Commit("empty", nil, two)
	updated := r.Commit("Merge main", gittest.Texts("a", gittest.Numbers(30, "10", "ten", "29", "base")), two, other)
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"both, in the base's order":         {later, two, []string{p2, p1}},
		"one of them":                       {later, one, []string{p1}},
		"the second has not":                {p1, r.Commit("three", gittest.Texts("c", "c\n"), two), nil},
		"only the second has":               {p2, two, nil},
		"a merge of the base is no matter":  {p1, updated, []string{p2, p1}},
		"an empty commit is no matter":      {later, empty, []string{p2, p1}},
		"undone and done again is not done": {undone, again, nil},
		"nothing but empty commits":         {later, r.Commit("empty", nil, start), nil},
		"merged, that is":                   {later, other, nil},
		"the same":                          {later, later, nil},
		"another history":                   {later, r.Commit("root", gittest.Texts("a", gittest.Numbers(30))), nil},
		"a squash of them":                  {r.Commit("squash", gittest.Texts("a", gittest.Numbers(30, "10", "ten"), "b", gittest.Numbers(30, "10", "ten"), "x.bin", "\x00binary"), start), two, nil},
		"another binary":                    {r.Commit("two", gittest.Texts("b", gittest.Numbers(30, "10", "ten"), "x.bin", "\x00other"), p1), r.Commit("two", gittest.Texts("b", gittest.Numbers(30, "10", "ten"), "x.bin", "\x00third"), start), nil},
	} {
		list, ok, err := merging.AlreadyApplied(gittest.Ctx, r.C, test.base, test.head)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, gittest.Shas(list), name)
		assert.Equal(t, test.want != nil, ok, name)
	}
	list, _, err := merging.AlreadyApplied(gittest.Ctx, r.C, later, two)
	require.NoError(t, err)
	assert.Equal(t, "two, picked", list[0].Subject)
	_, _, err = merging.AlreadyApplied(gittest.Ctx, r.C, "main", two)
	assert.ErrorContains(t, err, "not commit ids")
}

// Whatever a head has beside its plain commits keeps it from having landed.
func TestWhatIsMissingHasNotLanded(t *testing.T) {
	r := gittest.OneRepo(t)
	start := r.Commit("start", gittest.Texts("a", gittest.Numbers(30), "b", gittest.Numbers(30)))
	one := r.Commit("one", gittest.Texts("a", gittest.Numbers(30, "10", "ten")), start)
	side := r.Commit("side", gittest.Texts("b", gittest.Numbers(30, "20", "twenty")), start)
	other := r.Commit("other", gittest.Texts("a", gittest.Numbers(30, "29", "base")), start)
	same := r.Commit("same lines", gittest.Texts("a", gittest.Numbers(30, "10", "zehn")), start)
	p1 := r.Commit("one, picked", gittest.Texts("a", gittest.Numbers(30, "10", "ten", "29", "base")), other)
	p2 := r.Commit("side, picked", gittest.Texts("b", gittest.Numbers(30, "20", "twenty")), p1)
	on := r.Commit("on over it", gittest.Texts("a", gittest.Numbers(30, "10", "TEN", "29", "base")), p2)
	clean := r.Commit("Merge side", gittest.Texts("b", gittest.Numbers(30, "20", "twenty")), one, side)
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"a clean merge of own commits":       {p2, clean, []string{p1, p2}},
		"and the base went on":               {on, clean, []string{p1, p2}},
		"one side of it only":                {p1, clean, nil},
		"a merge with a file of its own":     {p2, r.Commit("Merge", gittest.Texts("a", gittest.Numbers(30, "10", "ten", "29", "base"), "extra", "x\n"), one, other), nil},
		"a merge of what it has already":     {p2, r.Commit("Merge", gittest.Texts("extra", "x\n"), one, start), nil},
		"a merge that leaves a side out":     {p2, r.Commit("Merge", gittest.Texts("a", gittest.Numbers(30, "10", "ten"), "b", gittest.Numbers(30)), one, side), nil},
		"a resolved conflict":                {r.Commit("one, picked", gittest.Texts("a", gittest.Numbers(30, "10", "ten")), r.Commit("back", gittest.Texts("a", gittest.Numbers(30)), same)), r.Commit("Merge", gittest.Texts("a", gittest.Numbers(30, "10", "both")), one, same), nil},
		"behind a merge that is not its own": {p2, r.Commit("empty", nil, r.Commit("Merge", gittest.Texts("extra", "x\n"), one, start)), nil},
		"more, where the base went on":       {on, r.Commit("Merge", gittest.Texts("a", gittest.Numbers(30, "10", "more", "29", "base")), one, other), nil},
		"three at once":                      {on, r.Commit("Merge", gittest.Texts("a", gittest.Numbers(30, "10", "more", "29", "base"), "b", gittest.Numbers(30, "20", "twenty")), one, side, other), nil},
		"undone on the base":                 {r.Commit("back", gittest.Texts("a", gittest.Numbers(30, "29", "base")), p1), one, nil},
		"undone beside what it went over":    {r.Commit("back", gittest.Texts("b", gittest.Numbers(30)), on), clean, nil},
	} {
		list, ok, err := merging.AlreadyApplied(gittest.Ctx, r.C, test.base, test.head)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, gittest.Shas(list), name)
		assert.Equal(t, test.want != nil, ok, name)
	}
}

func TestWhatLandedIsFoundInAShallowOrPartialClone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--depth=1", "--filter=blob:none"} {
		h := gittest.NewHub(t)
		h.Commit("main", "file", map[string]string{"a.txt": gittest.Numbers(30)})
		work := h.Commit("theirs", "work", map[string]string{"a.txt": gittest.Numbers(30, "3", "three")})
		side := h.Commit("side", "side", map[string]string{"a.txt": gittest.Numbers(30, "25", "side")})
		h.Git(h.Dev, "checkout", "-q", "theirs")
		h.Git(h.Dev, "merge", "-q", "-m", "with the side", side)
		head := h.Git(h.Dev, "rev-parse", "HEAD")
		h.Git(h.Dev, "checkout", "-q", "main")
		h.Git(h.Dev, "cherry-pick", "-x", work)
		picked := h.Git(h.Dev, "rev-parse", "HEAD")
		h.Git(h.Dev, "merge", "-q", "--no-ff", "-m", "the side", side)
		h.Git(h.Dev, "push", "-q", "origin", "main", "theirs")
		base := h.Grow("main", 80)
		c := h.Open(h.Workspace("main", how, "--no-checkout"))
		gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/theirs"))(t)
		list, ok, err := merging.AlreadyApplied(gittest.Ctx, c, base, head)
		require.NoError(t, err)
		assert.True(t, ok, how)
		assert.Equal(t, []string{picked}, gittest.Shas(list))
	}
}

func TestTwoTreesBesideEachOther(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"", "--depth=1", "--filter=blob:none"} {
		h := gittest.NewHub(t)
		base := h.Commit("main", "files", map[string]string{"a.txt": "base\n"})
		head := h.Commit("theirs", "work", map[string]string{"a.txt": "head\n"})
		dir := ""
		if how != "" {
			dir = h.Workspace("main", how, "--no-checkout")
		}
		c := h.Open(dir)
		if dir == "" {
			_, err := merging.FindConflicts(gittest.Ctx, c, []merging.PullHead{{Number: 7, Ref: "refs/heads/theirs", SHA: head, Base: "main"}}, 0)
			require.NoError(t, err) // a partial clone from here on
		}
		require.NoError(t, history.FetchCommits(gittest.Ctx, c, base, head))
		one, removeOne, err := checkout.TestTree(gittest.Ctx, c, base)
		require.NoError(t, err)
		gittest.Write(t, one, map[string]string{"a.txt": "by a command\n"})
		two, removeTwo, err := checkout.TestTree(gittest.Ctx, c, head)
		require.NoError(t, err)
		assert.Equal(t, "head\n", gittest.Read(t, two, "a.txt"))
		assert.Equal(t, "by a command\n", gittest.Read(t, one, "a.txt"))
		h.Git(one, "commit", "-q", "-a", "-m", "by a command")
		require.NoError(t, os.RemoveAll(filepath.Join(two, ".git")))
		require.NoError(t, removeOne())
		require.NoError(t, removeTwo())
		require.NoError(t, c.Recreate())
		assert.Equal(t, "head\n", string(gittest.Must(history.Blob(gittest.Ctx, c, head, "a.txt"))(t)))
	}
}
