package merging_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

// To merge random histories by hand, and compare with git:
//
//	go test ./internal/git/merging -run TestRandomHistoriesByHand -timeout 0 -seed 1 -histories 1000
var (
	fromSeed  = flag.Uint64("seed", 0, "the first of the random histories that -histories asks for")
	histories = flag.Uint64("histories", 0, "how many random histories to merge beside the tests' own ones")
)

func TestRandomHistoriesLandAsGitMergesThem(t *testing.T) {
	gittest.EachGit(t, func(t *testing.T, path string) {
		from := uint64(0)
		if path != gittest.GitPath() { // others than the one on PATH gets
			from = 300
		}
		all := landHistories(t, path, from, 24)
		assert.Greater(t, all["clean"], 10, "histories that say something: %v", all)
		assert.Greater(t, all["picked"], all["squashed"], "%v", all)
		for _, kind := range []string{"merges", "conflict", "evil", "unmoved", "duplicates"} {
			assert.Positive(t, all[kind], "%s: %v", kind, all)
		}
	})
}

// TestRandomHistoriesByHand does nothing unless it is asked for.
func TestRandomHistoriesByHand(t *testing.T) {
	t.Parallel()
	all := map[string]int{}
	for seed := *fromSeed; seed < *fromSeed+*histories; seed += 100 {
		for kind, n := range landHistories(t, gittest.GitPath(), seed, min(100, *fromSeed+*histories-seed)) {
			all[kind] += n
		}
		fmt.Fprintf(os.Stderr, "seeds %d to %d: %v\n", *fromSeed, min(seed+100, *fromSeed+*histories)-1, all)
	}
}

// landHistories merges n random histories, and counts of which kinds they were.
func landHistories(t *testing.T, path string, from, n uint64) map[string]int {
	all := map[string]int{}
	for seed := from; seed < from+n; seed++ {
		ok := t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			for _, kind := range landHistory(t, newHistory(t, path, seed)) {
				all[kind]++
			}
		})
		if !ok {
			fmt.Fprintf(os.Stderr, "seed %d fails\n", seed)
		}
	}
	return all
}

// expected is what the stock git makes of a history.
type expected struct {
	merged  string // the tree of its merge; "" for a conflict
	rebased []string
	clean   bool // its rebase is
	evil    bool // a merge commit in the branch is not git's own
	again   bool // the branch has changes that the base has as well
	own     int  // the branch's commits that are no merges
}

// known tells whether the stock git's rebase shows what the strategy picks. The stock git leaves out beforehand what the
// base has as well; of the strategies only rebase does that, and only where the merge conflicts.
func (want expected) known(strategy string) bool {
	return want.clean && !want.evil && (!want.again || want.merged == "" && strategy == model.StrategyRebase)
}

// nothing says that no picked commit lands, because the base has every change of the branch. The stock git lands the commits
// that were made empty even then; here they land with a change, or where the branch has only such commits.
func (want expected) nothing(tree string) bool {
	changes := slices.ContainsFunc(want.rebased, func(c string) bool { return !strings.HasPrefix(c, tree+"|") })
	return want.stays(tree) && !changes && (len(want.rebased) == 0 || len(want.rebased) < want.own)
}

// undone says that the stock git rebases a change away that the branch and the base both have: the branch takes it back, and a
// merge keeps the base's. Then what a merge makes lands, which is nothing.
func (want expected) undone(tree string) bool {
	return want.merged == tree && len(want.rebased) > 0 && !strings.HasPrefix(want.rebased[len(want.rebased)-1], tree+"|")
}

// stays says that a merge changes none of the base's files, or conflicts.
func (want expected) stays(tree string) bool { return want.merged == "" || want.merged == tree }

func landHistory(t *testing.T, h *randomHistory) (kinds []string) {
	base, head := h.base, h.head
	if h.Git("merge-base", base, head) == head {
		require.ErrorAs(t, gittest.Err(h.Build(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})),
			new(*merging.ErrEmpty))
		return []string{"nothing"}
	}
	want := h.expect(base, head)
	for kind, found := range map[string]bool{
		"clean": want.merged != "", "conflict": want.merged == "", "evil": want.evil, "like git rebase": want.merged == "" && want.clean,
		"merges": h.Git("rev-list", "--merges", head, "^"+base) != "", "unmoved": h.Git("merge-base", base, head) == base, "duplicates": want.again,
	} {
		if found {
			kinds = append(kinds, kind)
		}
	}
	if made := h.rebases(t, want); made.Strategy == merging.SquashReapply {
		kinds = append(kinds, "squashed")
	} else if made.Tip != "" {
		kinds = append(kinds, "picked")
	}
	h.picks(t, want)
	for _, strategy := range []string{model.StrategySquash, model.StrategyNoFF} {
		made, err := h.Build(merging.Request{Strategy: strategy, Base: base, Head: head})
		switch {
		case want.merged == "":
			require.ErrorAs(t, err, new(*merging.ErrConflict), strategy)
		case want.merged == h.Tree(base):
			require.ErrorAs(t, err, new(*merging.ErrEmpty), strategy)
		default:
			require.NoError(t, err, strategy)
			require.Equal(t, want.merged, made.Tree, strategy)
		}
	}
	return kinds
}

// rebases tests what rebase lands.
func (h *randomHistory) rebases(t *testing.T, want expected) merging.Merged {
	made, err := h.Build(merging.Request{Strategy: model.StrategyRebase, Base: h.base, Head: h.head})
	switch {
	case want.merged == "" && (!want.clean || want.evil):
		require.ErrorAs(t, err, new(*merging.ErrConflict))
		return made
	case want.known(model.StrategyRebase) && (want.nothing(h.Tree(h.base)) || want.undone(h.Tree(h.base))), err != nil && !want.known(model.StrategyRebase) && want.stays(h.Tree(h.base)):
		require.ErrorAs(t, err, new(*merging.ErrEmpty))
		return made
	}
	require.NoError(t, err, "%+v", want)
	if want.merged != "" {
		require.Equal(t, want.merged, made.Tree)
	}
	if made.Strategy == merging.SquashReapply {
		require.False(t, !want.evil && !want.again && want.clean && len(want.rebased) > 0 && strings.HasPrefix(want.rebased[len(want.rebased)-1], want.merged+"|"), "the stock git rebases it")
		return made
	}
	h.linear(t, made)
	if want.clean && (want.merged == "" || !want.again) {
		require.Equal(t, want.rebased, h.told(made.Tip), "what git rebase makes")
	}
	return made
}

// picks tests what cherry-pick lands, which is what its messages say.
func (h *randomHistory) picks(t *testing.T, want expected) {
	m := merging.Request{Strategy: model.StrategyCherryPick, Base: h.base, Head: h.head}
	made, err := h.Build(m)
	known, tree := want.known(m.Strategy), h.Tree(h.base)
	switch empty := errors.As(err, new(*merging.ErrEmpty)); {
	case empty:
		require.True(t, want.stays(tree), "the branch changes something: %v", err)
		require.True(t, !known || want.nothing(tree), "the stock git picks something: %v", err)
		return
	case known:
		require.False(t, want.nothing(tree), "the base has every change of the branch: %v", err)
	}
	if err != nil {
		require.True(t, errors.As(err, new(*merging.ErrChanged)) || errors.As(err, new(*merging.ErrConflict)), "%v", err)
		require.False(t, known && len(want.rebased) > 0 && (want.merged == "" || strings.HasPrefix(want.rebased[len(want.rebased)-1], want.merged+"|")), "the stock git picks it: %v", err)
		return
	}
	if want.merged != "" {
		require.Equal(t, want.merged, made.Tree)
	}
	h.linear(t, made)
	for _, moved := range made.Commits {
		require.Contains(t, h.Git("log", "-1", "--format=%B", moved.SHA), "(cherry picked from commit "+moved.Was+")")
	}
}

// linear tests that what landed are the branch's own commits in their order, each once, less what is told as left out.
func (h *randomHistory) linear(t *testing.T, made merging.Merged) {
	own := strings.Fields(h.Git("rev-list", "--reverse", "--topo-order", "--no-merges", h.head, "^"+h.base))
	dropped := gittest.Shas(made.Dropped)
	var was []string
	parent := h.base
	for _, moved := range made.Commits {
		require.Equal(t, parent, h.Git("log", "-1", "--format=%P", moved.SHA))
		parent = moved.SHA
		was = append(was, moved.Was)
		const by = "--format=%an <%ae> %ad"
		require.Equal(t, h.Git("log", "-1", by, moved.Was), h.Git("log", "-1", by, moved.SHA))
	}
	require.Equal(t, made.Tip, parent)
	require.Equal(t, slices.DeleteFunc(own, func(sha string) bool { return slices.Contains(dropped, sha) }), was)
}

// told is what commits on top of the base are to their readers.
func (h *randomHistory) told(tip string) []string {
	out := h.Git("log", "-z", "--reverse", "--topo-order", "--encoding=UTF-8", "--format=%T|%an|%ae|%ad|%B", tip, "^"+h.base)
	var list []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if entry != "" {
			list = append(list, strings.TrimSpace(asLatin1(entry)))
		}
	}
	return list
}

// asLatin1 reads bytes that are no UTF-8 as the stock git does when it writes a commit again; MergeXO keeps them.
func asLatin1(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && s[i] != "\uFFFD"[0] {
			r = rune(s[i])
		}
		b.WriteRune(r)
	}
	return b.String()
}

// expect asks the stock git.
func (h *randomHistory) expect(base, head string) (want expected) {
	if sha, ok := h.merged(base, head); ok {
		want.merged = h.Tree(sha)
	}
	h.at(head)
	if out, err := h.inStock("rebase", "-q", base); err == nil {
		want.clean, want.rebased = true, h.told(h.read())
	} else {
		require.Contains(h.T, out, "could not apply")
	}
	want.own = len(strings.Fields(h.Git("rev-list", "--no-merges", head, "^"+base)))
	want.again = strings.Contains(h.Git("log", "--cherry-mark", "--right-only", "--no-merges", "--format=%m", base+"..."+head), "=")
	for _, row := range strings.Split(h.Git("rev-list", "--merges", "--parents", head, "^"+base), "\n") {
		ids := strings.Fields(row)
		if len(ids) == 3 {
			sha, ok := h.merged(ids[1], ids[2])
			want.evil = want.evil || !ok || h.Tree(sha) != h.Tree(ids[0])
		}
	}
	return want
}
