package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/must"
)

const (
	ownCI = ".github/workflows/ci.yml"
	// quietCI does not run on the branches of the merge train.
	quietCI = "name: CI\non:\n  push:\n    branches: [main] # and nothing else\n  pull_request:\njobs:\n  test: {runs-on: ubuntu-latest, steps: [{run: make}]}\n"
	heardCI = "name: CI\non:\n  push:\n    branches: [main, \"mergexo/train/**\"] # and nothing else\n  pull_request:\njobs:\n  test: {runs-on: ubuntu-latest, steps: [{run: make}]}\n"
)

// Nobody's CI changes without its diff. There is one question about it, and none where nothing wants a train.
func TestInitHasCIRunOnTheTrain(t *testing.T) {
	const shown = "--- a/.github/workflows/ci.yml\n+++ b/.github/workflows/ci.yml\n@@ -1,7 +1,7 @@\n name: CI\n on:\n   push:\n-    branches: [main] # and nothing else\n+    branches: [main, \"mergexo/train/**\"] # and nothing else\n"
	type row struct {
		settings, typed string
		flags           []string
		asked, changed  bool
	}
	must.Each(t, map[string]row{
		"by --yes": {"verify = \"ci\"", "", []string{"--yes"}, false, true}, "by force": {"verify = \"ci\"", "", []string{"--force"}, false, true},
		"yes": {"verify = \"ci\"", "y\ny\n", nil, true, true}, "the default": {"verify = \"ci\"", "y\n\n", nil, true, true},
		"no": {"verify = \"ci\"", "y\nn\n", nil, true, false}, "nobody answers": {"verify = \"ci\"", "y\n", nil, true, false},
		"no train": {"attempts = 3", "y\n", nil, false, false},
	}, func(t *testing.T, c row) {
		dir := newRepository(t, ownCI, quietCI, thread.SettingsPath, "[merge]\n"+c.settings+"\n")
		got := programIn(t, dir, c.typed, nil, append([]string{"init", "--agent", "suggestion", "--ci", "none", "--merge", "command"}, c.flags...)...).ok(t)
		assert.Equal(t, map[bool]string{true: heardCI, false: quietCI}[c.changed], filesIn(t, dir)[ownCI])
		assert.Equal(t, c.asked, strings.Contains(got.errout, "Change your CI as shown? [Y/n] "), got.errout)
		assert.Equal(t, c.asked || c.changed, strings.Contains(got.errout, shown), got.errout)
		assert.Equal(t, c.changed, strings.Contains(got.out, "wrote .github/workflows/ci.yml, which runs on the branches of the merge train now\n"), got.out)
		if c.changed {
			again := programIn(t, dir, "", nil, "init", "--yes").ok(t)
			assert.NotContains(t, again.out+again.errout, ownCI, "it is not asked again")
		}
	})
}

// What a program should not edit is left to a person, with the lines and the file. Without a train nobody is asked for it.
func TestInitTellsWhatAPersonWritesForTheTrain(t *testing.T) {
	const settings = "[merge]\nverify = \"ci\"\n"
	type row struct {
		settings string
		files    map[string]string
		out      string // golden; "": nothing of the train
		changed  []string
	}
	must.Each(t, map[string]row{
		"it publishes": {settings, map[string]string{ownCI: quietCI + "  publish: {if: github.event_name == 'push', runs-on: ubuntu-latest}\n"}, "train_event", nil},
		"two of them, of which one is required": {
			settings + "required_checks = [\"test\"]\n", map[string]string{ownCI: quietCI, ".github/workflows/lint.yml": strings.ReplaceAll(quietCI, "test", "lint")}, "train_required", []string{ownCI},
		},
		"only a deployment": {settings, map[string]string{ownCI: strings.Replace(quietCI, "  pull_request:\n", "", 1)}, "", nil},
	}, func(t *testing.T, c row) {
		dir := newRepository(t)
		if c.settings != "" {
			put(t, dir, thread.SettingsPath, c.settings)
			put(t, dir, doctor.WorkflowPath, starting.Workflow())
		}
		for path, text := range c.files {
			put(t, dir, path, text)
		}
		got := programIn(t, dir, "", nil, "init", "--yes").ok(t)
		var changed []string
		for path, text := range filesIn(t, dir) {
			if was, there := c.files[path]; there && was != text {
				changed = append(changed, path)
			}
		}
		assert.Equal(t, c.changed, changed)
		if c.out == "" {
			assert.NotContains(t, got.out, "mergexo/train")
			return
		}
		shows(t, "init/"+c.out+".txt", "", got.out)
	})
}

// Settings that want a train, or an App, make pushes events.
func TestInitMakesPushesEventsForATrain(t *testing.T) {
	dir := newRepository(t, thread.SettingsPath, "[merge]\nverify = \"both\"\n", doctor.WorkflowPath, starting.Workflow())
	put(t, dir, ".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n") // as a clone has it
	programIn(t, dir, "n\ny\n", nil, "init").ok(t)
	text := filesIn(t, dir)[doctor.WorkflowPath]
	assert.Contains(t, text, "  push:\n    branches: [trunk, \"mergexo/train/**\"]\n  delete:\n")
	put(t, dir, doctor.WorkflowPath, strings.Replace(text, "branches: [trunk,", "branches: [trunk, release,", 1))
	assert.Contains(t, programIn(t, dir, "n\n", nil, "init").ok(t).out, "kept  .github/workflows/mergexo.yml, which is unchanged\n")
}

// A link stays a link, and what it leads to stays as it is.
func TestInitDoesNotReplaceALinkByAFile(t *testing.T) {
	dir := newRepository(t, "ci/real.yml", quietCI, thread.SettingsPath, "[merge]\nverify = \"ci\"\n", doctor.WorkflowPath, starting.Workflow())
	require.NoError(t, os.Symlink("../../ci/real.yml", filepath.Join(dir, ownCI)))
	got := programIn(t, dir, "", nil, "init", "--yes").ok(t)
	assert.NotZero(t, must.Get(os.Lstat(filepath.Join(dir, ownCI)))(t).Mode()&os.ModeSymlink)
	assert.Equal(t, quietCI, filesIn(t, dir)["ci/real.yml"])
	assert.Contains(t, got.out, "Let "+ownCI+" run on the branches of the merge train, which needs the token of a GitHub App (it is a link to another file):")
}

// A required check that no workflow has comes from another service, and what that reports becomes an event.
func TestInitMakesStatusesEventsForAnotherService(t *testing.T) {
	for entry, events := range map[string]bool{"buildkite/widgets": true, "test": false} {
		dir := newRepository(t)
		put(t, dir, ownCI, quietCI)
		put(t, dir, thread.SettingsPath, "[merge]\nrequired_checks = [\""+entry+"\"]\n")
		put(t, dir, doctor.WorkflowPath, starting.Workflow())
		programIn(t, dir, "n\ny\n", nil, "init").ok(t)
		assert.Equal(t, events, strings.Contains(filesIn(t, dir)[doctor.WorkflowPath], "  status:\n  check_run:\n    types: [completed]\n"), entry)
	}

	// Without settings, the rules of the branch tell.
	h, dir := newField(t)
	h.api("octo", "PUT", "/api/v3/repos/octo/widgets/branches/main/protection", map[string]any{"enforce_admins": true, "required_pull_request_reviews": nil,
		"restrictions": nil, "required_status_checks": map[string]any{"strict": false, "contexts": []string{"buildkite/widgets"}}})
	h.onGitHub(dir, "octo").ok(t)
	assert.Contains(t, filesIn(t, dir)[doctor.WorkflowPath], "  status:\n")
}
