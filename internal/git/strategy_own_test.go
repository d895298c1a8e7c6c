package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// TestASquashThatSaysWhatTheBranchSays: a merge of the base into the branch is no commit of its own.
func TestASquashThatSaysWhatTheBranchSays(t *testing.T) {
	oneGit(t, func(t *testing.T, path string) {
		r := newRepo(t, path)
		a := r.commit("a", texts("f", "f\n"))
		base := r.commit("base", texts("b", "b\n"), a)
		only := r.commitBy("Ann <ann@example.com> 1600000000 +0100", "caf\xe9 and\ncake\n\nWhy.\n\nSigned-off-by: Ann <ann@example.com>\nCo-authored-by: Cy <cy@example.com>", texts("g", "g\n"), a)
		said := func(head string) string {
			made := r.must(git.Merge{Strategy: model.StrategySquash, Base: base, Head: head, Title: "agent/x", Own: true})
			return strings.TrimSpace(r.git("log", "-1", "--format=%an|%B", made.Tip))
		}
		assert.Equal(t, "Ann|café and cake\n\nWhy.\n\nSigned-off-by: Ann <ann@example.com>\nCo-authored-by: Cy <cy@example.com>", said(only))
		updated := r.commit("Merge main", texts("b", "b\n"), only, base)
		assert.Equal(t, said(only), said(updated))
		second := r.commitBy("Bob <bob@example.com> 1600000001 +0100", "second\n\nMore.", texts("h", "h\n"), only)
		assert.Equal(t, "Ann|agent/x\n\n"+r.offered(base, second)+"\n\nCo-authored-by: Cy <cy@example.com>\nCo-authored-by: Bob <bob@example.com>", said(second))
	})
}
