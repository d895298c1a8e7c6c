//go:build all

package git_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestARebaseLandsMoreCommitsThanAListNamesWhereTheMergeConflicts(t *testing.T) {
	t.Parallel()
	r := newRepo(t, gitPath())
	root := r.commit("root", texts("f", numbers(20)))
	base := r.commit("again", texts("f", numbers(20, "5", "FIVE")), r.commit("taken", texts("f", numbers(20, "5", "five")), root))
	head := r.commit("h1", texts("f", numbers(20, "5", "five")), root)
	for i := range 260 {
		head = r.commit("more", texts("g", fmt.Sprintln(i)), head)
	}
	made := r.must(git.Merge{Strategy: model.StrategyRebase, Base: base, Head: head})
	assert.Equal(t, 260, made.Count)
	assert.Len(t, made.Commits, 250)
}
