package git_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// restored is a checkout in which an agent may do what it likes.
func restored(t *testing.T) (h *hub, c *git.Checkout, dot string) {
	h = newHub(t)
	head := h.commit("agent/x", "work", map[string]string{"a.txt": "1\n"})
	c = h.open(h.workspace("agent/x"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	return h, c, filepath.Join(c.Dir(), ".git")
}

func TestWhatLeadsOutOfTheGitDirectoryIsRefusedAndTakenOut(t *testing.T) {
	for name, plant := range map[string]func(dot string) error{
		"a pipe for HEAD": func(dot string) error {
			file := filepath.Join(dot, "HEAD")
			if err := os.Remove(file); err != nil {
				return err
			}
			return syscall.Mkfifo(file, 0o600)
		},
		"a link for packed-refs": func(dot string) error {
			_ = os.Remove(filepath.Join(dot, "packed-refs"))
			return os.Symlink("/etc/passwd", filepath.Join(dot, "packed-refs"))
		},
		"a link for the log": func(dot string) error {
			_ = os.RemoveAll(filepath.Join(dot, "logs"))
			return os.Symlink(os.TempDir(), filepath.Join(dot, "logs"))
		},
		"a link among the objects": func(dot string) error {
			return os.Symlink("/etc", filepath.Join(dot, "objects", "zz"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, c, dot := restored(t)
			require.NoError(t, plant(dot))
			_, err := c.Head(ctx)
			var astray *git.ErrLedAstray
			require.ErrorAs(t, err, &astray)
			assert.Len(t, astray.Paths, 1)
			_, err = os.Lstat(astray.Paths[0])
			assert.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

func TestOtherPlacesForObjectsAndRefsAreForgotten(t *testing.T) {
	h, c, dot := restored(t)
	foreign := t.TempDir()
	h.git(foreign, "init", "-q")
	write(t, foreign, map[string]string{"s": "secret\n"})
	h.git(foreign, "add", "-A")
	h.git(foreign, "commit", "-q", "-m", "Not yours")
	taken := h.git(foreign, "rev-parse", "HEAD")
	write(t, dot, map[string]string{"objects/info/alternates": filepath.Join(foreign, ".git", "objects") + "\n", "commondir": filepath.Join(foreign, ".git") + "\n"})
	_, err := c.Head(ctx)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(dot, "objects", "info", "alternates"))
	assert.NoFileExists(t, filepath.Join(dot, "commondir"))
	_, err = c.Commits(ctx, taken, taken)
	assert.Error(t, err, "nothing of the other repository is to be had")
}

func TestLocksOfProcessesThatAreGoneAreRemoved(t *testing.T) {
	_, c, dot := restored(t)
	write(t, c.Dir(), map[string]string{"b.txt": "2\n"})
	write(t, dot, map[string]string{"index.lock": "x", "HEAD.lock": "x", "refs/heads/agent/x.lock": "x"})
	_, made, err := c.Commit(ctx, "All the same")
	require.NoError(t, err)
	assert.True(t, made)
}
