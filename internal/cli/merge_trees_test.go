package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testingBy are settings whose tests are a shell's script.
func testingBy(script string) map[string]string {
	return map[string]string{".github/mergexo.toml": fmt.Sprintf("[merge]\ntests = [\"sh\", \"-c\", %q]\n", script)}
}

// Tests that use git themselves find it as on a fresh machine: their hooks run, and their settings count.
func TestTestsHaveAGitOfTheirOwn(t *testing.T) {
	t.Parallel()
	y := newYard(t, testingBy(`set -e; git init -q new; cd new; git commit -q --allow-empty -m mine; git log --format='by %an'; git config user.name Own
		printf '#!/bin/sh\ntouch ran\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m theirs
		test -e ran; git log -1 --format='by %an'; git config --list; env; exit 7`))
	y.git(y.dir, "config", "core.hooksPath", "/nowhere")
	got := y.merge("--branch", "fix").exits(t, 3)
	assert.Contains(t, got.out, "(exit code 7")
	assert.Contains(t, got.out, "| by Ada\n  | by Own\n")
	for _, ours := range []string{"hookspath", "protocol.allow", "gpgsign", "GIT_CONFIG_COUNT", "GIT_AUTHOR", "GIT_COMMITTER", "GIT_NO_LAZY_FETCH"} {
		assert.NotContains(t, got.out, ours)
	}
}

// The submodules of a test tree are where the repository itself would look for them.
func TestSubmodulesBesideTheRepository(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--local"}} {
		y := newYard(t, map[string]string{".github/mergexo.toml": "[merge]\nsetup = [\"git\", \"submodule\", \"update\", \"--init\"]\ntests = [\"test\", \"-f\", \"lib/greeting.txt\"]\n"})
		root := filepath.Dir(y.bare)
		require.NoError(t, os.Mkdir(filepath.Join(root, "libraries"), 0o755))
		y.git(root, "clone", "-q", "--bare", y.bare, filepath.Join(root, "libraries", "lib.git"))
		y.git(y.writer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../libraries/lib.git", "lib")
		y.commit("main", "main", "Add a library", nil)
		y.git(y.dir, "pull", "-q")
		y.git(y.dir, "branch", "fix", "origin/fix")
		got := y.merge(append([]string{"--branch", "fix", "--base", "main"}, more...)...).ok(t)
		assert.Contains(t, got.out, "after `git submodule update --init`")
	}
}
