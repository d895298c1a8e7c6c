package engine_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// script is an executable file that the tests of a merge run.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	return path
}

func TestMergeTestsRunOnTheVeryTipWithoutToken(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	run := script(t, fmt.Sprintf("git rev-parse HEAD >%s; env >>%s; git status --short >>%s; echo spoilt >greeting.txt; echo new >new.txt; git commit -qam spoilt\n", log, log, log))
	w := newMerge(t, fmt.Sprintf("tests = [%q]", run))
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.done(w.command("carol", "/mergexo merge"))
	tip, env, _ := strings.Cut(string(contents(t, log)), "\n")
	assert.Equal(t, w.at("main"), tip)
	assert.NotContains(t, env, "sandbox-actions")
	assert.NotContains(t, env, "TOKEN=")
	assert.NotContains(t, env, " M ", "a clean tree")
	assert.Equal(t, "hello\nworld\n", w.fileOf("main", "greeting.txt"))
}

// What cannot be merged is told once, and nothing is touched.
func TestMergeThatFailsTouchesNothing(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	setup := func(command string) string { return fmt.Sprintf("setup = %s\ntests = [\"touch\", %q]", command, log) }
	conflicts := func(driver, text string) func(w *world) {
		return func(w *world) {
			w.write("octo", "main", ".gitattributes", "greeting.txt merge="+driver+"\n")
			w.write("octo", "main", "greeting.txt", text)
		}
	}
	type row struct {
		settings, order string
		begins          func(w *world)
		code            model.MergeCode
		says            []string
	}
	each(t, map[string]row{
		"tests that fail":              {`tests = ["sh", "-c", "echo the end of it; exit 3"]`, "", nil, model.CodeTests, []string{"the end of it"}},
		"tests that never end":         {"tests = [\"sh\", \"-c\", \"echo waiting; sleep 1000\"]\ntest_timeout = \"7s\"", "", nil, model.CodeTests, []string{"7s"}},
		"a setup that fails":           {setup(`["sh", "-c", "echo no such package; exit 3"]`), "", nil, model.CodeSetup, []string{"no such package", "`[merge] setup`"}},
		"a setup that never ends":      {setup("[\"sh\", \"-c\", \"echo waiting; sleep 1000\"]\ntest_timeout = \"7s\""), "", nil, model.CodeSetup, []string{"7s", "`[merge] setup`"}},
		"a checkout that is not there": {"tests_in = \"checkout\"\ntests = [\"true\"]", "", nil, model.CodeNoCheckout, []string{"`actions/checkout`"}},
		"a conflict":                   {"", "", func(w *world) { w.write("octo", "main", "greeting.txt", "goodbye\n") }, model.CodeConflict, []string{"greeting.txt"}},
		// GitHub itself does not look at .gitattributes: what conflicts there and nowhere else is told so, before tests run.
		"a union that GitHub does not make": {"strategy = \"api\"\ntests = [\"false\"]", "", conflicts("union", "hello\nbase\n"), model.CodeConflict, []string{
			`conflicts in "greeting.txt"; "greeting.txt" has merge=union in .gitattributes, which GitHub does not apply: merge the base into the branch, or use another strategy.`,
			"<<<<<<< base\nbase\n=======\nworld\n>>>>>>> branch",
		}},
		// MergeXO runs no program that .gitattributes name, and says so where one is missing.
		"a merge driver": {"", "", conflicts("ours", "hello\nbase\n"), model.CodeConflict, []string{
			`"greeting.txt" has merge=ours in .gitattributes, and MergeXO runs no such program: merge the base into the branch in a clone that has it.`,
		}},
		"no net change": {"", " strategy=squash", func(w *world) {
			w.write("alice", w.head, "greeting.txt", w.fileOf("main", "greeting.txt"))
			w.approve("alice")
		}, model.CodeEmpty, []string{"the branch has no net change"}},
	}, func(t *testing.T, _ string, c row) {
		w := newMerge(t, c.settings)
		w.moveOn()
		if c.begins != nil {
			c.begins(w)
		}
		head := w.tip()
		w.passing(7*time.Second, "waiting")
		rep := w.inVain("/mergexo merge"+c.order, "merge_failed "+string(c.code), c.says...)
		assert.Equal(t, c.code != model.CodeEmpty, rep.Result == model.ResultBlocked, rep.Reason)
		assert.Equal(t, head, w.tip())
		assert.NoFileExists(t, log, "without a setup there is nothing to test")
		assert.Equal(t, model.ResultNothing, w.handle(w.delivery("pull_request_review")).Result)
		w.requested("merge_failed " + string(c.code))
	})
}

func TestMergeWithoutTests(t *testing.T) {
	w := newWorld(t)
	w.approve("alice")
	w.inVain("/mergexo merge", "merge_failed NO_TESTS")
	w.write("octo", "main", "Makefile", "test:\n\ttrue\n")
	w.installed("make", "test \"$1\" = test\n")
	w.approve("alice")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.marked("merge", "")[1]["body"], "make test")
}

// What GitHub merges by itself was tested, or its comment says that it was not: the base may move while the tests run.
func TestMergeByGitHubOntoABaseThatMovesWhileTested(t *testing.T) {
	w := whileTested(t, deed{"octo", "PUT", "/contents/late.txt", `{"branch":"main","message":"late","content":"bGF0ZQo="}`}, `strategy = "api"`)
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, "merged", w.badge())
	assert.Len(t, w.testedTrees(), 2, "it was tested again")
	assert.Contains(t, w.testedTrees(), w.bare("rev-parse", "main^{tree}"), "what landed was tested")
}

// byGitHub matches the request that has GitHub merge a pull request.
func byGitHub(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/merge") }

// The base moves in the last moment, between our look at it and GitHub's merge: nobody can prevent that, and the comment says it.
func TestMergeByGitHubOfWhatWasNotTestedSaysSo(t *testing.T) {
	w := newMerge(t, `strategy = "api"`)
	w.before(byGitHub, func() { w.write("octo", "main", "late.txt", "late\n") })
	w.lands("/mergexo merge")
	landed := w.bare("rev-parse", "main^{tree}")
	assert.Contains(t, w.marked("merge", "")[0]["body"], "GitHub did not merge what was tested, because the base had moved: tree ")
	assert.Contains(t, w.marked("merge", "")[0]["body"], " was tested, "+landed[:7])
	assert.Contains(t, w.logged.String(), "landed_untested")
}

// The workflow's own limit would end the run in the middle of the tests, with nobody told.
func TestMergeTestsEndWithTheRun(t *testing.T) {
	w := newWorld(t, "", "run_timeout = \"30s\"\n[merge]\ntests = [\"sh\", \"-c\", \"echo waiting; exec tail -f /dev/null\"]")
	w.approve("alice")
	base := w.at("main")
	w.passing(30*time.Second, "waiting")
	w.ended(model.ResultRetry, `run_timeout = "30s"`, w.command("carol", "/mergexo merge"))
	assert.Equal(t, base, w.at("main"))
	assert.Equal(t, []string{"merging"}, w.merges(), "the request is still there")

	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.fileOf("main", ".github/mergexo.toml"), "echo waiting; exec tail -f /dev/null", "true", 1))
	w.sweep()
	assert.Equal(t, []string{"done"}, w.merges(), "and the next run merges")
}
