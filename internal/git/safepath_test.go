package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

func TestAPathWithoutWhatForeignCodeMayWrite(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := func(name string, modes ...os.FileMode) string {
		at := filepath.Join(top, name)
		require.NoError(t, os.MkdirAll(at, 0o755)) //nolint:gosec // PATH is readable
		for i, mode := range modes {
			require.NoError(t, os.Chmod(filepath.Join(top, strings.Join(strings.Split(name, "/")[:i+1], "/")), mode))
		}
		return at
	}
	link := func(name, to string) string {
		at := filepath.Join(top, name)
		require.NoError(t, os.Symlink(to, at))
		return at
	}
	workspace := dir("workspace")
	safe, sticky := dir("bin"), dir("tmp/bin", 0o777|os.ModeSticky)
	path := []string{
		dir("workspace/.venv/bin"), link("venv", filepath.Join(workspace, ".venv/bin")), workspace,
		dir("opt/pipx_bin", 0o777, 0o777), dir("open", 0o777|os.ModeSticky), dir("share/bin", 0o777), filepath.Join(top, "missing"), "bin", "",
		safe, link("also", safe), sticky,
	}
	assert.Equal(t, strings.Join([]string{safe, filepath.Join(top, "also"), sticky}, ":"), git.SafePath(strings.Join(path, ":"), workspace, ""))
}
