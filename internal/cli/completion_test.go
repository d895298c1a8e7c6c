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
)

// commandOfBash is a command and what bash completes after it.
var commandOfBash = regexp.MustCompile(`(?m)^ +'([a-z ]*)'\) words=\$'(.*)' ;;$`)

// What is completed is what the program takes, whatever a command is given later: its own help says which flags it has.
func TestCompletionsKnowEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	script := program(t, nil, "completion", "bash").ok(t)
	commands := commandOfBash.FindAllStringSubmatch(script.out, -1)
	require.Greater(t, len(commands), 15)
	man := program(t, nil, "man").out
	for _, m := range commands {
		if m[1] == "help" { // its --help is the program's
			continue
		}
		help := program(t, nil, append(strings.Fields(m[1]), "--help")...)
		require.Equal(t, 0, help.exit, m[1])
		var flags, words []string
		for _, f := range regexp.MustCompile(`(?m)^   (--[a-z-]+)`).FindAllStringSubmatch(help.out, -1) {
			flags = append(flags, f[1])
		}
		for _, word := range strings.Split(m[2], `\n`) {
			if strings.HasPrefix(word, "--") {
				words = append(words, word)
				assert.Contains(t, man, `\fB`+strings.ReplaceAll(word, "-", `\-`)+`\fR`, m[1])
			} else {
				assert.Regexp(t, `\n   `+word+"[ ,]", help.out, m[1])
			}
		}
		slices.Sort(flags)
		slices.Sort(words)
		assert.Equal(t, slices.Compact(flags), words, m[1])
		if m[1] != "" {
			assert.Contains(t, man, "\n.SS mergexo "+m[1]+"\n")
		}
	}
}

// Bash itself completes lines, as its own completion calls our function: the words, = one of them, and the last is incomplete.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "events dir"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "event 1.json"), nil, 0o600))
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
		{[]string{"replay", "--event", "event"}, []string{"event 1.json", "events dir"}},
		{[]string{"replay", "--event", "=", "event\\ "}, nil},
		{[]string{"replay", "--event", "=", "event 1"}, []string{"event 1.json"}},
		{[]string{"replay", "--event", "="}, []string{"event 1.json", "events dir", "mergexo.bash"}},
		{[]string{"replay", "--checkout", "ev"}, []string{"events dir"}},
		{[]string{"blocked", "reset", "--repo", "o/r", "--dr"}, []string{"--dry-run"}},
		{[]string{"blocked", "reset", "--pr", "--a"}, nil},
		{[]string{"replay", "--name", "status", "--liv"}, []string{"--live"}},
		{[]string{"replay", "--name", "=", "status", "--liv"}, []string{"--live"}},
		{[]string{"status", "status", "--ht"}, []string{"--html"}},
		{[]string{"nonsense"}, nil},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "-euc",
			`. "$0"; complete -p mergexo >/dev/null; COMP_WORDS=(mergexo "$@"); COMP_CWORD=$#; _mergexo || :; for w in "${COMPREPLY[@]+"${COMPREPLY[@]}"}"; do echo "$w"; done | sort`, script}, tt.words...)...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		var got []string
		if text := strings.TrimSpace(string(out)); text != "" {
			got = strings.Split(text, "\n")
		}
		slices.Sort(tt.want)
		assert.Equal(t, tt.want, got, "%q", tt.words)
	}
}

func TestCompletionsAndTheManualPage(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		got := program(t, nil, "completion", shell).ok(t)
		golden.File(t, "completion/"+shell+".txt", got.out)
	}
	got := program(t, nil, "man").ok(t)
	golden.File(t, "completion/man.txt", regexp.MustCompile(`"mergexo dev[^"]*"`).ReplaceAllString(got.out, `"mergexo dev"`))
	assert.NotRegexp(t, `(?m)^\.[^A-Z]`, got.out, "no text that roff takes for a request")

	got = program(t, nil, "completion", "tcsh")
	assert.Equal(t, 2, got.exit)
	assert.Equal(t, "mergexo: unknown command \"tcsh\"; use one of bash, fish, zsh\n", got.errout)
}
