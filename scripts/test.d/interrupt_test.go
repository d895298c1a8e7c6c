package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// files writes files, by their names, and goes to where they are.
func files(t *testing.T, all map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	t.Chdir(dir)
}

const module = "module example.com/x\n\ngo 1.24\n"

// waits is a test that reports that it runs, and never ends by itself.
const waits = `package c

import (
	"io"
	"net"
	"os"
	"testing"
)

func TestWaits(*testing.T) {
	c, err := net.Dial("unix", os.Getenv("BEGUN"))
	if err == nil {
		_, _ = io.ReadAll(c)
	}
}
`

// linesUntil reads lines up to the one that begins with these words.
func linesUntil(t *testing.T, from *bufio.Reader, words string) string {
	t.Helper()
	for all := ""; ; {
		line, err := from.ReadString('\n')
		if all += line; err != nil || strings.HasPrefix(line, words) {
			require.NoError(t, err, "%s", all)
			return all
		}
	}
}

func TestAnInterruptedRunPrintsNoSum(t *testing.T) {
	files(t, map[string]string{
		"go.mod": module, "c/c_test.go": waits, "a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(*testing.T) {}\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { t.Error(\"it is 3\") }\n",
	})
	socket := filepath.Join(t.TempDir(), "s")
	begun := must.Get(net.Listen("unix", socket))(t)
	defer begun.Close()
	screen, out := io.Pipe()
	m := &machine{out: &console{to: out}, env: append(os.Environ(), "BEGUN="+socket)}
	ctx, interrupt := context.WithCancel(t.Context())
	var ended error
	go func() {
		ended = m.run(ctx, options{packages: []string{"./a", "./b", "./c"}, seed: 7}, time.Time{})
		_ = out.Close()
	}()
	lines := bufio.NewReader(screen)
	linesUntil(t, lines, "ok  \texample.com/x/a\t")
	linesUntil(t, lines, "FAIL\texample.com/x/b\t")
	running := must.Get(begun.Accept())(t)
	defer running.Close()
	interrupt()
	rest := must.Get(io.ReadAll(lines))(t)
	assert.Equal(t, "again: scripts/test ./example.com/x/b -run '^TestB$' -shuffle=7\n", string(rest), "of what was ended, nothing is said")
	var errout bytes.Buffer
	assert.Equal(t, 130, exit(ended, &errout))
	assert.Equal(t, "scripts/test: interrupted before all tests had run; run it again, with -shuffle=7 for the same order\n", errout.String())
}

// program stands for the one behind the script.
const program = `package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("begun")
	<-c
	fmt.Println("ended")
	os.Exit(130)
}
`

func TestTheScriptEndsAsItsProgramDoes(t *testing.T) {
	script := must.Get(os.ReadFile("../test"))(t)
	type row struct {
		program, out, errout string
	}
	must.Each(t, map[string]row{
		"in the tests":    {program, "begun\nended\n", ""},
		"before it hears": {strings.Replace(program, "SIGTERM", "SIGHUP", 1), "begun\n", "scripts/test: interrupted before all tests had run; run it again\n"},
	}, func(t *testing.T, c row) {
		files(t, map[string]string{"go.mod": module, "scripts/test": string(script), "scripts/test.d/main.go": c.program})
		cmd := exec.CommandContext(t.Context(), "scripts/test")
		var errout bytes.Buffer
		cmd.Stderr = &errout
		out := must.Get(cmd.StdoutPipe())(t)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(out)
		said := linesUntil(t, lines, "begun")
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		rest := must.Get(io.ReadAll(lines))(t)
		_ = cmd.Wait()
		assert.Equal(t, 130, cmd.ProcessState.ExitCode())
		assert.Equal(t, c.out, said+string(rest))
		assert.Equal(t, c.errout, errout.String())
		assert.Empty(t, must.Get(filepath.Glob(".cache/test.d-*"))(t))
	})
}
