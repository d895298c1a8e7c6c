package agent_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

func init() {
	// A sudo that is root because its file says so, as the real one is, and does as it does: another environment, other
	// groups, no descriptors but three.
	fakes["sudo"] = func() int {
		if len(os.Args) > 3 && slices.Equal(os.Args[1:3], []string{"-n", "--"}) { // for the programs that make users
			os.Args = append([]string{os.Args[0], "-n", "-u", "root", "--"}, os.Args[3:]...)
		} else if len(os.Args) != 7 || !slices.Equal(os.Args[1:3], []string{"-n", "-u"}) || os.Args[4] != "--" {
			fmt.Fprintln(os.Stderr, "sudo: usage:", os.Args)
			return 1
		}
		uid := 0
		if number, ok := strings.CutPrefix(os.Args[3], "#"); ok {
			uid, _ = strconv.Atoi(number)
		}
		if err := errors.Join(syscall.Setgroups([]int{uid}), syscall.Setresgid(uid, uid, uid)); err != nil {
			fmt.Fprintln(os.Stderr, "sudo:", err)
			return 1
		}
		fmt.Fprintln(os.Stderr, "sudo: unable to resolve host runner")
		cmd := exec.Command(os.Args[5], os.Args[6:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = []string{"PATH=/usr/sbin:/usr/bin", "SUDO_USER=somebody"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small
		if err := syscall.Setresuid(0, 0, 0); err != nil {
			fmt.Fprintln(os.Stderr, "sudo:", err)
			return 1
		}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "sudo:", err)
			return 1
		}
		_ = cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			_ = syscall.Kill(os.Getpid(), status.Signal())
		}
		return cmd.ProcessState.ExitCode()
	}
}

// hosted is a runner as GitHub's: an unprivileged user with a sudo that asks nobody.
type hosted struct {
	t        *testing.T
	top, dir string // of everything, and of the checkout
	uid      int
	opt      agent.Options
}

func newHosted(t *testing.T) hosted {
	t.Helper()
	opt, _ := isolatedOptions(t)
	h := hosted{t: t, uid: tenant(), dir: clone(t), opt: opt}
	h.top = filepath.Dir(h.dir)
	h.opt.Log, h.opt.Temp, h.opt.User = nil, filepath.Join(h.top, "temp"), strconv.Itoa(tenant())
	require.NoError(t, os.Mkdir(h.opt.Temp, 0o700))
	h.opt.Isolator = filepath.Join(h.top, "mergexo")
	self := must.Get(agent.Self())(t)
	replica(t, self, h.opt.Isolator, 0o755)
	replica(t, self, filepath.Join(h.top, "setuid"), os.ModeSetuid|0o755)
	require.NoError(t, exec.Command("chown", "-R", "-h", strconv.Itoa(h.uid)+":"+strconv.Itoa(h.uid), h.dir, h.opt.Temp).Run())
	require.NoError(t, os.Chown(filepath.Join(h.top, "outside"), 0, 0)) // the other name of one in the checkout
	require.NoError(t, os.Mkdir(filepath.Join(h.top, "bin"), 0o755))
	h.sudo(h.real())
	require.NoError(t, os.WriteFile(filepath.Join(h.top, "asked"), nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Join(h.top, "asked"), 0o666)) //nolint:gosec // for the runner's user
	h.opt.Env = []string{"PATH=" + h.top + "/bin:/usr/bin:/bin", "KEY=sk-kept", "HOME=/home/runner"}
	return h
}

// real is what sudo does.
func (h hosted) real() string {
	return `printf '%s\n' "$*" >> ` + h.top + `/asked; FAKE_AGENT=sudo exec ` + h.top + `/setuid "$@"`
}

func (h hosted) sudo(script string) {
	h.t.Helper()
	require.NoError(h.t, os.WriteFile(filepath.Join(h.top, "bin/sudo"), []byte("#!/bin/sh\n"+script+"\n"), 0o755)) //nolint:gosec // a program
}

func (h hosted) run(script string, args ...string) told {
	h.t.Helper()
	return h.runUntil("", script, args...)
}

// runUntil runs a script whose time is up when it has said the word.
func (h hosted) runUntil(word, script string, args ...string) told {
	h.t.Helper()
	j := job{Options: h.opt, UpAt: word, Dir: h.dir, Argv: append([]string{"/bin/sh", "-c", script}, args...)}
	cmd, out := play(h.t, h.opt.Isolator, j, &syscall.Credential{Uid: uint32(h.uid), Gid: uint32(h.uid)}) //nolint:gosec // small
	require.NoError(h.t, cmd.Run())
	return answered(h.t, out)
}

func TestAnAgentOfAnotherUserBySudo(t *testing.T) {
	if !rooted(t) {
		return
	}
	h := newHosted(t)
	said := h.run(`id -u; id -G; echo "$KEY"; echo "$PATH"; echo "$HOME"; env | grep -c SUDO; ls /proc/$$/fd
		grep -E 'NoNewPrivs' /proc/self/status | tr -s '\t' ' '; stat -c %u .git greet.txt other-name
		mkdir locked; echo kept > locked/file; chmod 000 locked; cat /proc/1/environ 2>/dev/null && echo open; kill $PPID; exit 3`)
	assert.Equal(t, "exit", said.Kind)
	assert.Regexp(t, "^agent: exit code 3; its last line: .*kill: .*Operation not permitted$", said.Error)
	want := []string{
		h.opt.User, h.opt.User, "sk-kept", h.top + "/bin:/usr/bin:/bin", h.opt.Temp + "/user-home", "0", "0", "1", "2", "NoNewPrivs: 1",
		h.opt.User, h.opt.User, "0",
	}
	assert.Equal(t, append([]string{"sudo: unable to resolve host runner"}, want...), strings.Split(said.Log, "\n")[:len(want)+1])
	for _, path := range []string{"", ".git", "greet.txt", "locked", "locked/file", "link"} {
		assert.Equal(t, h.uid, owner(t, h.dir, path), path)
	}
	assert.Equal(t, 0, owner(t, h.top, "outside"))
	opensStreams(t, func(script string) string { return h.run(script).Log })

	for line := range strings.Lines(string(contents(t, filepath.Join(h.top, "asked")))) {
		assert.Regexp(t, `^-n -u (root|#`+h.opt.User+`) -- `+h.opt.Isolator+` __wall\n$`, line, "nothing else is there to be seen")
	}
}

func TestATimeoutReachesThroughSudo(t *testing.T) {
	if !rooted(t) {
		return
	}
	h := newHosted(t)
	h.opt.Grace = time.Hour // more than it needs
	said := h.runUntil("began", `trap 'echo terminated; exit 1' TERM; echo began; while :; do sleep 0.01; done`)
	assert.Equal(t, "timeout", said.Kind)
	assert.Contains(t, said.Log, "began\n")
	assert.Contains(t, said.Log, "\nterminated\n", "asked first")
	h.opt.Grace = grace
	held(t, func(pipe string) {
		h.opt.Reads = []string{filepath.Dir(pipe)}
		assert.Equal(t, "timeout", h.runUntil("held", `trap '' TERM; `+hold+`; echo held; while :; do sleep 1000; done`, pipe).Kind)
	}, nil)
	assert.Equal(t, h.uid, owner(t, h.dir))
}

func TestASudoThatDoesNot(t *testing.T) {
	if !rooted(t) {
		return
	}
	h := newHosted(t)
	refusal := func(name string) {
		t.Helper()
		said := h.run("true")
		assert.Equal(t, "start", said.Kind)
		golden.Text(t, "sudo_"+name+".txt", strings.NewReplacer(h.top, "TOP", h.opt.User, "AGENT", strconv.Itoa(h.uid), "RUNNER").Replace(said.Error))
		assert.Equal(t, h.uid, owner(t, h.dir))
	}
	holding := newHosted(t)
	holding.sudo(`[ "$3" = root ] && [ -e ` + holding.dir + `/ran ] && exit 1; ` + holding.real())
	said := holding.run("touch ran")
	assert.Equal(t, "unreturned", said.Kind, "the tests have passed: %s", said.Error)

	h.sudo(`echo "sudo: a password is required" >&2; exit 1`)
	refusal("password")
	h.sudo(`while [ "$1" != -- ]; do shift; done; shift; exec "$@"`)
	refusal("nobody")
	require.NoError(t, os.Remove(filepath.Join(h.top, "bin/sudo")))
	h.opt.Env = []string{"PATH=" + h.top + "/bin"}
	refusal("none")
}
