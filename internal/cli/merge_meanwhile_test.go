package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// TestTheBranchHasMovedBeforeTheBaseDid: the account tells of both branches where the base moves in between.
func TestTheBranchHasMovedBeforeTheBaseDid(t *testing.T) {
	t.Parallel()
	for code, later := range map[string]map[string]string{
		"REBASE_CONFLICT":  {"greeting.txt": "bye\n"},
		"PRE_MERGE_FAILED": {".github/mergexo.toml": "[merge]\ntests = [\"false\"]\n"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, nil)
			head := y.origin("fix")
			y.commit("later", "main", "Later", later)
			y.hook("pre-receive", "[ \"$ref\" != refs/heads/fix ] || git update-ref refs/heads/main refs/heads/later")
			got := y.merge("--branch", "fix").fails(t, 3, "mergexo: "+code+": ")
			assert.Contains(t, got.out, "`main` was not changed. The head branch is at `"+y.origin("fix")[:10]+"`, which was built from `"+head[:10]+"` for the tests.")
			assert.NotEqual(t, head, y.origin("fix"))
			assert.Equal(t, y.origin("later"), y.origin("main"))
		})
	}
}

// hook has the origin run a line of shell for every ref of a push, as old, new and ref.
func (y *yard) hook(name, line string) {
	y.t.Helper()
	require.NoError(y.t, os.MkdirAll(filepath.Join(y.bare, "hooks"), 0o755))
	script := "#!/bin/sh\nunset GIT_QUARANTINE_PATH\nwhile read -r old new ref; do " + line + "; done\n"
	require.NoError(y.t, os.WriteFile(filepath.Join(y.bare, "hooks", name), []byte(script), 0o755))
}

// TestBothBranchesMoveWhileTheTestsRun: the base alone would be tested again, but nobody asked for what the branch has by now.
func TestBothBranchesMoveWhileTheTestsRun(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "--local"} {
		y := newYard(t, nil)
		repository := y.bare
		if mode != "" {
			repository = filepath.Join(y.dir, ".git")
		}
		y.commit("main", "main", "Settings", testingBy("cd "+repository+" && git update-ref refs/heads/main later && git update-ref refs/heads/fix unseen"))
		y.commit("later", "main", "Later", map[string]string{"notes.txt": "three\n"})
		y.commit("unseen", "fix", "Unseen", map[string]string{"unseen.txt": "unseen\n"})
		y.git(y.dir, "pull", "-q")
		for _, branch := range []string{"fix", "later", "unseen"} {
			y.git(y.dir, "branch", branch, "origin/"+branch)
		}
		got := y.merge(strings.Fields("--branch fix --base main --json "+mode)...).exits(t, 75)
		assert.Regexp(t, "^HEAD_MOVED: (fix|the branch) moved from "+y.here("origin/fix")[:10]+" to "+y.here("unseen")[:10], object(t, got)["reason"])
		assert.Equal(t, []string{y.here("later"), y.here("unseen")}, []string{y.git(repository, "rev-parse", "main"), y.git(repository, "rev-parse", "fix")})
		assert.Empty(t, y.git(repository, "for-each-ref", "refs/mergexo"), "no lock is left")
	}
}

// TestSomebodyGoesOnAfterAPushWithoutAnAnswer: what has landed stays landed, whoever pushes on top before anybody looks.
func TestSomebodyGoesOnAfterAPushWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.hook("post-receive", `[ "$ref" != refs/heads/main ] || { git update-ref $ref $(git -c user.name=Joan -c user.email=joan@example.com commit-tree -p $new -m "On top" $new^{tree}); kill -9 $PPID; }`)
	got := y.merge("--branch", "fix", "--base", "main", "--json").ok(t)
	o := object(t, got)
	assert.Equal(t, []any{"done", y.origin("main~1")}, []any{o["result"], o["landed"]})
	assert.Equal(t, []string{"On top", "Say more", "Exclaim"}, y.subjects("main", 3))
	for i, want := range [][]any{{"push", "fix", "applied"}, {"merge", "main", "applied"}} {
		one := effectOf(o, i)
		assert.Equal(t, want, []any{one["kind"], one["target"], one["status"]})
	}
	assert.Empty(t, y.git(y.bare, "for-each-ref", "refs/mergexo"), "no lock is left")
}

// TestAMergeThatDiesBeforeItsBaseLands: the branch is at what was tested then, and the same command goes on at once, whoever
// holds the lock by name.
func TestAMergeThatDiesBeforeItsBaseLands(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string][]string{
		"rebase": {"Say more", "Exclaim", "Meanwhile"}, "cherry-pick": {"Say more", "Exclaim", "Meanwhile"},
		"squash": {"fix", "Meanwhile", "Begin"}, "no-ff": {"Merge branch 'fix'", "Meanwhile", "Begin"},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			y := newYard(t, nil)
			whom := filepath.Join(t.TempDir(), "whom")
			require.NoError(t, syscall.Mkfifo(whom, 0o600))
			y.hook("pre-receive", "[ \"$ref\" != refs/heads/main ] || { read -r pid < "+whom+"; kill -9 $pid; exit 1; }")
			head, base := y.origin("fix"), y.origin("main")
			p := start(t, y.env(), "merge", "--checkout", y.dir, "--branch", "fix", "--strategy", strategy)
			require.NoError(t, os.WriteFile(whom, fmt.Appendln(nil, p.Process.Pid), 0o600)) // once the base is pushed
			require.Equal(t, -1, p.ended().exit)
			require.Equal(t, base, y.origin("main"))
			assert.Equal(t, strategy == "no-ff", head == y.origin("fix"))
			assert.NotEmpty(t, y.git(y.bare, "for-each-ref", "refs/mergexo/lock"))
			require.NoError(t, os.Remove(filepath.Join(y.bare, "hooks", "pre-receive")))
			tip := y.origin("fix")

			y.merge("--branch", "fix", "--strategy", strategy).ok(t)
			assert.Equal(t, want, y.subjects("main", 3))
			assert.Equal(t, "hello\nworld!", y.git(y.bare, "show", "main:greeting.txt"))
			if strategy == "rebase" {
				assert.Equal(t, tip, y.origin("main"), "what was tested lands")
			}
			if strategy == "squash" {
				assert.Equal(t, []string{y.origin("fix"), y.squashed(head)},
					[]string{y.origin("main"), y.git(y.bare, "log", "-1", "--format=%B", "main")})
			}
			assert.Empty(t, y.git(y.bare, "for-each-ref", "refs/mergexo"), "no lock is left")
		})
	}
}

// TestWhatAKilledMergeLeavesIsRemovedByTheNext: neither by one beside it, nor what is another's.
func TestWhatAKilledMergeLeavesIsRemovedByTheNext(t *testing.T) {
	t.Parallel()
	began, hold, temp := filepath.Join(t.TempDir(), "began"), filepath.Join(t.TempDir(), "hold"), t.TempDir()
	require.NoError(t, syscall.Mkfifo(began, 0o600))
	require.NoError(t, syscall.Mkfifo(hold, 0o600))
	y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = [\"sh\", \"-c\", \"echo > '" + began + "'; read x < '" + hold + "'\"]\n"})
	y.commit("quick", "main", "Quick", map[string]string{".github/mergexo.toml": "[merge]\ntests = \"none\"\n"})
	left := func(kind string) []string {
		return must.Get(filepath.Glob(filepath.Join(temp, "mergexo-"+kind+"*")))(t)
	}
	foreign := filepath.Join(temp, "mergexo-git-1234567")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	other := func() ran {
		return program(t, y.env("TMPDIR="+temp), "merge", "--checkout", y.dir, "--branch", "fix", "--base", "quick", "--dry-run")
	}
	p := start(t, y.env("TMPDIR="+temp), "merge", "--checkout", y.dir, "--branch", "fix")
	_, err := os.ReadFile(began) // until the tests have written to it
	require.NoError(t, err)
	was := left("")
	require.Greater(t, len(was), 3, "%v", was)
	require.Equal(t, 0, other().exit)
	assert.Equal(t, was, left(""), "it is still at work")
	require.NoError(t, p.Process.Kill())
	require.Equal(t, -1, p.ended().exit)
	require.Equal(t, was, left(""))
	require.Equal(t, 0, other().exit)
	assert.Equal(t, []string{foreign}, left(""))
	if f, err := os.OpenFile(hold, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // whoever outlived the kill
		require.NoError(t, f.Close())
	}
}
