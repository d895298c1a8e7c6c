package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestABranchWithoutANetChange: a rebase keeps the commits that people wrote, and says what they come to.
func TestABranchWithoutANetChange(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"squash", "no-ff", "rebase"} {
		y := newYard(t, nil)
		y.commit("undone", "main~1", "Shout", map[string]string{"greeting.txt": "HELLO\n"})
		y.commit("undone", "undone", "Do not shout", map[string]string{"greeting.txt": "hello\nworld\n"})
		refs := y.refs()
		got := y.merge("--branch", "undone", "--strategy", strategy)
		assert.Equal(t, 0, got.exit, got.errout)
		if strategy == "rebase" {
			assert.Contains(t, got.out, "The commits cancel each other out: no file is another one than before.")
			assert.Equal(t, []string{"Do not shout", "Shout", "Meanwhile"}, y.subjects("main", 3))
			continue
		}
		assert.Equal(t, "result: nothing, undone has no net change, so there is nothing to merge into main\n", got.out)
		assert.Equal(t, refs, y.refs())
	}
}
