package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// Required tests find git as on a fresh machine, in what an agent has left, too.
func TestRequiredTestsHaveAGitOfTheirOwn(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "! git config core.hooksPath && ! git config protocol.allow && ! env | grep -e GIT_CONFIG_COUNT -e GIT_AUTHOR && git config user.email"]`)
	w.done(w.handle(w.remark("alice", "Fix it.")))
	assert.Len(t, w.marked("turn", "done"), 1)
}

// A workflow may check the repository out without its trees.
func TestATreelessCheckout(t *testing.T) {
	w := newWorld(t)
	w.clone("--filter=tree:0")
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Fix it.")).Result, w.logged.String())

	w = newMerge(t, `tests_in = "checkout"`, `tests = ["true"]`)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.clone("--filter=tree:0")
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result, w.logged.String())
	assert.Equal(t, "merged", w.badge())
}
