package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
)

// TestInitUpdatesFilesOfAnOlderVersion begins with what an init from before the agents' install steps wrote, for an agent in a job of
// its own, after somebody had chosen codex.
func TestInitUpdatesFilesOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	older := func(name string) string { return read(t, "internal/cli/testdata/init/older/"+name) }
	const ci = "name: CI\non: [pull_request]\njobs: {}\n"
	dir := newRepository(t)
	put(t, dir, ".github/workflows/ci.yml", ci)
	put(t, dir, thread.SettingsPath, older("mergexo.toml"))
	put(t, dir, doctor.WorkflowPath, older("mergexo.yml"))
	before := programIn(t, dir, "", nil, "doctor")
	assert.Equal(t, 2, before.exit, before.out)
	assert.Contains(t, before.out, "  fix   ")

	kept := programIn(t, dir, "", nil, "init", "--yes")
	require.Equal(t, 0, kept.exit, kept.errout)
	assert.Equal(t, older("mergexo.yml"), filesIn(t, dir)[doctor.WorkflowPath], "--yes overwrites nothing")

	got := programIn(t, dir, "y\ny\n", nil, "init")
	require.Equal(t, 0, got.exit, got.errout)
	assert.Contains(t, got.errout, ".github/workflows/mergexo.yml already exists with different content: you changed it, or another version of mergexo wrote it.")
	assert.NotContains(t, got.errout, "Agent:", "the files say which")
	fresh := newRepository(t)
	put(t, fresh, ".github/workflows/ci.yml", ci)
	require.Equal(t, 0, programIn(t, fresh, "", nil, "init", "--agent", "codex", "--split", "--yes").exit)
	assert.Equal(t, filesIn(t, fresh)[doctor.WorkflowPath], filesIn(t, dir)[doctor.WorkflowPath], "as if it were made now, with the same answers")
	assert.Contains(t, filesIn(t, dir)[thread.SettingsPath], "adapter = \"codex\"")
	after := programIn(t, dir, "", nil, "doctor")
	assert.NotContains(t, after.out, "  fix   ")
}
