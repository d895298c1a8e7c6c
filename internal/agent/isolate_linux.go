package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
	own := sessionOf(os.Getpid())
	last := family.alive == 0
	end := clock.Or(c).NewTimer(endLimit)
	defer end.Stop()
	for {
		found := 0
		for _, pid := range children() {
			if s := sessionOf(pid); s == head || last && s != own && startedSince(pid, family.since) {
				found += killAndReap(pid)
			}
		}
		if found == 0 {
			break
		}
		select {
		case <-end.Chan():
			return alive("%d processes that it left behind do not end within %s", found, clock.Text(endLimit))
		default:
		}
	}
	if last {
		family.since = 0
	}
	return nil
}

// killAndReap ends a child process, and returns how many it ended; one that we may not signal is another user's.
func killAndReap(pid int) int {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return 0
	}
	_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return 1
}

// sessionOf is the session that a process is in, 0 if it has ended. The call costs a hundredth of reading /proc, and there may
// be hundreds of children. Where the system's policy forbids it, /proc still tells: who is in our session must not be ended.
func sessionOf(pid int) int {
	id, _, failed := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if failed != 0 {
		p, _ := readProcess(pid)
		return p.session
	}
	return int(id)
}

func startedSince(pid int, ticks uint64) bool {
	p, ok := readProcess(pid)
	return ok && p.started >= ticks
}

// children are our child processes, zombies included. If the kernel does not list them (CONFIG_PROC_CHILDREN), all
// processes are scanned.
func children() []int {
	const threads = "/proc/self/task"
	var all []int
	listed := false
	tasks, _ := os.ReadDir(threads)
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(threads, task.Name(), "children"))
		if err != nil {
			continue // the thread has ended, and left its children to another one
		}
		listed = true
		for pid := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(pid); err == nil {
				all = append(all, n)
			}
		}
	}
	if listed {
		return all
	}
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			all = append(all, p.pid)
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
