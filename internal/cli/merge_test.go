package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestMergeTakesABranchOntoABaseThatHasMoved(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]func(y *yard) string{
		"by a path":          func(y *yard) string { return y.bare },
		"by a relative path": func(*yard) string { return "../origin.git" },
		"by a file URL":      func(y *yard) string { return "file://" + y.bare },
		"by a name of the person's": func(y *yard) string {
			y.git(y.dir, "config", "--global", "url."+y.bare+".insteadOf", "hub:widgets")
			return "hub:widgets"
		},
	}, func(t *testing.T, address func(y *yard) string) {
		t.Parallel()
		y := newYard(t, nil)
		y.git(y.dir, "remote", "set-url", "origin", address(y))
		was, base := y.checkout(), y.origin("main")
		got := y.merge("--branch", "fix", "--base", "main").ok(t)
		assert.Equal(t, []string{"Say more", "Exclaim", "Meanwhile"}, y.subjects("main", 3))
		assert.Equal(t, base, y.origin("main~2"))
		assert.Equal(t, y.origin("main"), y.origin("fix"), "the branch is what landed")
		assert.Empty(t, y.git(y.bare, "for-each-ref", "refs/mergexo"), "no lock is left")
		assert.Equal(t, "Ada 1767348000", y.git(y.bare, "log", "-1", "--format=%an %at", "main"))
		assert.Equal(t, was, y.checkout())
		assert.Empty(t, got.errout)
		assert.Contains(t, got.out, "Merged: ")
		assert.Contains(t, got.out, "`grep -q hello greeting.txt` passed on exactly this commit")
		assert.Contains(t, got.out, "`Exclaim`, made from `"+y.here("origin/fix~1")[:10]+"`")
		assert.Regexp(t, `(?m)^result: done, fix is merged into main, which is at `+y.origin("main")[:10]+`$`, got.out)
	})
}

func TestMergeByHTTP(t *testing.T) {
	t.Parallel()
	h := newHub(t, "[agent]\nadapter = \"suggestion\"\n[merge]\ntests = [\"grep\", \"hello\", \"greeting.txt\"]\n")
	h.write("main", "later.txt", "later\n")
	y := &yard{t: t, home: t.TempDir(), dir: filepath.Join(t.TempDir(), "clone")}
	require.NoError(t, os.WriteFile(filepath.Join(y.home, ".gitconfig"), []byte("[user]\nname = Ada\nemail = ada@example.com\n"), 0o600))
	y.git(y.home, "clone", "-q", strings.Replace(h.url, "://", "://ada:sandbox-octo@", 1)+"/octo/widgets", y.dir)
	got := y.merge("--branch", "agent/greet", "--json") // the clone knows the default branch
	require.Equal(t, 0, got.exit, got.errout)
	o := object(t, got)
	assert.Equal(t, []any{"done", 0.0}, []any{o["result"], o["exit"]})
	calls := o["calls"].(map[string]any)
	assert.Equal(t, []any{0.0, 0.0, 6.0}, []any{calls["rest"], calls["graphql"], calls["git"]}, "the default branch, fetch, lock, a look at both branches, head, base")
	y.git(y.dir, "fetch", "-q")
	assert.Equal(t, y.here("origin/main"), y.here("origin/agent/greet"))
	assert.Equal(t, "Write world.txt\nWrite later.txt", y.git(y.dir, "log", "-2", "--format=%s", "origin/main"))
}

func TestADryRunOfAMergeChangesNothing(t *testing.T) {
	t.Parallel()
	for would, more := range map[string][]string{"would push to fix\nwould merge into main": nil, "would merge into main\nwould move fix": {"--local"}} {
		y := newYard(t, nil)
		y.git(y.dir, "branch", "fix", "origin/fix")
		was, refs := y.checkout(), y.refs()
		got := y.merge(append([]string{"--branch", "fix", "--base", "main", "--dry-run"}, more...)...).ok(t)
		assert.Contains(t, got.out, "Ready to merge")
		assert.Contains(t, got.out, "The tests would run with `grep -q hello greeting.txt`.")
		assert.Contains(t, got.out, "`Say more`, made from `"+y.origin("fix")[:10]+"`")
		assert.Contains(t, got.out, would+"\n\nresult: nothing, dry run: fix can be merged into main\n")
		assert.Equal(t, []string{was, refs}, []string{y.checkout(), y.refs()})
	}
	y := newYard(t, nil)
	y.commit("clash", "main~1", "Shout", map[string]string{"notes.txt": "ONE\n"})
	refs := y.refs()
	got := y.merge("--branch", "clash", "--base", "main", "--dry-run", "--json").exits(t, 3)
	assert.Regexp(t, `^REBASE_CONFLICT: `, object(t, got)["reason"])
	assert.Equal(t, refs, y.refs())
}

func TestMergeOfSettingsThatCannotBeReadIsRefusedHereAndThere(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--local"}} {
		y := newYard(t, nil)
		y.commit("bad", "main", "Break", map[string]string{".github/mergexo.toml": "[merge]\nstrategie = \"squash\"\n"})
		y.git(y.dir, "fetch", "-q")
		y.git(y.dir, "branch", "bad", "origin/bad")
		refs := y.refs()
		got := y.merge(append([]string{"--branch", "bad", "--base", "main"}, more...)...).exits(t, 3)
		assert.Contains(t, got.out, "the settings in this change are invalid")
		assert.Contains(t, got.out, ".github/mergexo.toml:2: merge.strategie: unknown key; did you mean merge.strategy?")
		assert.Equal(t, refs, y.refs())

		y.git(y.dir, "branch", "-q", "owners", "main")
		y.commit("owners", "main", "Own", map[string]string{"docs/CODEOWNERS": "* @ada\n"})
		y.git(y.dir, "fetch", "-q")
		y.git(y.dir, "branch", "-qf", "owners", "origin/owners")
		got = y.merge(append([]string{"--branch", "owners", "--base", "main"}, more...)...).ok(t)
		assert.Contains(t, got.out, "It changes files that control this repository: code owners (docs/CODEOWNERS)")
	}
}

// TestMergeDoesNotTouchADirtyCheckout: with an origin, what a person has in their checkout is none of a merge's business.
func TestMergeDoesNotTouchADirtyCheckout(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.git(y.dir, "checkout", "-q", "fix")
	for name, text := range map[string]string{"greeting.txt": "changed\n", "notes.txt": "staged\n", "untracked.txt": "new\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(y.dir, name), []byte(text), 0o600))
	}
	y.git(y.dir, "add", "notes.txt")
	y.git(y.dir, "config", "merge.conflictStyle", "diff3")
	was := y.checkout()
	require.Equal(t, 0, y.merge("--branch", "fix").exit)
	assert.Equal(t, was, y.checkout())
	assert.Equal(t, []string{"Say more", "Exclaim", "Meanwhile"}, y.subjects("main", 3), "what is in the origin counts")
	y.commit("clash", "main~1", "Clash", map[string]string{"more.txt": "something else\n"})
	require.Equal(t, 3, y.merge("--branch", "clash").exit)
	assert.Equal(t, was, y.checkout())
}

func TestMergeOfBranchesOfTheCheckout(t *testing.T) {
	t.Parallel()
	local := func(y *yard) ran { return y.merge("--branch", "fix", "--base", "main", "--local") }
	begin := func(t *testing.T) *yard {
		y := newYard(t, nil)
		y.git(y.dir, "branch", "fix", "origin/fix")
		return y
	}
	t.Run("checked out and clean", func(t *testing.T) {
		y := begin(t)
		require.NoError(t, os.WriteFile(filepath.Join(y.dir, "untracked.txt"), []byte("mine\n"), 0o600))
		refs := y.refs()
		got := local(y).ok(t)
		assert.Equal(t, "Say more\nExclaim\nMeanwhile", y.git(y.dir, "log", "-3", "--format=%s", "main"))
		assert.Equal(t, y.here("main"), y.here("fix"))
		assert.Equal(t, "?? untracked.txt", y.git(y.dir, "status", "--porcelain"), "the files are those of main")
		assert.FileExists(t, filepath.Join(y.dir, "more.txt"))
		assert.Equal(t, refs, y.refs(), "the origin is not asked")
		assert.NotContains(t, got.out, "was not moved")
	})
	t.Run("checked out and dirty", func(t *testing.T) {
		y := begin(t)
		require.NoError(t, os.WriteFile(filepath.Join(y.dir, "notes.txt"), []byte("mine\n"), 0o600))
		was := y.checkout()
		got := y.merge("--branch", "fix", "--base", "main", "--local", "--json").exits(t, 75)
		assert.Regexp(t, `^DIRTY_BASE: .*"notes.txt"`, object(t, got)["reason"])
		assert.Regexp(t, `(?m)^mergexo: DIRTY_BASE: `, got.errout)
		assert.Equal(t, was, y.checkout())
	})
	t.Run("not checked out", func(t *testing.T) {
		y := begin(t)
		y.git(y.dir, "checkout", "-q", "-b", "elsewhere")
		require.NoError(t, os.WriteFile(filepath.Join(y.dir, "notes.txt"), []byte("mine\n"), 0o600))
		local(y).ok(t)
		assert.Equal(t, "Say more", y.git(y.dir, "log", "-1", "--format=%s", "main"))
		assert.Equal(t, "M notes.txt", y.git(y.dir, "status", "--porcelain"))
	})
	t.Run("the branch is checked out", func(t *testing.T) {
		y := begin(t)
		y.git(y.dir, "checkout", "-q", "fix")
		assert.Contains(t, local(y).ok(t).out, "The branch fix was not moved to the result")
		assert.Equal(t, y.origin("fix"), y.here("fix"))
		assert.Contains(t, local(y).ok(t).out, "result: nothing, what fix changes is part of main already: ")
	})
	t.Run("in a clone that is not whole", func(t *testing.T) {
		y := newYard(t, nil)
		y.git(y.bare, "config", "uploadpack.allowFilter", "true")
		for option, says := range map[string]string{
			"--filter=blob:none": "mergexo: the checkout is not complete: it is a partial clone", "--filter=tree:0": "mergexo: the checkout is not complete: it is a partial clone",
			"--depth=1": "run git fetch --unshallow",
		} {
			y.clone("clone", "-q", option, "--no-checkout", "--no-single-branch", "file://"+y.bare)
			y.git(y.dir, "branch", "fix", "origin/fix")
			was := y.checkout()
			local(y).fails(t, 2, says)
			assert.Equal(t, was, y.checkout())
		}
	})
	t.Run("without an origin", func(t *testing.T) {
		y := begin(t)
		y.git(y.dir, "remote", "remove", "origin")
		require.Equal(t, 0, local(y).exit)
		y.merge("--branch", "gone", "--base", "main", "--local").fails(t, 3, "mergexo: BRANCH_MISSING: branch gone does not exist")
	})
}

func TestMergeInEveryKindOfClone(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]func(y *yard){
		"shallow":       func(y *yard) { y.clone("clone", "-q", "--depth=1", "file://"+y.bare) },
		"without blobs": func(y *yard) { y.clone("clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+y.bare) },
		"without trees": func(y *yard) { y.clone("clone", "-q", "--filter=tree:0", "file://"+y.bare) },
		"bare":          func(y *yard) { y.clone("clone", "-q", "--bare", y.bare) },
		"of one branch": func(y *yard) { y.clone("clone", "-q", "--single-branch", y.bare) },
		"a linked worktree": func(y *yard) {
			at := y.dir + "-linked"
			y.git(y.dir, "worktree", "add", "-q", at, "-b", "side")
			y.dir = at
		},
		"in a directory": func(y *yard) {
			y.dir = filepath.Join(y.dir, "deep")
			require.NoError(y.t, os.Mkdir(y.dir, 0o755))
		},
	}, func(t *testing.T, prepare func(y *yard)) {
		t.Parallel()
		y := newYard(t, nil)
		y.git(y.bare, "config", "uploadpack.allowFilter", "true")
		y.git(y.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
		prepare(y)
		y.merge("--branch", "fix", "--base", "main", "--json").ok(t)
		assert.Equal(t, []string{"Say more", "Exclaim", "Meanwhile"}, y.subjects("main", 3))
	})
}

func TestTheLocalMergeOfAMirrorNamesTheForksBranch(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.commit("gh-pr-7/Fix/Big_Thing", "fix", "Say it", map[string]string{"said.txt": "it\n"})
	head := y.origin("gh-pr-7/Fix/Big_Thing")
	merge := func() ran { return y.merge("--branch", "gh-pr-7/Fix/Big_Thing", "--strategy", "no-ff").ok(t) }
	merge()
	assert.Equal(t, []string{"Merge external GitHub PR #7: Fix/Big_Thing", "Meanwhile"}, y.subjects("main", 2))
	assert.Equal(t, []string{head, head}, []string{y.origin("gh-pr-7/Fix/Big_Thing"), y.origin("main^2")}, "its commits stay as they are")
	assert.Equal(t, "result: nothing, gh-pr-7/Fix/Big_Thing is part of main already\n", merge().out)
}

// TestTheBaseMovesWhileTheTestsRun: the tests themselves push to the base, once.
func TestTheBaseMovesWhileTheTestsRun(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[string]int{"3": 0, "1": 75} {
		once := filepath.Join(t.TempDir(), "once")
		y := newYard(t, nil)
		script := fmt.Sprintf("test -e %[1]s || { touch %[1]s; git --git-dir=%[2]s update-ref refs/heads/main refs/heads/later; }", once, y.bare)
		y.commit("main", "main", "Where", map[string]string{"test.sh": script, ".github/mergexo.toml": "[merge]\nattempts = " + attempts + "\ntests = [\"sh\", \"test.sh\"]\n"})
		y.commit("later", "main", "Later", map[string]string{"later.txt": "later\n"})
		got := y.merge("--branch", "fix", "--json")
		require.Equal(t, want, got.exit, got.errout)
		if want == 0 {
			assert.Equal(t, []string{"Say more", "Exclaim", "Later", "Where"}, y.subjects("main", 4))
			continue
		}
		assert.Regexp(t, `^BASE_MOVED: main moved from `, object(t, got)["reason"])
		assert.Equal(t, []string{"Later"}, y.subjects("main", 1))
	}
}

func TestTestsOfAMergeAreGivenNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = [\"sh\", \"-c\", \"[ -e /proc/self/status ] && ! grep -q NoNewPrivs:.1 /proc/self/status || echo walled; env; git config --list; git remote -v; exit 7\"]\n"})
	got := program(t, y.env("DEPLOY_KEY=hush-hush", "GITHUB_TOKEN=hush-token", "GH_TOKEN=hush-other", "GIT_SSH_COMMAND=hush-ssh"), "merge", "--checkout", y.dir, "--branch", "fix").exits(t, 3)
	assert.Contains(t, got.out, "(exit code 7")
	assert.Contains(t, got.out, "PATH=")
	assert.Contains(t, got.out, "| walled\n")
	assert.NotContains(t, got.out+got.errout, "hush")
	assert.NotContains(t, got.out, y.bare, "nor where the origin is")
}

func TestMistakesAboutAMerge(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	env, in := y.env(), "--checkout="+y.dir
	mistakes(t, map[string]mistake{
		"no branch":           {env, []string{"merge", in}, "mergexo: merge needs --branch NAME"},
		"no such directory":   {env, []string{"merge", in, "--checkout", "/nowhere", "--branch", "fix"}, "mergexo: /nowhere: not a directory"},
		"GitHub's strategy":   {env, []string{"merge", in, "--branch", "fix", "--strategy", "api"}, "mergexo: strategy api is GitHub's own"},
		"fields without rule": {env, []string{"merge", in, "--branch", "fix", "--strategy", "frontmatter-union"}, `mergexo: strategy frontmatter-union needs a rule for branch "fix"`},
		"not a branch name":   {env, []string{"merge", in, "--branch", "a..b"}, `mergexo: --branch "a..b" is not a branch name`},
		"nor of a base":       {env, []string{"merge", in, "--branch", "fix", "--base", "a b"}, `mergexo: --base "a b" is not a branch name`},
		"an empty base":       {env, []string{"merge", in, "--branch", "fix", "--base", ""}, "mergexo: --base: want the name of a branch"},
		"into itself":         {env, []string{"merge", in, "--branch", "main"}, "mergexo: main cannot be merged into itself"},
		"a stray argument":    {env, []string{"merge", in, "--branch", "fix", "main"}, `mergexo: merge takes no argument "main"`},
	})
}

func TestMergeHasToKnowWhoMergesAndWhere(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	empty := t.TempDir()
	program(t, []string{"HOME=" + empty, "GIT_CONFIG_NOSYSTEM=1"}, "merge", "--checkout", y.dir, "--branch", "fix").fails(t, 2, "set them with git config --global user.name")
	y.git(y.dir, "remote", "set-head", "origin", "--delete")
	y.merge("--branch", "fix").fails(t, 2, "name the branch to merge into with --base")
	y.git(y.dir, "remote", "remove", "origin")
	got := y.merge("--branch", "fix", "--base", "main", "--json").fails(t, 2, "has no remote origin")
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &report))
	assert.EqualValues(t, 2, report["exit"])
	assert.Equal(t, []string{"Meanwhile"}, y.subjects("main", 1), "nothing was merged")
}

// lockedUntil puts a lock on the base, as another merge has it.
func (y *yard) lockedUntil(until time.Time) {
	y.t.Helper()
	tree := y.git(y.writer, "hash-object", "-t", "tree", "-w", "/dev/null")
	lease := must.Get(json.Marshal(map[string]any{"holder": "somebody", "until": until.UTC().Truncate(time.Second)}))(y.t)
	y.git(y.writer, "push", "-q", "origin", y.git(y.writer, "commit-tree", tree, "-m", string(lease))+":refs/mergexo/lock/main")
}

func TestTwoMergesIntoOneBase(t *testing.T) {
	t.Parallel()
	y := newYard(t, nil)
	y.lockedUntil(time.Now().Add(-time.Hour))
	require.Equal(t, 0, y.merge("--branch", "fix").exit, "a lock that has run out holds up nobody")
	y.commit("other", "main", "Other", map[string]string{"other.txt": "other\n"})
	y.lockedUntil(time.Now().Add(time.Hour))
	refs := y.refs()
	got := y.merge("--branch", "other", "--json").exits(t, 75)
	assert.Regexp(t, `^LOCK_TIMEOUT: lock main: branch main is locked by somebody until `, object(t, got)["reason"])
	assert.Equal(t, refs, y.refs())
}

// TestAMergeIsInterrupted stops a merge in the middle of its tests.
func TestAMergeIsInterrupted(t *testing.T) {
	t.Parallel()
	began := filepath.Join(t.TempDir(), "began")
	require.NoError(t, syscall.Mkfifo(began, 0o600))
	y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\ntests = [\"sh\", \"-c\", \"echo > '" + began + "'; sleep 1000\"]\n"})
	was, refs := y.checkout(), y.refs()
	p := start(t, y.env(), "merge", "--checkout", y.dir, "--branch", "fix", "--json")
	_, err := os.ReadFile(began) // until the tests have written to it
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	got := p.ended()
	assert.Equal(t, 75, got.exit, got.errout)
	assert.Equal(t, "retry", object(t, got)["result"])
	assert.Equal(t, []string{was, refs}, []string{y.checkout(), y.refs()}, "no lock is left either")
}
