package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent"
)

// A swarm is what got away from its end once: processes that each start one more, in a session of its own, and end without
// a pause. It is bounded by its generations: each is a process that waits to be reaped, and the machine has some tens of
// thousands of numbers for all.
const (
	swarmLines       = 8
	swarmGenerations = 1_000
)

func init() {
	fakes["swarm"] = func() int {
		for range swarmLines {
			if fork() == 0 {
				line(swarmGenerations)
			}
		}
		return 0
	}
}

//go:nosplit
func fork() uintptr {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return ^uintptr(0)
	}
	return pid
}

// line calls the system and nothing else: of the Go program, a fork has only the thread that made it.
//
//go:nosplit
//go:norace
func line(generations int) {
	for fd := range uintptr(3) { // which would say that it is there
		_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	}
	for ; generations > 0; generations-- {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		if fork() != 0 {
			break
		}
	}
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// swarmed counts the processes of a program, looking often: one that starts another and ends can be missed by one look.
func swarmed(program string) int {
	found := 0
	for range 50 {
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if args, err := os.ReadFile(dir + "/cmdline"); err == nil && bytes.HasPrefix(args, []byte(program+"\x00")) {
				found++
			}
		}
	}
	return found
}

// swarm has a machine run a swarm as required tests are run, some times, and counts what is left of it.
func (m machine) swarm(runs int) {
	m.t.Helper()
	swarm := filepath.Join(m.dir, "swarm-"+strconv.Itoa(os.Getpid()))
	replica(m.t, m.isolator, swarm, 0o755)
	m.opt.Env = append(m.opt.Env, "FAKE_AGENT=swarm")
	for range runs {
		said := m.run(swarm)
		assert.Contains(m.t, []string{"", string(agent.Alive)}, said.Kind, said.Error)
		left := swarmed(swarm)
		if said.Kind == "" {
			assert.Zero(m.t, left, "it says that nothing is left")
		}
		if m.want.Setting == agent.IsolationAuto {
			assert.Empty(m.t, said.Error)
		}
	}
}

func TestNothingOfASwarmIsLeft(t *testing.T) {
	if !rooted(t) {
		return
	}
	swarms(t, 2)
}

func swarms(t *testing.T, runs int) {
	t.Helper()
	for _, setting := range []string{agent.IsolationAuto, agent.IsolationNone} {
		for who, uid := range map[string]int{"root": 0, "somebody": tenant()} {
			t.Run(setting+" of "+who, func(t *testing.T) {
				m := machineOf(t, uid)
				m.want.Setting = setting
				m.swarm(runs)
			})
		}
	}
}
