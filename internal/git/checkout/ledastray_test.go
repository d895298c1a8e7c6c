package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

func TestNoCallFollowsALinkOutOfTheGitDirectory(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	outside := t.TempDir()
	gittest.Write(t, outside, map[string]string{"agent/x": sha + "\n"})
	link := filepath.Join(c.Dir(), ".git", "refs", "heads")
	h.Agent(c, "pack-refs", "--all")
	for name, call := range map[string]func() error{
		"Reset": func() error { return checkout.Reset(gittest.Ctx, c, start) },
		"Tip": func() error {
			_, err := checkout.BranchTip(gittest.Ctx, c, sha)
			return err
		},
		"LeftBranches": func() error {
			_, err := checkout.LeftBranches(gittest.Ctx, c, start)
			return err
		},
	} {
		require.NoError(t, os.RemoveAll(link))
		require.NoError(t, os.Symlink(outside, link))
		assert.Equal(t, []string{link}, gittest.As[*git.ErrUnsafeGitDir](t, call(), name).Paths, name)
		assert.NoFileExists(t, link, "nobody follows it later either")
		require.NoError(t, os.Mkdir(link, 0o755))
		assert.Equal(t, sha, h.Agent(c, "rev-parse", "refs/heads/agent/x"), "%s has moved nothing", name)
	}
	workspace := c.Dir()
	require.NoError(t, os.RemoveAll(link))
	require.NoError(t, os.Symlink(outside, link))
	gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "agent/x"))(t)
	assert.True(t, c.OwnClone, "whatever else is wrong there, a clone of our own is sound")
	assert.Equal(t, "one\n", gittest.Read(t, c.Dir(), "a.txt"))
	assert.Equal(t, "two\n", gittest.Read(t, workspace, "a.txt"), "the workspace is left as it is")
	assert.Equal(t, sha+"\n", gittest.Read(t, outside, "agent/x"))
}

// A snapshot whose objects are elsewhere would lack them once the checkout is put right.
func TestASnapshotIsRefusedIfItsObjectsCanBeElsewhere(t *testing.T) {
	h := gittest.NewHub(t)
	dir, programs := h.Workspace("main"), t.TempDir()
	program := gittest.Must(exec.LookPath("git"))(t)
	alternates := filepath.Join(dir, ".git", "objects", "info", "alternates")
	script := `#!/bin/sh
case "$*" in *" write-tree") echo ` + filepath.Join(h.Bare, "objects") + ` >` + alternates + ` ;; esac
exec ` + program + ` "$@"
`
	require.NoError(t, os.WriteFile(filepath.Join(programs, "git"), []byte(script), 0o755))
	c := h.Open(dir, func(o *git.Options) { o.Path = programs + ":" + os.Getenv("PATH") })
	gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	gittest.Write(t, dir, map[string]string{"a.txt": "two\n"})
	_, err := checkout.Snapshot(gittest.Ctx, gittest.Quarantine(t, c), "", "Snapshot")
	assert.Equal(t, []string{alternates}, gittest.As[*git.ErrUnsafeGitDir](t, err).Paths)
}
