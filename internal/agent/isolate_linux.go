package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mergexo/mergexo/internal/clock"
)

// family are the running agents of this process.
var family struct {
	sync.Mutex
	once  sync.Once
	alive int
	since uint64 // start of the first of them, in clock ticks since boot; 0: there is none
}

// expect is called before an agent is started, with or without an isolator. From then on its orphans become our children,
// and are found even if they changed both session and environment
// (https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html).
func expect() {
	family.once.Do(func() {
		const prSetChildSubreaper = 36
		_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
	})
	family.Lock()
	family.alive++
	family.Unlock()
}

// born is called with the process that was started, which leads a session.
func born(pid int) {
	family.Lock()
	defer family.Unlock()
	if p, ok := readProcess(pid); ok && family.since == 0 {
		family.since = p.started
	}
}

// disown is called if an expected process was not started.
func disown() {
	family.Lock()
	defer family.Unlock()
	family.alive--
}

// reap ends what remains of an agent whose own process has ended, and checks that nothing is left: everything in its
// session, and every orphan since then with its own session, since nothing else here starts such processes. Older children
// were ours before we became this program. While another agent runs, orphans may be its, and wait for its end.
//
// Everything that an agent started is below a child of ours: an orphan becomes our child before its parent can be waited
// for. So when no such child is left, nothing is, however fast processes fork.
func reap(head int, c clock.Clock) error {
	family.Lock()
	defer family.Unlock()
	family.alive--
	self, _ := readProcess(os.Getpid())
	last := family.alive == 0
	end := clock.Or(c).NewTimer(endLimit)
	defer end.Stop()
	for {
		found := 0
		for _, p := range children() {
			if p.session == head || last && p.session != self.session && p.started >= family.since {
				found += p.killAndReap()
			}
		}
		if found == 0 {
			break
		}
		select {
		case <-end.Chan():
			return alive("%d processes that it left behind do not end within %s", found, span(endLimit))
		default:
		}
	}
	if last {
		family.since = 0
	}
	return nil
}

// killAndReap ends a child process, and returns how many it ended; one that we may not signal is another user's.
func (p process) killAndReap() int {
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		return 0
	}
	_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
	return 1
}

// children are our child processes, zombies included. If the kernel does not list them (CONFIG_PROC_CHILDREN), all
// processes are scanned.
func children() []process {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	if len(lists) == 0 {
		self := os.Getpid()
		return slices.DeleteFunc(processes(), func(p process) bool { return p.parent != self })
	}
	var all []process
	for _, file := range lists {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended, and left its children to another one
		}
		for pid := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(pid); err == nil {
				if p, ok := readProcess(n); ok {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// process is a line of proc_pid_stat(5).
type process struct {
	pid, parent, session int
	state                byte
	started              uint64
}

func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	p := process{pid: pid}
	field := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // a name may have anything in it
	if len(field) < 20 {
		return process{}, false
	}
	p.state = field[0][0]
	p.parent, _ = strconv.Atoi(field[1])
	p.session, _ = strconv.Atoi(field[3])
	p.started, _ = strconv.ParseUint(field[19], 10, 64)
	return p, true
}

// processes are all that there are.
func processes() []process {
	var list []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			if p, ok := readProcess(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// ancestors are the processes above us, the nearest first.
func ancestors() []int {
	var list []int
	for pid := os.Getppid(); pid > 0 && len(list) < 100; {
		list = append(list, pid)
		p, ok := readProcess(pid)
		if !ok {
			break
		}
		pid = p.parent
	}
	return list
}
