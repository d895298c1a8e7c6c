//go:build all

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Somebody changes a workflow on the base while an agent works on an issue. GitHub then takes no new ref with the old workflows from
// the workflow's token: the work is kept as a bundle behind a private ref, and the next attempt begins at the base as it is.
func TestWorkThatNoBranchTakesForItsWorkflowsIsKept(t *testing.T) {
	w := newIssue(t)
	const path = ".github/workflows/ci.yml"
	w.write("octo", "main", path, "on: push\n")
	w.agent = "meanwhile+job"
	w.meanwhile(deed{"octo", "PUT", w.path("/contents/" + path), fmt.Sprintf(`{"message": "Run CI for pull requests", "branch": "main", "content": "b246IHB1bGxfcmVxdWVzdAo=", "sha": %q}`, strings.TrimSpace(w.bare("rev-parse", "main:"+path)))})
	ev := w.label("alice", smallJob)
	w.handle(ev)
	kept := strings.Fields(w.bare("for-each-ref", "--format=%(refname)", "refs/mergexo/kept"))
	require.Len(t, kept, 1)
	assert.Contains(t, w.conversation(), kept[0])

	w.agent = "job"
	w.done(w.handle(ev))
	assert.Len(t, w.pulls(), 1)
}
