package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/must"
)

// Settings that are there stay, and init adds what is new. A flag decides its own key only.
func TestInitKeepsTheSettingsThatAreThere(t *testing.T) {
	t.Parallel()
	const ours = `# ours
[repo]
required_tests = ["scripts/check"]   # slow, and worth it
operators = [
  "carol", # on duty
]

[agent]
adapter = "command"
command = ["bin/agent", "--fast"]

[feedback]
ci = "never"
[merge]
verify = "ci"
required_checks = ["test@github-actions"]
auto = "label"
[[merge.rule]]
branch = "docs/*"
strategy = "squash"
`
	dir := newRepository(t, "go.mod", "module x\n", ".github/workflows/ci.yml", "name: CI\non: [push]\njobs: {}\n", thread.SettingsPath, ours)
	programIn(t, dir, "", nil, "init", "--yes").ok(t)
	assert.Equal(t, ours, filesIn(t, dir)[thread.SettingsPath], "--yes overwrites nothing")

	got := programIn(t, dir, "y\n", nil, "init", "--ci", "CI").ok(t)
	shows(t, "init/kept.toml", "", filesIn(t, dir)[thread.SettingsPath])
	shows(t, "init/kept.txt", dir, got.errout)
	assert.Contains(t, programIn(t, dir, "", nil, "init").ok(t).out, "kept  .github/mergexo.toml, which is unchanged")

	got = programIn(t, dir, "", nil, "init", "--force", "--agent", "claude").ok(t)
	assert.Contains(t, got.errout, "--- a/.github/mergexo.toml\n+++ b/.github/mergexo.toml\n@@ -7,7 +7,7 @@", "also with --force")
	settings := must.Get(config.Parse(filesIn(t, dir)[thread.SettingsPath], ""))(t)
	assert.Equal(t, "claude", settings.Agent.Adapter)
	assert.Equal(t, []string{"scripts/check"}, settings.Repo.RequiredTests)
	assert.Equal(t, "label", settings.Merge.Auto)
}

// The diff that init shows is one that git takes.
func TestInitShowsAnApplicableDiff(t *testing.T) {
	t.Parallel()
	for _, was := range []string{"# mine\n", "[merge]\nverify = \"ci\"\n\n\n[repo]\n# a\n# b\n# c\n# d\n# e\n# f\n# g\n# h\n[labels]\nignore = \"x\"\n"} {
		dir := newRepository(t, thread.SettingsPath, was)
		got := programIn(t, dir, "", nil, "init", "--force", "--agent", "suggestion", "--merge", "command").ok(t)
		now := filesIn(t, dir)[thread.SettingsPath]
		put(t, dir, thread.SettingsPath, was)
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(got.errout)
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", said, got.errout)
		assert.Equal(t, now, filesIn(t, dir)[thread.SettingsPath])
	}
}

// TestInitUpdatesFilesOfAnOlderVersion begins with what an init from before the agents' install steps wrote, for an agent in a job of
// its own, after somebody had chosen codex.
func TestInitUpdatesFilesOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	older := func(name string) string { return read(t, "internal/cli/testdata/init/older/"+name) }
	const ci = "name: CI\non: [pull_request]\njobs: {}\n"
	dir := newRepository(t, ".github/workflows/ci.yml", ci, thread.SettingsPath, older("mergexo.toml"), doctor.WorkflowPath, older("mergexo.yml"))
	before := programIn(t, dir, "", nil, "doctor")
	assert.Equal(t, 2, before.exit, before.out)
	assert.Contains(t, before.out, "  fix   ")

	programIn(t, dir, "", nil, "init", "--yes").ok(t)
	assert.Equal(t, older("mergexo.yml"), filesIn(t, dir)[doctor.WorkflowPath], "--yes overwrites nothing")

	got := programIn(t, dir, "y\ny\n", nil, "init").ok(t)
	assert.Contains(t, got.errout, ".github/workflows/mergexo.yml already exists with different content: you changed it, or another version of mergexo wrote it.")
	assert.NotContains(t, got.errout, "Agent:", "the files say which")
	fresh := newRepository(t, ".github/workflows/ci.yml", ci)
	require.Equal(t, 0, programIn(t, fresh, "", nil, "init", "--agent", "codex", "--split", "--yes").exit)
	assert.Equal(t, filesIn(t, fresh)[doctor.WorkflowPath], filesIn(t, dir)[doctor.WorkflowPath], "as if it were made now, with the same answers")
	assert.Contains(t, filesIn(t, dir)[thread.SettingsPath], "adapter = \"codex\"")
	assert.NotContains(t, programIn(t, dir, "", nil, "doctor").out, "  fix   ")
}

// Another agent over a set-up that people have edited: what the flag asks for changes, its diff is shown, and all else stays.
func TestInitChangesTheAgentAlone(t *testing.T) {
	t.Parallel()
	dir := newRepository(t, "go.mod", "module x\n")
	require.Equal(t, 0, programIn(t, dir, "", nil, "init", "--yes").exit)
	edit := func(name, old, with string) {
		t.Helper()
		text := filesIn(t, dir)[name]
		require.Contains(t, text, old, name)
		put(t, dir, name, strings.Replace(text, old, with, 1))
	}
	edit(doctor.WorkflowPath, "    timeout-minutes: 90 #", "    timeout-minutes: 77 #")
	edit(workflow.SetupPath, "  steps:\n", "  steps:\n    - run: docker run -d postgres\n      shell: bash\n")
	edit(workflow.SetupPath, "codex@", "codex@0.1.0-was")
	edit(thread.SettingsPath, "track = [\"agent/**\"]", "track = [\"ours/**\"]")
	before := filesIn(t, dir)

	got := programIn(t, dir, "", nil, "init", "--agent", "claude", "--yes").ok(t)
	shows(t, "init/another_agent.txt", "", got.errout)
	after := filesIn(t, dir)
	for name, changes := range map[string]*strings.Replacer{
		thread.SettingsPath: strings.NewReplacer("adapter = \"codex\" ", "adapter = \"claude\""),
		doctor.WorkflowPath: strings.NewReplacer("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
	} {
		assert.Equal(t, changes.Replace(before[name]), after[name])
	}
	assert.Contains(t, after[workflow.SetupPath], "  steps:\n    - run: docker run -d postgres\n      shell: bash\n")
	assert.Contains(t, after[workflow.SetupPath], "@anthropic-ai/claude-code@")
	assert.NotContains(t, after[workflow.SetupPath], "codex")
	programIn(t, dir, "", nil, "init", "--agent", "claude", "--yes").ok(t)
	assert.Equal(t, after, filesIn(t, dir))

	put(t, dir, doctor.WorkflowPath, strings.Replace(after[doctor.WorkflowPath], "${{ secrets.ANTHROPIC_API_KEY }}", "${{ secrets.OURS }}", 1))
	got = programIn(t, dir, "y\nn\ny\n", nil, "init", "--agent", "codex").ok(t)
	assert.Contains(t, got.out, "kept  .github/workflows/mergexo.yml, whose content differs", "people have edited what would change: they are asked")
}

func TestInitTellsOfPathsThatAnAgentMayChange(t *testing.T) {
	t.Parallel()
	for paths, told := range map[string]bool{`["secrets/**"]`: true, `[".github/**"]`: false} {
		dir := newRepository(t, thread.SettingsPath, "[agent]\nadapter = \"suggestion\"\n[feedback]\nforbid_paths = "+paths+"\n")
		got := programIn(t, dir, "", nil, "init", "--yes").ok(t)
		assert.Equal(t, told, strings.Contains(got.out, "Add \".github/mergexo/**\" to [feedback] forbid_paths of .github/mergexo.toml"), got.out)
	}
}
