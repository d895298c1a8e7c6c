package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// machine is where the tests run: what is there, what is not, and what was made for this run.
type machine struct {
	out   *console
	cache string // .cache of this checkout
	env   []string
	temp  string // for the tests' directories; removed at the end
	tally tally

	mu      sync.Mutex
	missing []string // what could not be run, with the reason
}

// hidden are variables of a workflow run and of other checkouts that must not reach a test.
var hidden = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "INPUT_TOKEN", "MERGEXO_SIGNING_KEY", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH", "GITHUB_EVENT_NAME",
	"MERGEXO_TEST_GIT", "MERGEXO_TEST_BROWSER", "MERGEXO_WEBHOOK_EXAMPLES", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE",
}

const (
	oldestGit = "2.38" // merge-tree --write-tree
	room      = 3 << 30
)

func newMachine(ctx context.Context, o options, out *os.File) (*machine, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	m := &machine{out: &console{to: out}, cache: filepath.Join(dir, ".cache")}
	said, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return nil, fmt.Errorf("git is not on PATH: install git %s or newer", oldestGit)
	}
	version := strings.Fields(string(said))[2]
	if !atLeast(oldestGit, version) {
		return nil, fmt.Errorf("git is version %s: install %s or newer", version, oldestGit)
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !slices.Contains(hidden, name) {
			m.env = append(m.env, e)
		}
	}
	m.env = append(m.env, "PATH="+filepath.Join(m.cache, "tools")+":"+os.Getenv("PATH"))
	if os.Getenv("GOGC") == "" { // the tests' heaps are small: collecting them less often saves a tenth of all CPU
		m.env = append(m.env, "GOGC=400")
	}
	parent := os.TempDir()
	if !o.stress && inMemory("/dev/shm") {
		parent = "/dev/shm"
	}
	if free, err := freeBytes(parent); err == nil && free < room {
		return nil, fmt.Errorf("%s has %d MB free: the tests want %d MB; set TMPDIR to a directory with more", parent, free>>20, room>>20)
	}
	if m.temp, err = os.MkdirTemp(parent, "mergexo-test-"); err != nil {
		return nil, fmt.Errorf("make a directory for the tests: %w", err)
	}
	if err := os.Chmod(m.temp, 0o755); err != nil { //nolint:gosec // agents of other users get to theirs in it
		return nil, err
	}
	m.env = append(m.env, "TMPDIR="+m.temp)
	m.out.line("%s, git %s, %d cores, tests in %s", runtime.Version(), version, runtime.NumCPU(), parent)
	return m, nil
}

func (m *machine) close() {
	// The module cache's way of being read-only is used by some tests, too.
	_ = filepath.WalkDir(m.temp, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // to be removed
		}
		return nil
	})
	if err := os.RemoveAll(m.temp); err != nil {
		m.out.line("%s stays behind: %v", m.temp, err)
	}
}

// leave notes what is not run, and why.
func (m *machine) leave(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missing = append(m.missing, fmt.Sprintf(format, args...))
}

// command is a program that is ended with all that it started when ctx ends.
func (m *machine) command(ctx context.Context, env []string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(slices.Clone(m.env), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// atLeast reports whether version found is least or newer.
func atLeast(least, found string) bool {
	l, f := strings.Split(least, "."), strings.Split(found, ".")
	for i := range min(len(l), len(f)) {
		a, _ := strconv.Atoi(l[i])
		b, _ := strconv.Atoi(f[i])
		if a != b {
			return b > a
		}
	}
	return len(f) >= len(l)
}

// inMemory reports whether dir is a file system in memory on which programs may be started, also as other users, with room.
func inMemory(dir string) bool {
	raw, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line) // device directory type options
		if len(f) > 3 && f[1] == dir && f[2] == "tmpfs" {
			on := strings.Split(f[3], ",")
			free, err := freeBytes(dir)
			return err == nil && free >= 2*room && !slices.Contains(on, "noexec") && !slices.Contains(on, "nosuid") && !slices.Contains(on, "ro")
		}
	}
	return false
}

func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // their types differ between systems
}
