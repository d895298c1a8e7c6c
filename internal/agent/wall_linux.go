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

// family is the agents of this process that are running, by the process that was started, which leads a session.
var family = struct {
	sync.Mutex
	heads map[int]bool
	alive int
	once  sync.Once
}{heads: map[int]bool{}}

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

func born(pid int) {
	family.Lock()
	family.heads[pid] = true
	family.Unlock()
}

// bury ends what is left of an agent whose own process, 0 if there never was one, has ended: all that is in its session,
// and every orphan in a session of its own, since nobody else here starts such processes. While another agent runs beside
// it those may be its, and wait for its end.
func bury(head int) {
	family.Lock()
	defer family.Unlock()
	delete(family.heads, head)
	family.alive--
	if head == 0 {
		return
	}
	self, _ := readProcess(os.Getpid())
	for range 1000 {
		found := false
		for _, p := range processes() {
			orphan := p.parent == self.pid && p.session != self.session && !family.heads[p.pid] && family.alive == 0
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
			return
		}
	}
}

// process is a line of proc_pid_stat(5).
type process struct {
	pid, parent, session int
	state                byte
}

func readProcess(pid int) (process, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	p := process{pid: pid}
	var group int
	rest := text[bytes.LastIndexByte(text, ')')+1:] // a name may have anything in it
	_, err = fmt.Sscanf(string(rest), " %c %d %d %d", &p.state, &p.parent, &group, &p.session)
	return p, err == nil
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
