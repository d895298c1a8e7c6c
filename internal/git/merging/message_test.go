package merging_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
)

// TestASquashThatSaysWhatTheBranchSays: a merge of the base into the branch is no commit of its own.
func TestASquashThatSaysWhatTheBranchSays(t *testing.T) {
	r := gittest.OneRepo(t)
	a := r.Commit("a", gittest.Texts("f", "f\n"))
	base := r.Commit("base", gittest.Texts("b", "b\n"), a)
	only := r.CommitBy("Ann <ann@example.com> 1600000000 +0100", "caf\xe9 and\ncake\n\nWhy.\n\nSigned-off-by: Ann <ann@example.com>\nCo-authored-by: Cy <cy@example.com>", gittest.Texts("g", "g\n"), a)
	said := func(head string) string {
		made := r.Must(merging.Request{Strategy: model.StrategySquash, Base: base, Head: head, Title: "agent/x"})
		return strings.TrimSpace(r.Git("log", "-1", "--format=%an|%B", made.Tip))
	}
	assert.Equal(t, "Ann|café and cake\n\nWhy.\n\nSigned-off-by: Ann <ann@example.com>\nCo-authored-by: Cy <cy@example.com>", said(only))
	updated := r.Commit("Merge main", gittest.Texts("b", "b\n"), only, base)
	assert.Equal(t, said(only), said(updated))
	second := r.CommitBy("Bob <bob@example.com> 1600000001 +0100", "second\n\nMore.", gittest.Texts("h", "h\n"), only)
	assert.Equal(t, "Ann|agent/x\n\n"+r.Offered(base, second)+"\n\nCo-authored-by: Cy <cy@example.com>\nCo-authored-by: Bob <bob@example.com>", said(second))
}
