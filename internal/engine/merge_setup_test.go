package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMergeSetsAFreshTreeUpBeforeTheTests(t *testing.T) {
	w := newMerge(t, `setup = ["sh", "-c", "echo ready > made"]`, `tests = ["grep", "-q", "ready", "made"]`)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.lands("/mergexo merge")
	assert.Contains(t, w.request(), "`grep -q ready made` passed on exactly this commit, after `sh -c 'echo ready > made'`.")
	assert.NotContains(t, w.bare("ls-tree", "-r", "--name-only", "main"), "made", "what a setup makes lands nowhere")
}

// npm is a program of that name, which a project's lockfile asks for: what it installs is in the tree.
func (w *world) npm(ci string) {
	w.t.Helper()
	w.installed("npm", "case \"$1\" in ci) "+ci+" ;; test) exec test -f node_modules/left-pad/index.js ;; esac\n")
}

// installed puts a script before all other programs of the runner: a machine with Go and git need not have the real one.
func (w *world) installed(name, script string) {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	w.env = map[string]string{"PATH": dir + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

const installs = "mkdir -p node_modules/left-pad && echo pad > node_modules/left-pad/index.js"

func TestMergeSetsUpWhatALockfileTells(t *testing.T) {
	w := newWorld(t)
	w.npm(installs)
	w.write("octo", "main", "package.json", `{"scripts": {"test": "jest"}}`)
	w.write("octo", w.head, "package-lock.json", "{}\n") // the branch brings the first dependency
	w.approve("alice")
	foretold := w.command("carol", "/mergexo merge dry-run")
	require.Equal(t, model.ResultDone, foretold.Result, foretold.Reason)
	assert.Contains(t, w.lastSaid(), "The tests would run with `npm test` (detected from package.json), after `npm ci --no-audit --no-fund` (detected from package-lock.json).")
	w.lands("/mergexo merge")
	assert.Contains(t, w.request(), "`npm test` passed on exactly this commit (detected from package.json), after `npm ci --no-audit --no-fund` (detected from package-lock.json).")
	assert.Contains(t, w.logged.String(), `msg=setup command="npm ci --no-audit --no-fund" why="detected from package-lock.json"`)
}

// What nobody has asked for never is in the way of tests that pass, and is named where they fail.
func TestMergeByTestsThatDoWithoutWhatALockfileTells(t *testing.T) {
	t.Parallel()
	for tests, badge := range map[string]string{`["true"]`: "merged", `["npm", "test"]`: "open"} {
		t.Run(badge, func(t *testing.T) {
			w := newMerge(t, "tests = "+tests)
			w.npm("echo registry is down; exit 4")
			w.write("octo", "main", "package-lock.json", "{}\n")
			w.command("carol", "/mergexo merge")
			assert.Equal(t, badge, w.badge())
			if badge == "open" {
				w.requested("merge_failed SETUP_FAILED", "registry is down")
				assert.Contains(t, w.request(), "`npm test` failed (exit code 1")
				return
			}
			assert.Contains(t, w.request(), "They passed although `npm ci --no-audit --no-fund` (detected from package-lock.json) had failed: exit code 4.")
		})
	}
}

// A setup of its own has the time of the tests, and not another time as much.
func TestMergeSetupAndTestsHaveOneTime(t *testing.T) {
	w := newMerge(t, `setup = ["sh", "-c", "echo waiting; read line < fifo || true"]`, `tests = ["sh", "-c", "echo testing; sleep 1000"]`, `test_timeout = "7s"`)
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, exec.Command("mkfifo", fifo).Run())
	w.write("octo", "main", ".github/mergexo.toml", strings.ReplaceAll(w.fileOf("main", ".github/mergexo.toml"), "< fifo", "< "+fifo))
	w.approve("alice")
	w.printed.At("waiting", func() { // most of the time is gone, then
		w.clock.Advance(6 * time.Second)
		go func() { _ = os.WriteFile(fifo, []byte("go\n"), 0o600) }()
	})
	w.passing(time.Second, "testing")
	w.blocked("PRE_MERGE_FAILED", w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.request(), "(timed out after 7s, `[merge] test_timeout`)")
}

func TestMergeWithoutASetup(t *testing.T) {
	w := newMerge(t, `setup = "none"`, `tests = ["test", "!", "-e", "node_modules"]`)
	w.npm(installs)
	w.write("octo", "main", "package-lock.json", "{}\n")
	w.lands("/mergexo merge")
}
