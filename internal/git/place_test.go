package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestLook(t *testing.T) {
	path := os.Getenv("PATH")
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	run := func(args ...string) {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", top}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	p, err := Look(t.Context(), top, path)
	require.ErrorIs(t, err, ErrNoRepository)
	assert.ErrorContains(t, err, top)
	assert.Regexp(t, `^2\.\d+`, p.Version)

	run("init", "-q")
	below := filepath.Join(top, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	p = must.Get(Look(t.Context(), below, path))(t)
	assert.Equal(t, top, p.Top)
	assert.Empty(t, p.Origin)

	run("remote", "add", "origin", "git@github.com:Octo/Widgets.git")
	assert.Equal(t, "git@github.com:Octo/Widgets.git", must.Get(Look(t.Context(), below, path))(t).Origin)

	require.ErrorIs(t, must.Err(Look(t.Context(), filepath.Join(top, ".git"), path)), ErrNoRepository, "there are no files to look at")
	assert.Error(t, must.Err(Look(t.Context(), filepath.Join(top, "nowhere"), path)))
	assert.ErrorContains(t, must.Err(Look(t.Context(), top, top)), "not in PATH")
}

func TestNamed(t *testing.T) {
	for remote, want := range map[string]string{
		"git@github.com:Octo/Widgets.git": "Octo/Widgets", "https://github.com/octo/widgets": "octo/widgets",
		"https://gitlab.com/octo/widgets": "", "/srv/octo/widgets": "", "": "", "https://github.com/octo/widgets/more": "", "git@github.com:octo": "",
	} {
		name, ok := Named(remote, "https://github.com/")
		assert.Equal(t, want != "", ok, remote)
		if ok {
			assert.Equal(t, want, name)
		}
	}
}
