package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

func TestWhatLandedUnderOtherIds(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		start := r.commit("start", texts("a", numbers(30), "b", numbers(30)))
		one := r.commit("one", texts("a", numbers(30, "10", "ten")), start)
		two := r.commit("two", texts("b", numbers(30, "10", "ten"), "x.bin", "\x00binary"), one)
		other := r.commit("other", texts("a", numbers(30, "29", "base")), start)
		p2 := r.commit("two, picked", texts("b", numbers(30, "10", "ten"), "x.bin", "\x00binary"), other)
		p1 := r.commit("one, picked", texts("a", numbers(30, "10", "ten", "29", "base")), p2)
		later := r.commit("later", texts("a", "rewritten\n"), p1)
		again := r.commit("again", texts("a", numbers(30, "10", "ten")), r.commit("back", texts("a", numbers(30)), one))
		undone := r.commit("back, picked", texts("a", numbers(30, "29", "base")), r.commit("one, picked", texts("a", numbers(30, "10", "ten", "29", "base")), other))
		empty := r.commit("empty", nil, two)
		updated := r.commit("Merge main", texts("a", numbers(30, "10", "ten", "29", "base")), two, other)
		for name, test := range map[string]struct {
			base, head string
			want       []string
		}{
			"both, in the base's order":         {later, two, []string{p2, p1}},
			"one of them":                       {later, one, []string{p1}},
			"the second has not":                {p1, r.commit("three", texts("c", "c\n"), two), nil},
			"only the second has":               {p2, two, nil},
			"a merge of the base is no matter":  {p1, updated, []string{p2, p1}},
			"an empty commit is no matter":      {later, empty, []string{p2, p1}},
			"undone and done again is not done": {undone, again, nil},
			"nothing but empty commits":         {later, r.commit("empty", nil, start), nil},
			"merged, that is":                   {later, other, nil},
			"the same":                          {later, later, nil},
			"another history":                   {later, r.commit("root", texts("a", numbers(30))), nil},
			"a squash of them":                  {r.commit("squash", texts("a", numbers(30, "10", "ten"), "b", numbers(30, "10", "ten"), "x.bin", "\x00binary"), start), two, nil},
			"another binary":                    {r.commit("two", texts("b", numbers(30, "10", "ten"), "x.bin", "\x00other"), p1), r.commit("two", texts("b", numbers(30, "10", "ten"), "x.bin", "\x00third"), start), nil},
		} {
			list, ok, err := r.c.LandedElsewhere(ctx, test.base, test.head)
			require.NoError(t, err, name)
			assert.Equal(t, test.want, shas(list), name)
			assert.Equal(t, test.want != nil, ok, name)
		}
		list, _, err := r.c.LandedElsewhere(ctx, later, two)
		require.NoError(t, err)
		assert.Equal(t, "two, picked", list[0].Subject)
		_, _, err = r.c.LandedElsewhere(ctx, "main", two)
		assert.ErrorContains(t, err, "not commit ids")
	})
}

// Whatever a head has beside its plain commits keeps it from having landed.
func TestWhatIsMissingHasNotLanded(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		start := r.commit("start", texts("a", numbers(30), "b", numbers(30)))
		one := r.commit("one", texts("a", numbers(30, "10", "ten")), start)
		side := r.commit("side", texts("b", numbers(30, "20", "twenty")), start)
		other := r.commit("other", texts("a", numbers(30, "29", "base")), start)
		same := r.commit("same lines", texts("a", numbers(30, "10", "zehn")), start)
		p1 := r.commit("one, picked", texts("a", numbers(30, "10", "ten", "29", "base")), other)
		p2 := r.commit("side, picked", texts("b", numbers(30, "20", "twenty")), p1)
		on := r.commit("on over it", texts("a", numbers(30, "10", "TEN", "29", "base")), p2)
		clean := r.commit("Merge side", texts("b", numbers(30, "20", "twenty")), one, side)
		for name, test := range map[string]struct {
			base, head string
			want       []string
		}{
			"a clean merge of own commits":       {p2, clean, []string{p1, p2}},
			"and the base went on":               {on, clean, []string{p1, p2}},
			"one side of it only":                {p1, clean, nil},
			"a merge with a file of its own":     {p2, r.commit("Merge", texts("a", numbers(30, "10", "ten", "29", "base"), "extra", "x\n"), one, other), nil},
			"a merge of what it has already":     {p2, r.commit("Merge", texts("extra", "x\n"), one, start), nil},
			"a merge that leaves a side out":     {p2, r.commit("Merge", texts("a", numbers(30, "10", "ten"), "b", numbers(30)), one, side), nil},
			"a resolved conflict":                {r.commit("one, picked", texts("a", numbers(30, "10", "ten")), r.commit("back", texts("a", numbers(30)), same)), r.commit("Merge", texts("a", numbers(30, "10", "both")), one, same), nil},
			"behind a merge that is not its own": {p2, r.commit("empty", nil, r.commit("Merge", texts("extra", "x\n"), one, start)), nil},
			"more, where the base went on":       {on, r.commit("Merge", texts("a", numbers(30, "10", "more", "29", "base")), one, other), nil},
			"three at once":                      {on, r.commit("Merge", texts("a", numbers(30, "10", "more", "29", "base"), "b", numbers(30, "20", "twenty")), one, side, other), nil},
			"undone on the base":                 {r.commit("back", texts("a", numbers(30, "29", "base")), p1), one, nil},
			"undone beside what it went over":    {r.commit("back", texts("b", numbers(30)), on), clean, nil},
		} {
			list, ok, err := r.c.LandedElsewhere(ctx, test.base, test.head)
			require.NoError(t, err, name)
			assert.Equal(t, test.want, shas(list), name)
			assert.Equal(t, test.want != nil, ok, name)
		}
	})
}

func TestWhatLandedIsFoundInAShallowOrPartialClone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--depth=1", "--filter=blob:none"} {
		h := newHub(t)
		h.commit("main", "file", map[string]string{"a.txt": numbers(30)})
		work := h.commit("theirs", "work", map[string]string{"a.txt": numbers(30, "3", "three")})
		side := h.commit("side", "side", map[string]string{"a.txt": numbers(30, "25", "side")})
		h.git(h.dev, "checkout", "-q", "theirs")
		h.git(h.dev, "merge", "-q", "-m", "with the side", side)
		head := h.git(h.dev, "rev-parse", "HEAD")
		h.git(h.dev, "checkout", "-q", "main")
		h.git(h.dev, "cherry-pick", "-x", work)
		picked := h.git(h.dev, "rev-parse", "HEAD")
		h.git(h.dev, "merge", "-q", "--no-ff", "-m", "the side", side)
		h.git(h.dev, "push", "-q", "origin", "main", "theirs")
		base := h.grow("main", 80)
		c := h.open(h.workspace("main", how, "--no-checkout"))
		_, err := c.FetchRef(ctx, "refs/heads/theirs")
		require.NoError(t, err)
		list, ok, err := c.LandedElsewhere(ctx, base, head)
		require.NoError(t, err)
		assert.True(t, ok, how)
		assert.Equal(t, []string{picked}, shas(list))
	}
}

func TestTwoTreesBesideEachOther(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"", "--depth=1", "--filter=blob:none"} {
		h := newHub(t)
		base := h.commit("main", "files", map[string]string{"a.txt": "base\n"})
		head := h.commit("theirs", "work", map[string]string{"a.txt": "head\n"})
		dir := ""
		if how != "" {
			dir = h.workspace("main", how, "--no-checkout")
		}
		c := h.open(dir)
		if dir == "" {
			_, err := c.Radar(ctx, []git.RadarHead{{Number: 7, Ref: "refs/heads/theirs", SHA: head, Base: "main"}}, 0)
			require.NoError(t, err) // a partial clone from here on
		}
		require.NoError(t, c.Have(ctx, base, head))
		one, removeOne, err := c.TestTree(ctx, base)
		require.NoError(t, err)
		write(t, one, map[string]string{"a.txt": "by a command\n"})
		two, removeTwo, err := c.TestTree(ctx, head)
		require.NoError(t, err)
		assert.Equal(t, "head\n", read(t, two, "a.txt"))
		assert.Equal(t, "by a command\n", read(t, one, "a.txt"))
		h.git(one, "commit", "-q", "-a", "-m", "by a command")
		require.NoError(t, os.RemoveAll(filepath.Join(two, ".git")))
		require.NoError(t, removeOne())
		require.NoError(t, removeTwo())
		require.NoError(t, c.Renew())
		text, err := c.Blob(ctx, head, "a.txt")
		require.NoError(t, err)
		assert.Equal(t, "head\n", string(text))
	}
}
