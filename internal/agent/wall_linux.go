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
)

// family is the agents of this process that are running.
var family struct {
	sync.Mutex
	once  sync.Once
	alive int
	since uint64 // start of the first of them, in clock ticks since the machine's; 0: there is none
}

// expect is called before an agent is started, with a wall or without one. What it leaves behind becomes our child from
// now on, and is found even where it has neither its session nor its environment any more
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

// bury ends what is left of an agent whose own process, 0 if there never was one, has ended: all that is in its session,
// and every orphan since then in a session of its own, since nobody else here starts such processes; older ones are
// children that we had before we became this program. While another agent runs beside it those may be its, and wait for
// its end.
func bury(head int) {
	family.Lock()
	defer family.Unlock()
	family.alive--
	if head == 0 {
		return
	}
	self, _ := readProcess(os.Getpid())
	last := family.alive == 0
	for range 1000 {
		found := false
		for _, p := range processes() {
			orphan := last && p.parent == self.pid && p.session != self.session && p.started >= family.since
			if p.session != head && !orphan {
				continue
			}
			if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
				continue
			}
			found = found || p.state != 'Z'
			if p.parent == self.pid {
				_, _ = syscall.Wait4(p.pid, nil, 0, nil)
			}
		}
		if !found {
			break
		}
	}
	if last {
		family.since = 0
	}
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

// processesOf are the living ones of a user.
func processesOf(uid int) []int {
	var list []int
	for _, p := range processes() {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		if err != nil || p.state == 'Z' {
			continue
		}
		_, ids, _ := strings.Cut(string(status), "\nUid:")
		ids, _, _ = strings.Cut(ids, "\n")
		for id := range strings.FieldsSeq(ids) {
			if id == strconv.Itoa(uid) {
				list = append(list, p.pid)
				break
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
