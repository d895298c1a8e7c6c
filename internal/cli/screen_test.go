package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
)

// terminal is a program at a terminal of its own.
type terminal struct {
	t     *testing.T
	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{}
}

// atTerminal starts mergexo with a terminal as its output and its error output.
func atTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	cmd := mergexo(t, append([]string{"TERM=xterm"}, env...), args...)
	tty := must.Get(pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80}))(t)
	s := &terminal{t: t, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		defer tty.Close()
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf) // EIO where nobody holds the other end any more
			s.mu.Lock()
			s.shown.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				_ = cmd.Wait()
				return
			}
		}
	}()
	return s
}

// text is all that was written to the terminal by now.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// whole is all that was written to it in the end.
func (s *terminal) whole() string {
	<-s.ended
	return s.text()
}

const redMergexo = "\x1b[31mmergexo:\x1b[0m "

func TestColoursAreForTerminals(t *testing.T) {
	t.Parallel()
	type row struct {
		env     []string
		args    []string
		colours bool
	}
	must.Each(t, map[string]row{
		"at a terminal":                     {nil, []string{"status"}, true},
		"NO_COLOR":                          {[]string{"NO_COLOR=1"}, []string{"status"}, false},
		"NO_COLOR that is empty":            {[]string{"NO_COLOR="}, []string{"status"}, true},
		"--color never":                     {nil, []string{"status", "--color", "never"}, false},
		"--color never, before the command": {nil, []string{"--color=never", "status"}, false},
		"the one after the command counts":  {nil, []string{"--color=never", "status", "--color=always"}, true},
		"--color beats NO_COLOR":            {[]string{"NO_COLOR=1"}, []string{"status", "--color", "always"}, true},
		"a dumb terminal":                   {[]string{"TERM=dumb"}, []string{"status"}, false},
		"in Actions":                        {[]string{"GITHUB_ACTIONS=true"}, []string{"status", "--color", "always"}, false},
		"for programs":                      {nil, []string{"status", "--json"}, false},
	}, func(t *testing.T, tt row) {
		t.Parallel()
		got := atTerminal(t, append(tt.env, "GITHUB_REPOSITORY=octo"), tt.args...).whole()
		if tt.colours {
			assert.Contains(t, got, redMergexo+"GITHUB_REPOSITORY: ")
		} else {
			assert.Contains(t, got, "mergexo: GITHUB_REPOSITORY: ")
			assert.NotContains(t, got, "\x1b")
		}
	})
	env := []string{"GITHUB_REPOSITORY=octo"}
	assert.NotContains(t, program(t, env, "status").errout, "\x1b", "in a pipe")
	assert.Contains(t, program(t, env, "status", "--color", "always").errout, redMergexo, "in a pipe that somebody wants colored")
}

// What a person wrote moves nothing on the terminal of who replays it.
func TestUntrustedTextHasNoColours(t *testing.T) {
	t.Parallel()
	got := atTerminal(t, nil, "replay", "--make", "issue_comment", "--body", "/mergexo \x1b[41mhelp\x1b[2J\x1b]0;title\x07").whole()
	assert.Contains(t, got, "result: \x1b[32mdone\x1b[0m")
	assert.Contains(t, got, "\x1b[1m- ")
	assert.NotContains(t, strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[32m", "", "\r\x1b[K", "").Replace(got), "\x1b")
}

// gate is a test command that ends when somebody opens it.
func gate(t *testing.T) (name, settings string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "gate")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	return name, fmt.Sprintf("[agent]\nisolation = \"none\"\n[merge]\ntests = [\"cat\", %q]\n", name)
}

func TestATerminalShowsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	name, settings := gate(t)
	y := newYard(t, map[string]string{".github/mergexo.toml": settings})
	merge := []string{"merge", "--checkout", y.dir, "--branch", "fix", "--base", "main"}
	shown := atTerminal(t, y.env(), merge...)
	clocktest.Until(t, func() bool { return strings.Contains(shown.text(), "running cat /") }, "the line about the tests")
	require.NoError(t, os.WriteFile(name, []byte("tested\n"), 0)) // opens the gate
	whole := shown.whole()
	_, after, ok := strings.Cut(whole, "running cat ")
	require.True(t, ok)
	assert.Contains(t, after, "\r\x1b[K", "it goes")
	assert.Contains(t, after, "result: \x1b[32mdone\x1b[0m")
	for line := range strings.Lines(whole) {
		assert.NotContains(t, line[strings.LastIndex(line, "\r\x1b[K")+1:], "running cat", "nothing of it is left")
	}

	y = newYard(t, map[string]string{".github/mergexo.toml": settings})
	merge[2] = y.dir
	opened := make(chan error, 1)
	go func() { opened <- os.WriteFile(name, []byte("tested\n"), 0) }()
	got := program(t, y.env(), merge...)
	require.NoError(t, errors.Join(<-opened))
	assert.Equal(t, 0, got.exit, got.errout)
	assert.NotContains(t, got.errout+got.out, "running cat", "nobody watches a pipe")
}
