package engine_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// GitHub takes from the workflow's token no new commits that change workflows. That is known before any test runs, and why says it.
func TestAMergeThatTheTokenMayNotPushEndsBeforeItsTests(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := newMerge(t, `strategy = "squash"`, `tests = ["`+script(t, "echo tested >"+log+"\n")+`"]`)
	w.write("octo", w.head, ".github/workflows/ci.yml", "on: push\n")
	w.approve("alice")
	said := w.explain(w.number)
	const why = "it changes .github/workflows/ci.yml, and MergeXO's token may not push changes of workflows"
	i := slices.IndexFunc(said.Merges, func(g model.Gate) bool { return g.Name == merge.GatePushable })
	assert.Contains(t, said.Merges[i].Evidence, why)
	assert.Contains(t, w.blocked("FORBIDDEN", w.command("carol", "/mergexo merge")).Reason, why)
	assert.NoFileExists(t, log, "nothing was tested")
}
