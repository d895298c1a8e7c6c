//go:build shells

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prints is what a program prints on both streams. It has to end well.
func prints(t *testing.T, home string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	// A width for man, which fills its lines; a locale in which nothing is out of its character set.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "MANWIDTH=80", "TERM=dumb"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%q: %s", argv, out)
	return strings.TrimSpace(string(out))
}

// printed is a file with what a command prints.
func printed(t *testing.T, dir string, args ...string) string {
	t.Helper()
	got := program(t, nil, args...).ok(t)
	file := filepath.Join(dir, "mergexo."+args[len(args)-1])
	require.NoError(t, os.WriteFile(file, []byte(got.out), 0o600))
	return file
}

func TestShellsReadTheirCompletions(t *testing.T) {
	dir := t.TempDir()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		assert.Empty(t, prints(t, dir, shell, "-n", printed(t, dir, "completion", shell)), shell)
	}
	zsh := filepath.Join(dir, "mergexo.zsh")
	assert.Equal(t, "_mergexo: function\n_mergexo", prints(t, dir, "zsh", "-fc",
		`autoload -Uz compinit; compinit -u -d "$HOME/dump"; source "$1"; whence -w _mergexo; print -r -- $_comps[mergexo]`, "zsh", zsh))
}

func TestFishCompletes(t *testing.T) {
	dir := t.TempDir()
	script := printed(t, dir, "completion", "fish")
	for line, want := range map[string][]string{
		"mergexo sta":                      {"status"},
		"mergexo blocked ":                 {"list", "reset"},
		"mergexo blocked reset --a":        {"--all"},
		"mergexo --color never blocked re": {"reset"},
		"mergexo completion f":             {"fish"},
		"mergexo nonsense --pr":            nil,
	} {
		var got []string
		for found := range strings.Lines(prints(t, dir, "fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line)) {
			word, _, _ := strings.Cut(strings.TrimSpace(found), "\t")
			got = append(got, word)
		}
		slices.Sort(got)
		assert.Equal(t, want, got, line)
	}
}

func TestManShowsThePage(t *testing.T) {
	dir := t.TempDir()
	shown := prints(t, dir, "man", "--warnings=w", "-P", "cat", "-l", printed(t, dir, "man"))
	assert.NotContains(t, shown, "warning:")
	for _, want := range []string{"MERGEXO(1)", "NAME\n       mergexo - run coding agents", "   mergexo blocked reset\n", "       --head-sha SHA\n", "EXIT STATUS\n"} {
		assert.Contains(t, shown, want)
	}
}
