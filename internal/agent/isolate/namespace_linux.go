package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// From <asm-generic/unistd.h>, <linux/mount.h> and <linux/fcntl.h>; package syscall has none of them. Since Linux 5.12.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysMountSetattr = 442

	openTreeClone      = 1
	moveMountEmptyPath = 4
	atRecursive        = 0x8000
	atEmptyPath        = 0x1000
	attrReadOnly       = 1
	attrNoSetuid       = 2
)

// The first process of namespaces has every capability in them, and no power outside. It uses that to leave the program
// nothing but what Namespace says, and then gives it up.
//
// To be of the same user as we are is what makes this weaker than a user of its own: what that user may read elsewhere on
// the machine stays readable. So what is known to hold credentials, sockets of services or devices is hidden.

// devices is what a program needs of /dev.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// tree is a part of the file system, taken before it is covered.
type tree struct {
	path string
	fd   int
	file bool
}

func take(path string) (tree, error) {
	info, err := os.Stat(path)
	if err != nil {
		return tree{}, fmt.Errorf("take %s: %w", path, unwrap(err))
	}
	name, _ := syscall.BytePtrFromString(path) // os.Stat refuses a path with a NUL
	fd, _, errno := syscall.RawSyscall(sysOpenTree, ^uintptr(99), uintptr(unsafe.Pointer(name)), openTreeClone|atRecursive|syscall.O_CLOEXEC)
	if errno != 0 {
		return tree{}, fmt.Errorf("take %s: %w", path, errno)
	}
	return tree{path, int(fd), !info.IsDir()}, nil
}

// put makes a tree visible again where it was.
func (t tree) put() error {
	defer syscall.Close(t.fd)
	if err := t.place(); err != nil {
		return fmt.Errorf("put %s: %w", t.path, err)
	}
	name, _ := syscall.BytePtrFromString(t.path) // as in take
	empty := new(byte)
	if _, _, errno := syscall.RawSyscall6(sysMoveMount, uintptr(t.fd), uintptr(unsafe.Pointer(empty)), ^uintptr(99), uintptr(unsafe.Pointer(name)), moveMountEmptyPath, 0); errno != 0 {
		return fmt.Errorf("put %s: %w", t.path, errno)
	}
	return nil
}

// place makes what a tree is put on.
func (t tree) place() error {
	if _, err := os.Lstat(t.path); err == nil {
		return nil
	}
	if !t.file {
		return os.MkdirAll(t.path, 0o755)
	}
	if err := os.MkdirAll(t.path[:max(1, strings.LastIndexByte(t.path, '/'))], 0o755); err != nil {
		return err
	}
	return os.WriteFile(t.path, nil, 0o644) //nolint:gosec // covered at once
}

// readOnly makes everything below a path, or of a tree, read-only.
func readOnly(fd uintptr, path string, flags uintptr) error {
	name, _ := syscall.BytePtrFromString(path) // "/" or ""
	attr := struct{ set, clear, propagation, userns uint64 }{set: attrReadOnly | attrNoSetuid}
	if _, _, errno := syscall.RawSyscall6(sysMountSetattr, fd, uintptr(unsafe.Pointer(name)), atRecursive|flags, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0); errno != 0 {
		return errno
	}
	return nil
}

// build makes the file system what the program is to find.
func (n Namespace) build() error {
	syscall.Umask(0o022) // what is made here is for another user
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("part from the file system: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", unwrap(err))
	}
	trees, err := n.trees()
	if err != nil {
		return err
	}
	if err := readOnly(^uintptr(99), "/", 0); err != nil {
		return fmt.Errorf("make the file system read-only: %w", err)
	}
	for _, dir := range n.Hide {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=1777"); err != nil {
			return fmt.Errorf("hide %s: %w", dir, err)
		}
	}
	if err := machine(); err != nil {
		return err
	}
	for _, t := range trees {
		if err := t.put(); err != nil {
			return err
		}
	}
	for _, file := range n.Cover {
		err := syscall.Mount("/dev/null", file, "", syscall.MS_BIND, "")
		if err != nil && !slices.Contains([]error{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES}, err) { // nobody gets to it there
			return fmt.Errorf("hide %s: %w", file, err)
		}
	}
	if err := os.Chdir(here); err != nil { // it was the one that is covered
		return fmt.Errorf("go back to the working directory: %w", unwrap(err))
	}
	return nil
}

// trees takes all that is to be seen again.
func (n Namespace) trees() ([]tree, error) {
	var all []tree
	for _, dir := range n.Show {
		t, err := take(dir)
		if err != nil {
			continue // a part of PATH need not be there
		}
		if err := readOnly(uintptr(t.fd), "", atEmptyPath); err != nil {
			return nil, fmt.Errorf("make %s read-only: %w", dir, err)
		}
		all = append(all, t)
	}
	for _, dir := range n.Write {
		t, err := take(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// machine makes /proc, which shows no process but those in here, and /dev, which has nothing that leads out.
func machine() error {
	var nodes []tree
	for _, name := range devices {
		if t, err := take("/dev/" + name); err == nil {
			nodes = append(nodes, t)
		}
	}
	if err := syscall.Mount("tmpfs", "/dev", "tmpfs", syscall.MS_NOSUID, "mode=755"); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	for _, t := range nodes {
		if err := t.put(); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return fmt.Errorf("make /dev: %w", unwrap(err))
		}
	}
	for _, dir := range []string{"/dev/shm", "/dev/pts"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("make /dev: %w", unwrap(err))
		}
	}
	if err := syscall.Mount("tmpfs", "/dev/shm", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("make /dev/shm: %w", err)
	}
	_ = syscall.Mount("devpts", "/dev/pts", "devpts", syscall.MS_NOSUID|syscall.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") // few need a terminal
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	return nil
}

// inside is in place of Word the argument of the first process of namespaces, which finds its Spec in a file of its own.
const (
	inside     = "__wall_inside"
	letterFile = 3
)

// From <linux/capability.h>.
const (
	capSetpcap  = 8
	capNetAdmin = 12
	capSysAdmin = 21
)

// enclose starts this program once more as the first process of namespaces in which it has our number, and ends as it does.
// MergeXO itself cannot start that one: whoever is shut to others may not say which users there are in namespaces of theirs.
// It returns only an error.
func (l Spec) enclose() error {
	if err := prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)); err != nil {
		return err
	}
	if l.Parent != 0 && os.Getppid() != l.Parent {
		return errors.New("mergexo has ended")
	}
	text, err := Seal(l)
	if err != nil {
		return err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // which the other one gets as well
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], inside}, &syscall.ProcAttr{
		Env: []string{}, Files: []uintptr{0, 1, 2, uintptr(pipe[0])}, Sys: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
			AmbientCaps: []uintptr{capSetpcap, capNetAdmin, capSysAdmin}, // who is not root keeps no others through execve
		},
	})
	if err != nil {
		return err
	}
	_ = syscall.Close(pipe[0])
	for len(text) > 0 {
		n, err := syscall.Write(pipe[1], text)
		if err != nil {
			break // it has ended, and says why
		}
		text = text[n:]
	}
	_ = syscall.Close(pipe[1])
	return follow(pid)
}

// follow waits for a process, reaping all others, and ends as it does.
func follow(pid int) error {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait for the program: %w", err)
		case ended == pid && status.Signaled():
			exit(128 + int(status.Signal()))
		case ended == pid:
			exit(status.ExitStatus())
		}
	}
}

// lead starts the program and stays the first process of its namespaces until that has ended: with the first process the
// kernel ends all others, before it says that the first one has ended
// (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html). It passes SIGTERM on. It returns only an error.
func (l Spec) lead() error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	pid, err := syscall.ForkExec(l.Path, texts(l.Argv), &syscall.ProcAttr{Env: texts(l.Env), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return err
	}
	go func() {
		for s := range signals {
			if number, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(pid, number) // it may have ended
			}
		}
	}()
	return follow(pid)
}
