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

	"github.com/mergexo/mergexo/internal/model"
)

// inCheckout is a world whose workflow has checked the repository out, installed something, and changed a file. These are
// its tests.
func inCheckout(t *testing.T, tests ...string) *world {
	t.Helper()
	w := newMerge(t, `tests_in = "checkout"`, fmt.Sprintf("tests = [%s]", quotedList(tests)))
	w.write("octo", "main", ".gitignore", "node_modules/\n")
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.clone()
	w.install("node_modules/dep.js", "dep\n")
	w.install("greeting.txt", "changed by a step\n")
	w.install("step.txt", "of a step\n")
	return w
}

func quotedList(words []string) string {
	var list []string
	for _, word := range words {
		list = append(list, fmt.Sprintf("%q", word))
	}
	return strings.Join(list, ", ")
}

// install writes a file of the workspace.
func (w *world) install(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.workdir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

// inGit asks the git of the workspace.
func (w *world) inGit(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", w.workdir}, args...)...).CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// standing is what is to be seen of the workspace.
func (w *world) standing() string {
	w.t.Helper()
	said := w.inGit("status", "--porcelain", "--ignored") + w.inGit("rev-parse", "HEAD", "--abbrev-ref", "HEAD")
	for _, name := range []string{"node_modules/dep.js", "greeting.txt", "step.txt"} {
		said += string(contents(w.t, filepath.Join(w.workdir, name)))
	}
	return said
}

func TestMergeTestsInTheCheckoutOfTheWorkflow(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := inCheckout(t, "sh", "-c", "set -e; cat node_modules/dep.js greeting.txt other.txt; test ! -e step.txt; (git rev-parse HEAD; git status --porcelain; env) > "+log+"; echo spoilt > greeting.txt; echo junk > junk.txt")
	w.write("octo", "main", "package-lock.json", "{}\n") // the workflow has installed what it says
	before := w.standing()
	w.lands("/mergexo merge")
	tip, rest, _ := strings.Cut(string(contents(t, log)), "\n")
	assert.Equal(t, w.at("main"), tip, "on the very commit")
	assert.NotContains(t, rest, " M ", "a clean tree")
	assert.NotContains(t, rest, "sandbox-actions")
	assert.Equal(t, before, w.standing(), "it is as the workflow left it")
	assert.Equal(t, "hello\nworld\n", w.fileOf("main", "greeting.txt"))
	assert.Contains(t, w.request(), "passed on exactly this commit, in the checkout of the workflow. They changed files there, which MergeXO restored: <code>greeting.txt</code>.")
	assert.NotContains(t, w.request(), "npm")
}

func TestMergeTestsAgainInTheCheckoutOntoABaseThatMoves(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	run := filepath.Join(t.TempDir(), "tests")
	w := inCheckout(t, run)
	text := fmt.Sprintf("#!/bin/sh\nset -e\ntest -f node_modules/dep.js\ngit rev-parse HEAD >>%s\nif [ $(wc -l <%s) = 1 ]; then %s; fi\n", log, log, w.asks("octo", "PUT", w.path("/contents/late.txt"), `{"branch":"main","message":"late","content":"bGF0ZQo="}`))
	require.NoError(t, os.WriteFile(run, []byte(text), 0o755))
	before := w.standing()
	w.done(w.command("carol", "/mergexo merge"))
	tested := strings.Fields(string(contents(t, log)))
	require.Len(t, tested, 2, "it was tested again")
	assert.Equal(t, w.at("main"), tested[1])
	assert.Equal(t, before, w.standing())
}

func TestMergeWhoseTestsFailLeavesTheCheckoutAsItWas(t *testing.T) {
	w := inCheckout(t, "sh", "-c", "rm -rf .gitignore greeting.txt; git checkout -q --orphan other; echo broken; exit 3")
	before := w.standing()
	w.inVain("/mergexo merge", "merge_failed PRE_MERGE_FAILED", "failed** on the merged result (exit code 3), in the checkout of the workflow")
	assert.Equal(t, before, w.standing())
}

// What takes a merge back is tested as the merge was.
func TestRevertIsTestedInTheCheckout(t *testing.T) {
	w := inCheckout(t, "test", "-f", "node_modules/dep.js")
	require.Equal(t, model.ResultDone, w.command("carol", "/mergexo merge").Result)
	before := w.standing()
	w.done(w.command("carol", "/mergexo revert because it breaks"))
	assert.Contains(t, w.lastSaid(), "in the checkout of the workflow")
	assert.Equal(t, before, w.standing())
}
