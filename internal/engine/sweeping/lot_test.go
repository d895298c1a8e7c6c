package sweeping

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestEveryNumberWithAStageHasItsTurn(t *testing.T) {
	f := &scan{open: map[int]bool{7: true}}
	f.base.Repo.OperationsIssue = 5
	for n := range 200 {
		f.refs = append(f.refs, model.Ref{Name: fmt.Sprintf("refs/mergexo/turn/%d/a", n)}, model.Ref{Name: fmt.Sprintf("refs/mergexo/turn/%d/b", n)}, model.Ref{Name: fmt.Sprintf("refs/mergexo/kept/%d/a", 1000+n)})
	}
	seen := map[int]bool{}
	for i := range 200 {
		also := f.also(func(n int) int { return i % n })
		assert.Len(t, also, maxAlso)
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(also))), maxAlso, "each once")
		assert.Equal(t, []int{5, 199, 198}, also[:3], "the newest are always among them")
		for _, n := range also {
			seen[n] = true
		}
	}
	assert.Len(t, seen, 200-2, "all but 0 and the open one")

	f.refs = f.refs[:3*20]
	also := f.also(func(int) int { t.Fatal("there is room for all"); return 0 })
	assert.Len(t, also, 20-2)
}
