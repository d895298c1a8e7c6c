package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// GitHub itself does not look at .gitattributes: what conflicts there and nowhere else is told so, before tests run.
func TestAUnionMergeThatGitHubDoesNotMake(t *testing.T) {
	w := newMerge(t, `strategy = "api"`, `tests = ["sh", "-c", "echo were run; exit 1"]`)
	w.write("octo", "main", ".gitattributes", "greeting.txt merge=union\n")
	w.write("octo", "main", "greeting.txt", "hello\nbase\n")
	before := w.at("main")
	w.command("carol", "/mergexo merge")
	assert.Equal(t, before, w.at("main"))
	w.requested("merge_failed REBASE_CONFLICT", `conflicts in "greeting.txt"; "greeting.txt" has merge=union in .gitattributes, which GitHub does not apply: merge the base into the branch, or use another strategy.`)
	assert.Contains(t, w.request(), "<<<<<<< base\nbase\n=======\nworld\n>>>>>>> branch")
	assert.NotContains(t, w.request(), "were run")
}

// MergeXO runs no program that .gitattributes name, and says so where one is missing.
func TestAMergeDriverIsNotRun(t *testing.T) {
	w := newMerge(t, `tests = "none"`)
	w.write("octo", "main", ".gitattributes", "greeting.txt merge=ours\n")
	w.write("octo", "main", "greeting.txt", "hello\nbase\n")
	w.command("carol", "/mergexo merge")
	w.requested("merge_failed REBASE_CONFLICT", `"greeting.txt" has merge=ours in .gitattributes, and MergeXO runs no such program: merge the base into the branch in a clone that has it.`)
}
