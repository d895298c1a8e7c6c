package agent_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// sharing are options of a run as some user. events are told to a log that can be waited for.
func sharing(t *testing.T, user string) (opt agent.Options, events *clocktest.Words) {
	t.Helper()
	opt, _ = isolatedOptions(t)
	events = &clocktest.Words{}
	opt.User, opt.Clock, opt.Events = user, clocktest.Unlimited(), slog.New(slog.NewTextHandler(events, nil))
	return opt, events
}

func TestRunsWithOneUserTakeTurns(t *testing.T) {
	if !rooted(t) {
		return
	}
	user := strconv.Itoa(tenant())
	pipe := filepath.Join(publicDir(t), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Chmod(pipe, 0o666)) //nolint:gosec // for the agent's user
	begun := func(opt agent.Options, script string) <-chan error {
		ended, dir := make(chan error, 1), clone(t)
		opt.Reads = []string{filepath.Dir(pipe)}
		go func() {
			ended <- agent.RunTests(context.Background(), dir, []string{"/bin/sh", "-c", script, pipe}, opt)
		}()
		return ended
	}
	began := make(chan struct{})
	opt, _ := sharing(t, user)
	log := &clocktest.Words{}
	log.At("began", func() { close(began) })
	opt.Log = log
	first := begun(opt, `echo began; read line < "$0"`)
	<-began

	waits := make(chan struct{})
	opt, events := sharing(t, user)
	events.At("user_busy", func() { close(waits) })
	second := begun(opt, "true")
	waited := false
	select {
	case <-waits:
		waited = true
	case err := <-second:
		assert.NoError(t, err)
		assert.Fail(t, "it did not wait")
	}
	opt, events = sharing(t, user)
	late := clockwork.NewFakeClock()
	opt.Clock = late
	events.At("user_busy", func() { late.Advance(agent.UserWait) })
	third := <-begun(opt, "true")
	assert.ErrorIs(t, third, syscall.EAGAIN, "the machine is not ready, which is nobody's fault")
	assert.False(t, as(third, new(*agent.Error)), "nor an attempt of an agent's")
	if third != nil {
		golden.Text(t, "user_busy.txt", strings.ReplaceAll(third.Error(), user, "USER"))
	}

	gate := must.Get(os.OpenFile(pipe, os.O_RDWR, 0))(t)
	defer gate.Close()
	_ = must.Get(gate.WriteString("\n"))(t)
	assert.NoError(t, <-first, "nobody ended it")
	if waited {
		assert.NoError(t, <-second)
	}
}

// What a run leaves that was killed ends and is taken back at once: before the next one there is a step of somebody else's, which
// cleans the checkout up.
func TestAUserEndsWithMergeXO(t *testing.T) {
	if !rooted(t) {
		return
	}
	must.Each(t, map[string]int{"root": 0, "sudo": -1}, func(t *testing.T, uid int) {
		h := newHosted(t)
		if uid == 0 {
			h.uid = 0
			require.NoError(t, exec.Command("chown", "-R", "-h", "0:0", h.dir, h.opt.Temp).Run())
		}
		script := `echo made > made; setsid sh -c 'exec 3>"$0"; echo here >&3; exec sleep 100000' "$0" & wait`
		cred := &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid)} //nolint:gosec // small
		var cmd *exec.Cmd
		started := make(chan struct{})
		held(t, func(pipe string) {
			h.opt.Reads = []string{filepath.Dir(pipe)}
			cmd, _ = play(t, h.opt.Isolator, job{Options: h.opt, Dir: h.dir, Argv: []string{"/bin/sh", "-c", script, pipe}}, cred)
			assert.NoError(t, cmd.Start())
			close(started)
			_ = cmd.Wait()
		}, func() error { <-started; return cmd.Process.Kill() })
		next := h
		next.dir, next.opt.Temp = clone(t), filepath.Join(publicDir(t), "temp")
		require.NoError(t, os.Mkdir(next.opt.Temp, 0o700))
		require.NoError(t, exec.Command("chown", "-R", "-h", strconv.Itoa(h.uid), next.dir, next.opt.Temp).Run())
		said := next.run("echo next")
		assert.Empty(t, said.Error, "%s", said.Log)
		for _, path := range []string{"", ".git", "greet.txt", "made", "link"} {
			assert.Equal(t, h.uid, owner(t, h.dir, path), path)
		}
	})
}
