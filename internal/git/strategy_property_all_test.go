//go:build all

package git_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestRandomHistoriesLandAsGitMergesThem(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		clean, fell := 0, 0
		r := newRepo(t, path)
		from := uint64(0)
		if path != gitPath() { // others than the one on PATH gets
			from = 100
		}
		for seed := from; seed < from+12; seed++ {
			h := &history{r: r, rand: rand.New(rand.NewPCG(seed, 7)), made: map[string]map[string]edit{}}
			start := map[string]edit{}
			for i := range 8 {
				start[fmt.Sprintf("d%d/f%d", i%2, i)] = edit{"100644", strings.ReplaceAll(numbers(15), "\n", fmt.Sprintf(" of %d\n", i))}
			}
			root := h.commit(start)
			base, head := h.change(root), h.change(root)
			for range h.rand.IntN(3) {
				base, head = h.change(base), h.change(head)
			}
			if h.rand.IntN(3) == 0 {
				if merge, ok := r.merge(head, base); ok {
					head, base = r.commit("after it", texts("after", fmt.Sprintln(seed)), merge), r.commit("meanwhile", texts("meanwhile", "m\n"), base)
				}
			}
			want, ok := r.merge(base, head)
			if !ok {
				_, err := r.build(git.Merge{Strategy: model.StrategyNoFF, Base: base, Head: head})
				var conflict *git.ErrConflict
				require.ErrorAs(t, err, &conflict, "seed %d", seed)
				continue
			}
			clean++
			for _, strategy := range treeStrategies {
				m := git.Merge{Strategy: strategy, Base: base, Head: head}
				made, err := r.c.Build(ctx, m)
				require.NoError(t, err, "seed %d, %s", seed, strategy)
				if seed%4 == 0 {
					require.NoError(t, r.c.Verify(ctx, m, made), "seed %d, %s", seed, strategy)
				}
				require.Equal(t, r.tree(want), made.Tree, "seed %d, %s", seed, strategy)
				if made.Strategy == git.SquashReapply {
					fell++
				}
				was, now := []string{"log", "--no-walk=unsorted", "--format=%an %ae %ad %B"}, []string{"log", "--no-walk=unsorted", "--format=%an %ae %ad %B"}
				for _, moved := range made.Commits {
					if moved.Was != "" {
						was, now = append(was, moved.Was), append(now, moved.SHA)
					}
				}
				if len(was) > 3 {
					require.Equal(t, r.git(was...), r.git(now...), "seed %d, %s", seed, strategy)
				}
			}
		}
		assert.Greater(t, clean, 4, "histories that say something")
		assert.Less(t, fell, clean/2)
	})
}
