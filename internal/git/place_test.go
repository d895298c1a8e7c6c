package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLook(t *testing.T) {
	path := os.Getenv("PATH")
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
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
	p, err = Look(t.Context(), below, path)
	require.NoError(t, err)
	assert.Equal(t, top, p.Top)
	assert.Empty(t, p.Origin)

	run("remote", "add", "origin", "git@github.com:Octo/Widgets.git")
	p, err = Look(t.Context(), below, path)
	require.NoError(t, err)
	assert.Equal(t, "git@github.com:Octo/Widgets.git", p.Origin)

	_, err = Look(t.Context(), filepath.Join(top, ".git"), path)
	require.ErrorIs(t, err, ErrNoRepository, "there are no files to look at")
	_, err = Look(t.Context(), filepath.Join(top, "nowhere"), path)
	assert.Error(t, err)
	_, err = Look(t.Context(), top, top)
	assert.ErrorContains(t, err, "not in PATH")
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
