package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// completes are the words that the program completes a line with, whose last word is whole.
func completes(t *testing.T, words ...string) (found []string) {
	t.Helper()
	got := program(t, nil, append(words, "--generate-bash-completion")...).ok(t)
	assert.Empty(t, got.errout, words)
	for line := range strings.Lines(got.out) {
		word, usage, _ := strings.Cut(strings.TrimSpace(line), ":")
		assert.NotEmpty(t, usage, line)
		assert.NotContains(t, usage, "`", line)
		found = append(found, word)
	}
	return found
}

// What is completed is what the program takes, whatever a command is given later: its own help says which flags it has.
func TestCompletionsKnowEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	man := program(t, nil, "man").out
	paths := [][]string{nil}
	for at := 0; at < len(paths); at++ {
		path := paths[at]
		help := program(t, nil, append(slices.Clone(path), "--help")...)
		require.Equal(t, 0, help.exit, path)
		var flags, words []string
		for _, f := range regexp.MustCompile(`(?m)^   (--[a-z-]+)`).FindAllStringSubmatch(help.out, -1) {
			flags = append(flags, f[1])
		}
		for _, word := range completes(t, path...) {
			if strings.HasPrefix(word, "--") {
				words = append(words, word)
				assert.Contains(t, man, `\fB`+word, path)
				continue
			}
			assert.Regexp(t, `\n   `+word+"[ ,]", help.out, path)
			if word != "help" { // its --help is the program's
				paths = append(paths, append(slices.Clone(path), word))
				assert.Contains(t, man, "\n.SS mergexo "+strings.Join(paths[len(paths)-1], " ")+"\n")
			}
		}
		slices.Sort(flags)
		slices.Sort(words)
		assert.Equal(t, slices.Compact(flags), words, path)
	}
	assert.Greater(t, len(paths), 15)
}

func TestWhatMayFollowOnALine(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"list", "reset"}, completes(t, "blocked")[:2])
	assert.Contains(t, completes(t, "blocked", "reset", "--repo", "o/r"), "--dry-run")
	assert.Contains(t, completes(t, "--color", "never", "blocked", "reset"), "--all")
	assert.Contains(t, completes(t, "replay", "--name", "status"), "--live")
	assert.Contains(t, completes(t, "replay", "--name=status"), "--live")
	assert.NotContains(t, completes(t, "blocked", "list"), "--all")
	for _, words := range [][]string{{"replay", "--event"}, {"blocked", "reset", "--pr"}, {"--color"}} {
		assert.Equal(t, 0, len(strings.TrimSpace(program(t, nil, append(words, "--generate-bash-completion")...).out)), words)
	}
}

// shim is a directory with mergexo as a shell finds it.
func shim(t *testing.T) string {
	t.Helper()
	self := must.Get(os.Executable())(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mergexo"), []byte("#!/bin/sh\nMERGEXO_TEST_MAIN=1 exec "+self+` "$@"`+"\n"), 0o755))
	return dir
}

// Bash itself completes lines, as its own completion calls our function: the words, = one of them, and the last is incomplete.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	dir, path := t.TempDir(), shim(t)
	script := filepath.Join(dir, "mergexo.bash")
	require.NoError(t, os.WriteFile(script, []byte(program(t, nil, "completion", "bash").out), 0o600))
	for _, tt := range []struct {
		words []string
		want  []string
	}{
		{[]string{"sta"}, []string{"status"}},
		{[]string{"b"}, []string{"blocked"}},
		{[]string{"blocked", ""}, []string{"list", "reset", "--json", "--verbose", "--color", "--help"}},
		{[]string{"blocked", "re"}, []string{"reset"}},
		{[]string{"blocked", "reset", "--a"}, []string{"--all"}},
		{[]string{"blocked", "list", "--a"}, nil},
		{[]string{"completion", "f"}, []string{"fish"}},
		{[]string{"--vers"}, []string{"--version"}},
		{[]string{"replay", "--event", "event"}, nil},
		{[]string{"replay", "--event", "=", "event"}, nil},
		{[]string{"replay", "--event", "="}, nil},
		{[]string{"blocked", "reset", "--repo", "o/r", "--dr"}, []string{"--dry-run"}},
		{[]string{"blocked", "reset", "--pr", "--a"}, nil},
		{[]string{"replay", "--name", "status", "--liv"}, []string{"--live"}},
		{[]string{"replay", "--name", "=", "status", "--liv"}, []string{"--live"}},
		{[]string{"status", "status", "--ht"}, []string{"--html"}},
		{[]string{"status", "$(touch evaluated)", "`touch evaluated`", "--ht"}, []string{"--html"}},
		{[]string{"nonsense"}, nil},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "-euc",
			`. "$0"; complete -p mergexo >/dev/null; COMP_WORDS=(mergexo "$@"); COMP_CWORD=$#; _mergexo || :; for w in "${COMPREPLY[@]+"${COMPREPLY[@]}"}"; do echo "$w"; done | sort`, script}, tt.words...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + path + ":" + os.Getenv("PATH"), "LC_ALL=C"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		var got []string
		if text := strings.TrimSpace(string(out)); text != "" {
			got = strings.Split(text, "\n")
		}
		slices.Sort(tt.want)
		assert.Equal(t, tt.want, got, "%q", tt.words)
	}
	assert.NoFileExists(t, filepath.Join(dir, "evaluated"))
}

func TestTheManualPage(t *testing.T) {
	t.Parallel()
	got := program(t, nil, "man").ok(t)
	golden.File(t, "man.txt", got.out)

	got = program(t, nil, "completion", "tcsh").exits(t, 2)
	assert.Equal(t, "mergexo: unknown command \"tcsh\"; use one of bash, fish, zsh\n", got.errout)
}
