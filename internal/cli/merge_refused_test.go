package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// TestWhatIsNotMergedSaysWhyAndChangesNothing: the same account for people, in one line and for programs.
func TestWhatIsNotMergedSaysWhyAndChangesNothing(t *testing.T) {
	t.Parallel()
	settings := func(text string) map[string]string { return map[string]string{".github/mergexo.toml": text} }
	type row struct {
		base    map[string]string // in its first commit
		prepare func(y *yard)
		args    []string
		exit    int
		reason  string
		says    []string
	}
	must.Each(t, map[string]row{
		"no such base":   {args: []string{"--branch", "fix", "--base", "gone"}, exit: 3, reason: "BASE_MISSING: branch gone does not exist", says: []string{"Requested: merge `fix` into `gone`.", "with `--base`"}},
		"no such branch": {args: []string{"--branch", "gone"}, exit: 3, reason: "BRANCH_MISSING: branch gone does not exist", says: []string{"Push a branch of the checkout first, or merge it with `--local`"}},
		"another history": {
			prepare: func(y *yard) { y.commit("fix", "", "Elsewhere", map[string]string{"x.txt": "x\n"}) },
			exit:    3, reason: "NO_COMMON_ANCESTOR: ", says: []string{"no common history with `main`"},
		},
		"a conflict": {
			prepare: func(y *yard) {
				y.commit("main", "main", "Rename the world", map[string]string{"greeting.txt": "hello\nearth\n", "my_notes.txt": "a\n"})
				y.commit("fix", "fix", "Note", map[string]string{"my_notes.txt": "b\n"})
			},
			exit: 3, reason: "REBASE_CONFLICT: ",
			says: []string{
				"- `greeting.txt` (content)", "- `my_notes.txt` (add/add)", "\n  | my_notes.txt:\n", "<<<<<<< base\n  | earth\n  | =======\n  | world!\n  | >>>>>>> branch",
				"`Rename the world` by `Ada`", "Neither `main` nor the branch was changed.", "and resolve the conflicts. Then run this again.",
			},
		},
		"tests that fail": {
			prepare: func(y *yard) { y.commit("fix", "fix", "Part", map[string]string{"greeting.txt": "bye\n"}) },
			exit:    3, reason: "PRE_MERGE_FAILED: ", says: []string{"`grep -q hello greeting.txt` failed on the merged result (exit code 1"},
		},
		"tests that are not there": {
			base: settings("[merge]\ntests = [\"./nothing\"]\n"), exit: 3, reason: "PRE_MERGE_FAILED: ", says: []string{"`./nothing` could not be started: the command was not found. The end of the output:"},
		},
		"settings that do not hold": {base: settings("[merge]\nstrategies = 1\n"), exit: 2, reason: "main:.github/mergexo.toml:2"},
		"a strategy of GitHub's":    {base: settings("[merge]\nstrategy = \"api\"\ntests = \"none\"\n"), exit: 2, reason: "strategy api is GitHub's own"},
		"an origin that does not answer": {
			prepare: func(y *yard) { y.git(y.dir, "remote", "set-url", "origin", "http://127.0.0.1:1/widgets") }, exit: 75, reason: "read the default branch of the origin: ",
		},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		y := newYard(t, tt.base)
		if tt.prepare != nil {
			tt.prepare(y)
		}
		if tt.args == nil {
			tt.args = []string{"--branch", "fix"}
		}
		was, refs := y.checkout(), y.refs()
		got := y.merge(tt.args...)
		assert.Equal(t, tt.exit, got.exit, got.errout)
		assert.Contains(t, got.errout, "mergexo: "+tt.reason)
		for _, s := range tt.says {
			assert.Contains(t, got.out, s)
		}
		assert.NotContains(t, got.out, "<details>")
		assert.NotContains(t, got.out+got.errout, "agent", "it is nobody else's than a person's")
		assert.Equal(t, []string{was, refs}, []string{y.checkout(), y.refs()})
	})
}

// refuses has the origin refuse pushes to a branch, by a hook as self-hosted servers have them.
func (y *yard) refuses(ref string) {
	y.t.Helper()
	y.hook("pre-receive", "[ \"$ref\" != "+ref+" ] || { echo 'ask the release team' >&2; exit 1; }")
}

func TestAnOriginThatProtectsItsBase(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.refuses("refs/heads/main")
	head, base := y.origin("fix"), y.origin("main")
	got := y.merge("--branch", "fix").exits(t, 3)
	assert.Regexp(t, `(?m)^mergexo: PROTECTED: `, got.errout)
	assert.Contains(t, got.out, "Not merged: the origin refuses pushes to `main`")
	assert.Equal(t, base, y.origin("main"))
	// As for a pull request, the branch has gone first, and it is told.
	tip := y.origin("fix")
	assert.Contains(t, got.out, "`main` was not changed. The head branch is at `"+tip[:10]+"`, which was built from `"+head[:10]+"` for the tests.")
	assert.Equal(t, base, y.origin("fix~2"))
	assert.Empty(t, y.git(y.bare, "for-each-ref", "refs/mergexo"), "no lock is left")

	back := regexp.MustCompile(`(?m)^.*(git push .*)$`).FindStringSubmatch(got.out)
	require.NotNil(t, back, got.out)
	y.git(y.dir, "-c", "alias.back=!"+back[1], "back")
	assert.Equal(t, head, y.origin("fix"), "one command puts the branch back")
	y.git(y.dir, "push", "-q", "--force", "origin", tip+":refs/heads/fix")

	require.NoError(t, os.Remove(filepath.Join(y.bare, "hooks", "pre-receive")))
	require.Equal(t, 0, y.merge("--branch", "fix").exit, "it goes on from there")
	assert.Equal(t, []string{tip, tip}, []string{y.origin("main"), y.origin("fix")})
}

func TestAnOriginThatDoesNotLetABranchBeRewritten(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]func(y *yard){
		"by its settings": func(y *yard) { y.git(y.bare, "config", "receive.denyNonFastForwards", "true") },
		"by a hook":       func(y *yard) { y.refuses("refs/heads/fix") },
	}, func(t *testing.T, prepare func(y *yard)) {
		t.Parallel()
		y := newYard(t, nil)
		head := y.origin("fix")
		prepare(y)
		assert.Contains(t, y.merge("--branch", "fix").ok(t).out, "The branch fix was not moved to the result")
		assert.Equal(t, head, y.origin("fix"))
		assert.Equal(t, []string{"Say more", "Exclaim", "Meanwhile"}, y.subjects("main", 3))
		assert.Contains(t, y.merge("--branch", "fix").ok(t).out, "result: nothing, what fix changes is part of main already: ")
	})
}

func TestAnOriginWithoutLocks(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.refuses("refs/mergexo/lock/main")
	assert.Contains(t, y.merge("--branch", "fix").ok(t).errout, "no_lock")
}

// TestTheBaseSaysHowItIsTested: whatever a branch does to the settings or to what tests are found by, it is tested as its
// base is.
func TestTheBaseSaysHowItIsTested(t *testing.T) {
	t.Parallel()
	fails := "test:\n\tgrep -q hello greeting.txt\n"
	type row struct{ base, branch map[string]string }
	must.Each(t, map[string]row{
		"the settings":  {nil, map[string]string{".github/mergexo.toml": "[merge]\ntests = \"none\"\n"}},
		"none any more": {nil, map[string]string{".github/mergexo.toml": ""}},
		"a way to find them": {
			map[string]string{".github/mergexo.toml": "[merge]\nattempts = 1\n", "Makefile": fails},
			map[string]string{"package.json": `{"scripts": {"test": "true"}}`},
		},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		y := newYard(t, tt.base)
		y.commit("fix", "fix", "Break it", map[string]string{"greeting.txt": "bye\n"})
		y.commit("fix", "fix", "Hide it", tt.branch)
		got := y.merge("--branch", "fix").fails(t, 3, "mergexo: PRE_MERGE_FAILED: ")
		command := "`grep -q hello greeting.txt` failed on the merged result \\(exit code 1"
		if tt.base != nil {
			command = "`make test` failed on the merged result \\(exit code 2( in \\d+ s)?\\) \\(detected from Makefile\\)"
		}
		assert.Regexp(t, command, got.out)
	})
}
