//go:build all

package merging_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

func TestARebaseLandsMoreCommitsThanAListNamesWhereTheMergeConflicts(t *testing.T) {
	r := gittest.OneRepo(t)
	root := r.Commit("root", gittest.Texts("f", gittest.Numbers(20)))
	base := r.Commit("again", gittest.Texts("f", gittest.Numbers(20, "5", "FIVE")), r.Commit("taken", gittest.Texts("f", gittest.Numbers(20, "5", "five")), root))
	head := manyOn(r, r.Commit("h1", gittest.Texts("f", gittest.Numbers(20, "5", "five")), root), 260)
	made := r.Must(merging.Request{Strategy: model.StrategyRebase, Base: base, Head: head})
	assert.Equal(t, 260, made.Count)
	assert.Len(t, made.Commits, 250)
}
