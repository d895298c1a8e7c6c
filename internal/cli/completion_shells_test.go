//go:build shells

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
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

// What somebody types at a terminal is completed, and files where a flag takes one.
func TestBashAndZshComplete(t *testing.T) {
	for shell, start := range map[string]struct {
		argv  []string
		setup string
	}{
		"bash": {[]string{"bash", "--norc", "--noprofile", "-i"}, ""},
		"zsh":  {[]string{"zsh", "-fi"}, `autoload -Uz compinit; compinit -u -d "$HOME/dump"; `},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "event 1.json"), nil, 0o600))
		cmd := exec.CommandContext(t.Context(), start.argv[0], start.argv[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + shim(t) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TERM=dumb", "INPUTRC=/dev/null"}
		terminal := must.Get(pty.Start(cmd))(t)
		var shown strings.Builder
		until := func(what string) {
			t.Helper()
			shown.Reset()
			for buf := make([]byte, 4096); !strings.Contains(shown.String(), what); {
				n, err := terminal.Read(buf)
				shown.Write(buf[:n])
				require.NoError(t, err, "%s shows %q in place of %q", shell, shown.String(), what)
			}
		}
		fmt.Fprintf(terminal, "%ssource %s; echo rea''dy\r", start.setup, printed(t, dir, "completion", shell))
		until("ready\r\n")
		fmt.Fprint(terminal, "mergexo completion fi\t --help\r")
		until("print the completion script for fish")
		fmt.Fprint(terminal, "mergexo replay --checkout . --event ev\t --help\r")
		until(`event\ 1.json`)
		until("EXAMPLES")
		fmt.Fprint(terminal, "exit\r")
		require.NoError(t, cmd.Wait())
		_ = terminal.Close()
	}
}

func TestFishCompletes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", shim(t)+":"+os.Getenv("PATH"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "event 1.json"), nil, 0o600))
	script := printed(t, dir, "completion", "fish")
	for line, want := range map[string][]string{
		"mergexo sta":                      {"status\tshow the state of the tracked pull requests"},
		"mergexo blocked reset --a":        {"--all\tunblock every blocked pull request of the repository; needs --yes"},
		"mergexo --color never blocked re": {"reset\tunblock pull requests, with the rules of /mergexo unblock"},
		"mergexo completion f":             {"fish\tprint the completion script for fish"},
		"mergexo replay --event ev":        {"event 1.json"},
		"mergexo nonsense --pr":            nil,
	} {
		var got []string
		for found := range strings.Lines(prints(t, dir, "fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line)) {
			got = append(got, strings.TrimSpace(found))
		}
		slices.Sort(got)
		assert.Equal(t, want, got, line)
	}
}

func TestManShowsThePage(t *testing.T) {
	dir := t.TempDir()
	shown := prints(t, dir, "man", "--warnings=w", "-P", "cat", "-l", printed(t, dir, "man"))
	assert.NotContains(t, shown, "warning:")
	for _, want := range []string{"mergexo(1)", "NAME\n       mergexo - run coding agents", "   mergexo blocked reset\n", "       --head-sha=\"\": ", "EXIT STATUS\n"} {
		assert.Contains(t, shown, want)
	}
}
