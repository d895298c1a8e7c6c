package isolate

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// ProcessesOf is how many living processes a user has, and how many threads are in them, as proc_pid_status(5) tells.
func ProcessesOf(uid int) (n int, threads uint64) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		status, err := os.ReadFile("/proc/" + name + "/status")
		if err != nil {
			continue // it has ended
		}
		if strings.HasPrefix(statusField(status, "State"), "Z") || !slices.Contains(strings.Fields(statusField(status, "Uid")), strconv.Itoa(uid)) {
			continue
		}
		own, _ := strconv.ParseUint(statusField(status, "Threads"), 10, 64)
		n, threads = n+1, threads+own
	}
	return n, threads
}

// statusField is the value on a line that is not the first. That is the process's name, in which the kernel escapes newlines.
func statusField(status []byte, name string) string {
	_, value, _ := strings.Cut(string(status), "\n"+name+":\t")
	value, _, _ = strings.Cut(value, "\n")
	return value
}
