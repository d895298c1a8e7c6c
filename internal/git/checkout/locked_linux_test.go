package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/must"
)

// unprivileged reports whether modes hold for this process. For root they do not: then the test runs again, as a user without a name.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	const uid = 61_001
	top := gittest.Must(os.MkdirTemp("", "mergexo-unprivileged-"))(t)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(top)) })
	require.NoError(t, os.Chown(top, uid, uid))
	program := gittest.Must(os.ReadFile("/proc/self/exe"))(t)
	again := filepath.Join(top, "test")
	require.NoError(t, os.WriteFile(again, program, 0o755)) //nolint:gosec // it is run
	cmd := exec.Command(again, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = top, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "TMPDIR=" + top}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

func TestResetRemovesWhatIsLocked(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	h, c, _, sha := gittest.Turn(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.Chmod(elsewhere, 0o500)) //nolint:gosec // that it stays so is the point
	must.Each(t, map[string]os.FileMode{"read-only": 0o555, "shut": 0}, func(t *testing.T, mode os.FileMode) {
		gittest.Write(t, c.Dir(), map[string]string{"fixture/deep/x": "x", "fixture/y": "y", "new/z": "z"})
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(c.Dir(), "fixture", "link")))
		for _, dir := range []string{"fixture/deep", "fixture"} {
			require.NoError(t, os.Chmod(filepath.Join(c.Dir(), dir), mode))
		}
		gittest.Must(gittest.Dirty(c))(t)
		require.NoError(t, checkout.Reset(t.Context(), c, sha))
		assertReset(t, h, c, "agent/x", sha)
		assert.NoDirExists(t, filepath.Join(c.Dir(), "fixture"))
	})
	info := gittest.Must(os.Stat(elsewhere))(t)
	assert.True(t, strings.HasPrefix(info.Mode().String(), "dr-x---"), "%s", info.Mode())
}
