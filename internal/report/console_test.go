package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// tokens counts up, so that a test can say which fence it means.
func tokens() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("t0k3n%d", n) }
}

// speak writes parts of a foreign text, to its end.
func speak(t *testing.T, f io.WriteCloser, parts ...string) {
	for _, part := range parts {
		assert.NoError(t, must.Err(io.WriteString(f, part)))
	}
	assert.NoError(t, f.Close())
}

func TestForeignTextStandsBetweenStopCommands(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, true, tokens())
	require.NoError(t, c.Group("agent\n::error::x"))
	f := c.Foreign()
	speak(t, f, "hello\n::set-out", "put name=result::done\n::error::no end")
	require.NoError(t, f.Close(), "closing twice does nothing")
	require.NoError(t, c.End())
	assert.Equal(t, `::group::agent ::error::x
::stop-commands::t0k3n1
hello
::set-output name=result::done
::error::no end
::t0k3n1::
::endgroup::
`, b.String())
	assert.ErrorIs(t, must.Err(io.WriteString(f, "late")), io.ErrClosedPipe)
}

func TestEachForeignTextHasItsOwnToken(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, true, tokens())
	for range 2 {
		speak(t, c.Foreign(), "x\n")
	}
	require.NoError(t, c.Foreign().Close(), "an empty text needs no fence")
	assert.Equal(t, "::stop-commands::t0k3n1\nx\n::t0k3n1::\n::stop-commands::t0k3n2\nx\n::t0k3n2::\n", b.String())
}

func TestForeignTextInATerminal(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, false, tokens())
	require.NoError(t, c.Group("agent"))
	speak(t, c.Foreign(), "\x1b[31mred\x1b[0m\r\n\n::error::x\rover\x1b]52;c;AAAA\x07\n")
	require.NoError(t, c.End())
	assert.Equal(t, "== agent\n| red\n|\n| ::error::x\n| over\n", b.String())
}

func TestForeignTextComesInWholeLines(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, false, tokens())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			speak(t, c.Foreign(), slices.Repeat([]string{"line ", fmt.Sprint(i), " end", "\n"}, 50)...)
		})
	}
	wg.Wait()
	for l := range strings.Lines(b.String()) {
		assert.Regexp(t, `^\| line \d end\n$`, l)
	}
	assert.Equal(t, 400, strings.Count(b.String(), "\n"))
}

func TestAForeignLineWithoutEndIsBroken(t *testing.T) {
	var b bytes.Buffer
	speak(t, NewConsole(&b, true, tokens()).Foreign(), strings.Repeat("x", 3*foreignLine))
	assert.Equal(t, 3*foreignLine, strings.Count(b.String(), "x"))
	for l := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, len(l), foreignLine+1)
	}
}

func TestAnnotate(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Annotate(&b, "warning", "blocked: 100%\n::error::x"))
	assert.Equal(t, "::warning::blocked: 100%25%0A::error::x\n", b.String())
	assert.ErrorContains(t, Annotate(&b, "set-output name=x", "y"), "want notice, warning or error")
	assert.ErrorContains(t, Annotate(broken{}, "error", "y"), "write workflow command error")
}

func TestComplaint(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Complaint(&b, "run agent: exit status 1\n::error::x\r\n\n##[group]y\n"))
	assert.Equal(t, "mergexo: run agent: exit status 1\n  | ::error::x\n  |\n  | ## [group]y\n", b.String())
	b.Reset()
	require.NoError(t, Complaint(&b, "no token"))
	assert.Equal(t, "mergexo: no token\n", b.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe is gone") }

// obeyed lists the lines that the runner would take for a workflow command: it ends lines at \r too, trims what is
// before "::", and looks for the old form anywhere. What stands between stop-commands it does not obey.
//
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func obeyed(out string) []string {
	var found []string
	stop := ""
	for _, l := range strings.FieldsFunc(out, func(r rune) bool { return r == '\n' || r == '\r' }) {
		trimmed := strings.TrimSpace(l)
		switch {
		case stop != "":
			if strings.HasPrefix(trimmed, "::"+stop+"::") || strings.Contains(l, "##["+stop+"]") {
				stop = ""
			}
		case strings.HasPrefix(trimmed, "::stop-commands::"):
			stop = strings.TrimPrefix(trimmed, "::stop-commands::")
		case strings.HasPrefix(trimmed, "::"), strings.Contains(l, "##["):
			found = append(found, l)
		}
	}
	return found
}

func TestObeyedSeesWhatTheRunnerSees(t *testing.T) {
	assert.Len(t, obeyed("a\r  ::error::b\nx ##[group]y\n::stop-commands::k\n::error::c\n::k::\n::error::d"), 3)
}

// A token that is made while an agent talks has to be hidden at once, and the agent must not be obeyed for it.
func TestAMaskIsObeyedInTheMiddleOfForeignText(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, true, tokens())
	f := c.Foreign()
	require.NoError(t, must.Err(io.WriteString(f, "before\n")))
	require.NoError(t, c.Mask("new-token"))
	require.NoError(t, c.Mask(""))
	require.NoError(t, c.Mask("another"))
	speak(t, f, "::error::after\n")
	assert.Equal(t, `::stop-commands::t0k3n1
before
::t0k3n1::
::add-mask::new-token
::add-mask::another
::stop-commands::t0k3n2
::error::after
::t0k3n2::
`, b.String())

	b.Reset()
	require.NoError(t, NewConsole(&b, false, tokens()).Mask("new-token"))
	assert.Empty(t, b.String(), "in a terminal it would only show it")
}
