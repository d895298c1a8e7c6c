package isolate

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// The process that is the isolator never is anything else: neither main nor a test runs in it, whatever goes wrong.
func init() {
	if len(os.Args) != 2 || os.Args[1] != Word && os.Args[1] != inside {
		return
	}
	code := 0
	if sign, err := stand(); err != nil {
		_, _ = os.Stderr.WriteString(strings.TrimSpace(sign+" "+strings.ReplaceAll(err.Error(), "\n", "; ")) + "\n")
		code = Refused
	}
	exit(code)
}

// exit ends the process, whatever else runs in it.
func exit(code int) {
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0)
	}
}

// What the agent may have. There is no limit of the address space: V8, which most agents run on, reserves terabytes of it
// (https://v8.dev/blog/sandbox), and none of the CPU time, since the agent's timeout bounds that.
const (
	maxFile = 4 << 30 // bytes of one file: what runs away ends before the disk does
	maxOpen = 1 << 16 // descriptors; what a hosted runner gives
)

// From <linux/prctl.h>, <linux/capability.h>, <asm-generic/resource.h> and <linux/close_range.h>; package syscall has not
// all of them.
const (
	rlimitNproc        = 6
	prSetNoNewPrivs    = 38
	capabilityVersion3 = 0x20080522
	sysCloseRange      = 436
	closeRangeCloexec  = 4
)

// stand does what the Spec says. It returns when it has not become another program.
func stand() (sign string, err error) {
	from := os.Stdin
	if os.Args[1] == inside {
		from = os.NewFile(letterFile, "letter")
	}
	l, err := open(from)
	if err != nil {
		return "mergexo:", err
	}
	if err := shut(); err != nil {
		return l.Sign, err
	}
	if l.Namespace != nil && from == os.Stdin {
		if err := l.enclose(); err != nil {
			return l.Sign, fmt.Errorf("make namespaces: %w", err)
		}
	}
	if l.Network != nil {
		if err := l.Network.part(l.Sign); err != nil {
			return l.Sign, fmt.Errorf("keep it from the network: %w", err)
		}
	}
	if err := l.build(); err != nil {
		return l.Sign, err
	}
	if l.Task == Run {
		if err := limit(l.As); err != nil {
			return l.Sign, err
		}
	}
	if err := l.As.become(); err != nil {
		return l.Sign, err
	}
	return l.Sign, l.perform()
}

// build makes what the Spec says of the file system.
func (l Spec) build() error {
	view := l.Namespace
	if l.View != nil {
		view = l.View
		if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC); err != nil {
			return fmt.Errorf("make a file system of its own: %w", err)
		}
	}
	if view == nil {
		return nil
	}
	if err := view.build(); err != nil {
		return fmt.Errorf("build namespaces: %w", err)
	}
	return nil
}

// perform does the task.
func (l Spec) perform() error {
	switch l.Task {
	case Run:
		return l.run()
	case End:
		return l.end()
	case Reach:
		_, err := os.Stdout.WriteString(unreachable(l.Dirs))
		return err
	case Look:
		return l.look()
	case Own:
		return l.chown()
	case Pass:
		return l.pass()
	case Keep:
		return l.keep()
	}
	return fmt.Errorf("there is no task %q", l.Task)
}

// shut keeps descriptors that whoever started us left open from the agent.
func shut() error {
	if _, _, errno := syscall.RawSyscall(sysCloseRange, 3, ^uintptr(0)>>32, closeRangeCloexec); errno == 0 {
		return nil
	}
	dir, err := os.Open("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, name := range names {
		var fd int
		if _, err := fmt.Sscan(name, &fd); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// limit is set before the user is changed: what is lowered stays so.
func limit(as User) error {
	limits := []struct {
		name string
		what int
		most uint64
	}{
		{"core", syscall.RLIMIT_CORE, 0}, // a core dump has the model's key in it, and would lie in the checkout
		{"fsize", syscall.RLIMIT_FSIZE, maxFile},
		{"nofile", syscall.RLIMIT_NOFILE, maxOpen}, // the soft one too: the Go runtime has raised ours, and Exec must not undo this
		{"nproc", rlimitNproc, as.Tasks},
	}
	for _, one := range limits {
		if one.what == rlimitNproc && as.Tasks == 0 {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(one.what, &now); err != nil {
			return fmt.Errorf("limit %s: %w", one.name, err)
		}
		now.Max = min(now.Max, one.most)
		now.Cur = min(now.Cur, now.Max)
		if err := syscall.Setrlimit(one.what, &now); err != nil {
			return fmt.Errorf("limit %s: %w", one.name, err)
		}
	}
	syscall.Umask(0o022)
	// When memory runs out the agent goes before the process that keeps its work. No right is needed for it, nor a success.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	return nil
}

// become changes to the user for good, or makes sure that somebody has.
func (u User) become() error {
	if u.Become {
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"setgroups", func() error { return syscall.Setgroups(u.Groups) }},
			{"setresgid", func() error { return syscall.Setresgid(u.GID, u.GID, u.GID) }},
			{"setresuid", func() error { return syscall.Setresuid(u.UID, u.UID, u.UID) }},
			{"capset", dropCapabilities},
		} {
			if err := step.do(); err != nil {
				return fmt.Errorf("become user %d: %s: %w", u.UID, step.name, err)
			}
		}
	}
	if real, effective := os.Getuid(), os.Geteuid(); real != u.UID || effective != u.UID {
		return fmt.Errorf("this runs as user %d instead of %d", effective, u.UID)
	}
	return nil
}

// capabilities are those of one thread, the low and the high 32 of them.
type capabilities [2]struct{ effective, permitted, inheritable uint32 }

func (c *capabilities) call(number uintptr) error {
	header := struct {
		version uint32
		pid     int32
	}{capabilityVersion3, 0}
	if _, _, errno := syscall.RawSyscall(number, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(c)), 0); errno != 0 {
		return errno
	}
	return nil
}

// dropCapabilities empties all sets of this thread, which is the one that becomes the agent: where securebits say so,
// setuid would not.
func dropCapabilities() error { return new(capabilities).call(syscall.SYS_CAPSET) }

// kept are the capabilities of a root that nobody has told to be another user: what it takes to own files, to install
// packages and to serve, as in a container. Having fewer than us, it may not look into our process, and not into those
// above us, where they have ours (https://man7.org/linux/man-pages/man2/ptrace.2.html, "Ptrace access mode checking"); nor
// mount, trace, load modules or make devices. It can still write to every file: this is no substitute for a user.
const kept = 1<<0 | // CAP_CHOWN
	1<<1 | // CAP_DAC_OVERRIDE
	1<<3 | // CAP_FOWNER
	1<<4 | // CAP_FSETID
	1<<5 | // CAP_KILL
	1<<6 | // CAP_SETGID
	1<<7 | // CAP_SETUID
	1<<10 | // CAP_NET_BIND_SERVICE
	1<<13 | // CAP_NET_RAW
	1<<18 | // CAP_SYS_CHROOT
	1<<29 | // CAP_AUDIT_WRITE
	1<<31 // CAP_SETFCAP, without which root cannot make a user namespace with itself in it, which Codex shuts its commands in

// renounce takes all capabilities, now and from what will be executed.
func renounce() error {
	for c := range uintptr(64) {
		_ = prctl(syscall.PR_CAPBSET_DROP, c) // the kernel has fewer than 64
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// confine takes all other capabilities from root: now, and from what it will execute. Where that is not allowed there is
// not much to take.
func confine() error {
	for c := range uintptr(64) {
		if kept&(1<<c) == 0 {
			_ = prctl(syscall.PR_CAPBSET_DROP, c)
		}
	}
	var has capabilities
	if err := has.call(syscall.SYS_CAPGET); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	for i, most := range []uint32{kept, 0} {
		has[i].effective &= most
		has[i].permitted &= most
		has[i].inheritable &= most
	}
	if err := has.call(syscall.SYS_CAPSET); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

func prctl(option, value uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// run becomes the program. Package initialization runs on the process's first thread, to which what is set here belongs.
func (l Spec) run() error {
	switch {
	case l.Namespace != nil: // what it has here was for building
		if err := renounce(); err != nil {
			return err
		}
	case l.As.UID == 0:
		if err := confine(); err != nil {
			return err
		}
	}
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)); err != nil { // after become, which would unset it
		return fmt.Errorf("set the signal of our end: %w", err)
	}
	if l.Namespace == nil && l.Parent != 0 && os.Getppid() != l.Parent {
		return errors.New("mergexo has ended")
	}
	if _, err := os.Stderr.WriteString(l.Sign + "\n"); err != nil {
		return err
	}
	if l.Namespace != nil {
		// Other threads of this process keep what it had for building: the program must not get to their memory.
		if err := prctl(syscall.PR_SET_DUMPABLE, 0); err != nil {
			return fmt.Errorf("close the first process: %w", err)
		}
		return l.lead()
	}
	return syscall.Exec(l.Path, texts(l.Argv), texts(l.Env))
}

// end signals every process of this user but this one (https://man7.org/linux/man-pages/man2/kill.2.html, pid -1).
func (l Spec) end() error {
	if l.As.UID == 0 || os.Getuid() != l.As.UID || os.Geteuid() != l.As.UID {
		return errors.New("end processes: not those of root")
	}
	if err := syscall.Kill(-1, syscall.Signal(l.Signal)); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end processes: %w", err)
	}
	return nil
}

// unreachable is the first directory on the way to any of dirs that this user may not pass, or "". A directory that is
// given itself may still be nobody's business: it is about to be handed over.
func unreachable(dirs []string) string {
	const pass = 1 // X_OK
	for _, dir := range dirs {
		for i, c := range dir {
			if c != '/' || i == 0 {
				continue
			}
			if err := syscall.Access(dir[:i], pass); err != nil {
				return dir[:i]
			}
		}
	}
	return ""
}

// look prints the processes whose environment an agent of this user could read.
func (l Spec) look() error {
	if l.As.UID == 0 {
		if err := confine(); err != nil {
			return err
		}
	}
	for _, pid := range l.Processes {
		f, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		if _, err := f.Read(make([]byte, 1)); err == nil {
			fmt.Println(pid)
		}
		_ = f.Close()
	}
	return nil
}
