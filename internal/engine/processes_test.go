package engine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// countsGit notes from now on what MergeXO starts git for, one command a line. What git starts itself is not counted.
func (w *world) countsGit() (started func() []string) {
	w.t.Helper()
	program := must.Get(exec.LookPath("git"))(w.t)
	dir := w.t.TempDir()
	notes := filepath.Join(dir, "notes")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >> %s\nexec %s \"$@\"\n", notes, program)
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	w.gitPath = dir + string(filepath.ListSeparator) + os.Getenv("PATH")
	return func() []string {
		return strings.Split(strings.TrimSuffix(string(contents(w.t, notes)), "\n"), "\n")
	}
}

// Each process costs a user time. One that is really needed may raise these budgets, a question that was asked before may not.
func TestGitIsStartedAsOftenAsThereIsSomethingToAsk(t *testing.T) {
	t.Parallel()
	within := func(t *testing.T, budget int, what string, started []string) {
		t.Helper()
		t.Logf("budget: git processes, %s %d of %d", what, len(started), budget)
		assert.LessOrEqual(t, len(started), budget, "%s", strings.Join(started, "\n"))
	}
	t.Run("turn", func(t *testing.T) {
		w := newWorld(t)
		started := w.countsGit()
		w.done(w.handle(w.remark("alice", "Answer me.")))
		within(t, 30, "turn", started()) // ten look at what would be pushed, in a repository of our own
	})
	t.Run("merge", func(t *testing.T) {
		w := newMerge(t, `tests = ["true"]`)
		w.put("/_sandbox/lag", object{"heads": 0, "merges": 0})
		w.write("octo", "main", "other.txt", "meanwhile\n")
		started := w.countsGit()
		w.done(w.command("carol", "/mergexo merge"))
		within(t, 30, "merge onto a base that went on", started())
	})
}
