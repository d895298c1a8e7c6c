package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A retry asks for the merge that failed once more, in the same way, though MergeXO does not work on the branch.
func TestARetryOfAMergeThatFailed(t *testing.T) {
	const branch = "feat/second"
	w := newMerge(t, `tests = ["test", "-e", "fixed.txt"]`)
	w.second(branch, "second.txt")
	w.write("octo", branch, "second.txt", "more\n")
	w.approve("alice")
	w.blocked("PRE_MERGE_FAILED", w.command("carol", "/mergexo merge strategy=squash"))
	w.write("octo", "main", "fixed.txt", "yes\n")
	w.lands("/mergexo retry")
	assert.Equal(t, w.bare("rev-parse", "main~1"), w.bare("log", "-1", "--format=%H", "main", "--", "fixed.txt"), "squashed, as was asked")
	w.command("carol", "/mergexo retry")
	assert.Contains(t, w.lastSaid(), "nothing can be done here")
}
