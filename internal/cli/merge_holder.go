package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// holder names this process so that another one on the machine can check whether it still runs; "" if the system does not
// provide what that takes.
func holder() string {
	place, start, _ := seen(os.Getpid())
	if place == "" || start == "" {
		return ""
	}
	return fmt.Sprintf("process %d since %s on %s", os.Getpid(), start, place)
}

// gone reports whether the process that holder named has certainly ended.
func gone(name string) bool {
	var pid int
	var start, place string
	if n, _ := fmt.Sscanf(name, "process %d since %s on %s", &pid, &start, &place); n != 3 || pid <= 0 {
		return false // a workflow run, or a system without /proc
	}
	here, now, ended := seen(pid)
	if here == "" || here != place {
		return false // another machine, or a PID namespace that we cannot see
	}
	if now != "" {
		return now != start || ended
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.Signal(0))
	}
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// seen returns the PID namespace and boot, and the start time of a process in ticks since boot. ended: it is a zombie
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html). "" is unknown.
func seen(pid int) (place, start string, ended bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", "", false
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", "", false
	}
	place = fmt.Sprintf("%x", sha256.Sum256([]byte(string(boot)+space)))[:16]
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return place, "", false
	}
	fields := strings.Fields(string(stat)[strings.LastIndex(string(stat), ")")+1:])
	const state, began = 0, 19
	if len(fields) <= began {
		return place, "", false
	}
	return place, fields[began], fields[state] == "Z" || fields[state] == "X"
}
