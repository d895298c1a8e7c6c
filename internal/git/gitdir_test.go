package git_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

// restored is a checkout in which an agent may do what it likes.
func restored(t *testing.T) (h *gittest.Hub, c *git.Checkout, dot string) {
	h = gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"a.txt": "1\n"})
	c = h.Open(h.Workspace("agent/x"))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", head))
	return h, c, filepath.Join(c.Dir(), ".git")
}

func TestWhatLeadsOutOfTheGitDirectoryIsRefusedAndTakenOut(t *testing.T) {
	must.Each(t, map[string]func(dot string) error{
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
	}, func(t *testing.T, plant func(dot string) error) {
		_, c, dot := restored(t)
		require.NoError(t, plant(dot))
		unsafeDir := gittest.As[*git.ErrUnsafeGitDir](t, gittest.Err(c.Head(gittest.Ctx)))
		assert.Len(t, unsafeDir.Paths, 1)
		assert.ErrorIs(t, gittest.Err(os.Lstat(unsafeDir.Paths[0])), os.ErrNotExist)
	})
}

func TestOtherPlacesForObjectsAndRefsAreForgotten(t *testing.T) {
	h, c, dot := restored(t)
	foreign := t.TempDir()
	h.Git(foreign, "init", "-q")
	gittest.Write(t, foreign, map[string]string{"s": "secret\n"})
	h.Git(foreign, "add", "-A")
	h.Git(foreign, "commit", "-q", "-m", "Not yours")
	taken := h.Git(foreign, "rev-parse", "HEAD")
	gittest.Write(t, dot, map[string]string{"objects/info/alternates": filepath.Join(foreign, ".git", "objects") + "\n", "commondir": filepath.Join(foreign, ".git") + "\n"})
	_ = gittest.Must(c.Head(gittest.Ctx))(t)
	assert.NoFileExists(t, filepath.Join(dot, "objects", "info", "alternates"))
	assert.NoFileExists(t, filepath.Join(dot, "commondir"))
	assert.Error(t, gittest.Err(history.List(gittest.Ctx, c, taken, taken)), "nothing of the other repository is to be had")
}

func TestLocksOfProcessesThatAreGoneAreRemoved(t *testing.T) {
	_, c, dot := restored(t)
	gittest.Write(t, c.Dir(), map[string]string{"b.txt": "2\n"})
	gittest.Write(t, dot, map[string]string{"index.lock": "x", "HEAD.lock": "x", "refs/heads/agent/x.lock": "x"})
	_, made, err := gittest.Commit(c, "All the same")
	require.NoError(t, err)
	assert.True(t, made)
}
