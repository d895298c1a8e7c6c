package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PATH begins on GitHub's own runners with directories that anybody may write: what an agent puts there is not run with our rights.
func TestAProgramThatAnybodyCanHavePutInPathIsNotRun(t *testing.T) {
	h := newHub(t, command(answers))
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o755)) //nolint:gosec // as is usual in PATH
	require.NoError(t, os.Chmod(open, 0o777)) //nolint:gosec // which is the point
	planted := filepath.Join(t.TempDir(), "planted")
	for _, name := range []string{"git", "sudo", "useradd", "userdel"} {
		require.NoError(t, os.WriteFile(filepath.Join(open, name), []byte("#!/bin/sh\necho "+name+" >>"+planted+"\nexit 1\n"), 0o755)) //nolint:gosec // a program
	}
	program(t, h.env("PATH="+open+":"+os.Getenv("PATH"), "GITHUB_RUN_ID=12"), "run", "--json").ok(t)
	assert.NoFileExists(t, planted)
}
