package merging

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/history"
)

// TestOneBeginningIsTheMergeBase holds the shortcut against all common ancestors of two commits in graphs at random.
func TestOneBeginningIsTheMergeBase(t *testing.T) {
	taken := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		graph, above := []history.Node{}, map[string]map[string]bool{}
		for n := range 10 {
			node, all := history.Node{SHA: fmt.Sprint(n)}, map[string]bool{fmt.Sprint(n): true}
			for range min(n, 1+r.IntN(2)) {
				if parent := fmt.Sprint(r.IntN(n)); !slices.Contains(node.Parents, parent) {
					node.Parents = append(node.Parents, parent)
					for sha := range above[parent] {
						all[sha] = true
					}
				}
			}
			graph, above[node.SHA] = append(graph, node), all
		}
		base, head := fmt.Sprint(r.IntN(10)), fmt.Sprint(r.IntN(10))
		own := slices.DeleteFunc(slices.Clone(graph), func(n history.Node) bool { return !above[head][n.SHA] || above[base][n.SHA] })
		begins := beginnings(own)
		if len(begins) != 1 || begins[0] == "" {
			continue
		}
		taken++
		for sha := range above[head] {
			if above[base][sha] {
				assert.True(t, above[begins[0]][sha], "seed %d: %s and %s have %s in common, which is not in %s", seed, base, head, sha, begins[0])
			}
		}
		assert.True(t, above[base][begins[0]], "seed %d", seed)
	}
	assert.Greater(t, taken, 300)
}
