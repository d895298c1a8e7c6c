package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// What the clone or its origin does not let a merge do is told in one sentence with what to do about it, before anything moves.
func TestWhatAnOriginIsLikeIsToldBeforeAnythingMoves(t *testing.T) {
	t.Parallel()
	type row struct {
		prepare func(y *yard)
		exit    int
		says    string
	}
	must.Each(t, map[string]row{
		"the default branch has another name": {func(y *yard) { y.git(y.bare, "branch", "-m", "main", "trunk") }, 2,
			"the origin's default branch is now trunk, and the clone still has main: run git remote set-head origin --auto, or name the branch to merge into with --base\n"},
		"an address to push to that is gone": {func(y *yard) { y.git(y.dir, "config", "remote.origin.pushurl", "/nowhere/x.git") }, 2,
			"the origin cannot be pushed to: '/nowhere/x.git' does not appear to be a git repository: check that you have access, or correct the address with git remote set-url --push origin URL\n"},
		"an address that is gone": {func(y *yard) { y.git(y.dir, "remote", "set-url", "origin", "/nowhere/x.git") }, 2,
			"the origin cannot be read: '/nowhere/x.git' does not appear to be a git repository: check that you have access, or correct the address with git remote set-url origin URL\n"},
		"the base is checked out there": {func(y *yard) { y.checkedOut("main") }, 3,
			"PROTECTED: the origin has main checked out in "},
		"SHA-256": {func(y *yard) { y.clone("init", "-q", "--object-format=sha256") }, 2,
			"is a SHA-256 repository, and MergeXO merges only SHA-1 ones, as GitHub has them: use git merge\n"},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		y := newYard(t, nil)
		tt.prepare(y)
		was, refs := y.checkout(), y.refs()
		got := y.merge("--branch", "fix")
		assert.Equal(t, tt.exit, got.exit, got.errout)
		assert.Contains(t, got.errout, tt.says)
		assert.Equal(t, []string{was, refs}, []string{y.checkout(), y.refs()})
	})
}

// checkedOut makes the origin a clone of itself with a branch checked out.
func (y *yard) checkedOut(branch string) {
	y.t.Helper()
	at := filepath.Join(filepath.Dir(y.bare), "desk")
	y.git(filepath.Dir(y.bare), "clone", "-q", "--template=", y.bare, at)
	y.git(at, "fetch", "-q", "origin", "fix:fix")
	y.git(at, "checkout", "-q", branch)
	y.git(y.dir, "remote", "set-url", "origin", at)
	y.bare = at
}

func TestAnOriginWithACheckoutThatMayFollow(t *testing.T) {
	t.Parallel()
	for branch, setting := range map[string]string{"main": "updateInstead", "fix": "refuse"} {
		y := newYard(t, nil)
		y.checkedOut(branch)
		y.git(y.bare, "config", "receive.denyCurrentBranch", setting)
		y.merge("--branch", "fix", "--base", "main").ok(t)
		assert.Equal(t, []string{"Say more", "Exclaim", "Meanwhile"}, y.subjects("main", 3))
		assert.Equal(t, branch == "fix", y.origin("fix") != y.origin("main"), "a branch that somebody is on stays")
	}
}

// Whatever the strategy, what happens to the branch during the tests is noticed, and nothing moves.
func TestTheBranchMovesWhileTheTestsRun(t *testing.T) {
	t.Parallel()
	for strategy, more := range map[string][]string{"rebase": nil, "no-ff": {"--local"}} {
		y := newYard(t, nil)
		for code, script := range map[string]string{"HEAD_MOVED: fix moved from ": "update-ref refs/heads/fix refs/heads/main", "BRANCH_MISSING: branch fix was deleted while it was tested": "update-ref -d refs/heads/fix"} {
			y.git(y.bare, "update-ref", "refs/heads/fix", y.here("origin/fix"))
			y.git(y.dir, "update-ref", "refs/heads/fix", "origin/fix")
			at := y.bare
			if more != nil {
				at = y.dir
			}
			y.commit("main", "main", "Settings", testingBy("git --git-dir $(git -C "+at+" rev-parse --absolute-git-dir) "+script))
			y.git(y.dir, "pull", "-q")
			base := []string{y.origin("main"), y.here("main")}
			got := y.merge(append([]string{"--branch", "fix", "--base", "main", "--strategy", strategy}, more...)...)
			assert.NotEqual(t, 0, got.exit)
			assert.Contains(t, got.errout, "mergexo: "+code)
			assert.Equal(t, base, []string{y.origin("main"), y.here("main")})
		}
	}
}

// Who commits is known as git knows it.
func TestACommitterHasTheSourcesThatGitHas(t *testing.T) {
	t.Parallel()
	type row struct {
		env    []string
		config string
		want   string
	}
	must.Each(t, map[string]row{
		"the environment":     {[]string{"GIT_COMMITTER_NAME=Grace", "GIT_COMMITTER_EMAIL=grace@example.com"}, "", "Grace <grace@example.com>"},
		"of which a part":     {[]string{"GIT_COMMITTER_NAME=Grace"}, "[user]\nname = Ada\nemail = ada@example.com\n", "Grace <ada@example.com>"},
		"a committer's":       {nil, "[user]\nname = Ada\nemail = ada@example.com\n[committer]\nname = Joan\n", "Joan <ada@example.com>"},
		"the mail of a shell": {[]string{"EMAIL=grace@example.com"}, "[user]\nname = Ada\n", "Ada <grace@example.com>"},
		"nobody's":            {nil, "[user]\nuseConfigOnly = true\n", ""},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		y := newYard(t, nil)
		require.NoError(t, os.WriteFile(filepath.Join(y.home, "of-this-test"), []byte(tt.config), 0o600))
		got := program(t, y.env(append(tt.env, "GIT_CONFIG_GLOBAL="+filepath.Join(y.home, "of-this-test"))...), "merge", "--checkout", y.dir, "--branch", "fix", "--strategy", "no-ff")
		if tt.want == "" {
			assert.Equal(t, 2, got.exit)
			assert.Contains(t, got.errout, "set them with git config --global user.name")
			return
		}
		require.Equal(t, 0, got.exit, got.errout)
		assert.Equal(t, tt.want, y.git(y.bare, "log", "-1", "--format=%cn <%ce>", "main"))
	})
}
