package isolate

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// From <linux/sockios.h>, <linux/seccomp.h>, <linux/audit.h> and <asm-generic/unistd.h>.
const (
	ioctlGetFlags = 0x8913
	ioctlSetFlags = 0x8914

	prSetSeccomp      = 22
	seccompModeFilter = 2
	seccompAllow      = 0x7fff0000
	seccompErrno      = 0x00050000

	sysIOUringSetup = 425
	x32             = 0x40000000 // numbers of system calls from here on are those of another ABI
)

// audited is how the kernel calls what we were compiled for.
var audited = map[string]uint32{"amd64": 0xc000003e, "arm64": 0xc00000b7}

// part leaves the machine's network for a new one, in which there is the loopback device and nothing else. Who is not in it
// can only be reached by what is handed over: a socket stays in the network in which it was made, whoever holds it
// (https://man7.org/linux/man-pages/man7/network_namespaces.7.html).
func (n Network) part(sign string) error {
	there, err := n.connect()
	if err != nil {
		return fmt.Errorf("meet mergexo: %w", err)
	}
	if there >= 0 {
		defer syscall.Close(there)
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring up the loopback device: %w", err)
	}
	if there >= 0 {
		if err := n.handOver(there, sign); err != nil {
			return err
		}
	}
	return confineSockets()
}

// meet is a socket of the old network, connected; -1 where nobody waits.
func (n Network) connect() (int, error) {
	if n.Socket == "" {
		return -1, nil
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: n.Socket}); err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

// loopbackUp gives the new network its 127.0.0.1 and ::1.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct { // struct ifreq: https://man7.org/linux/man-pages/man7/netdevice.7.html
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}}
	for _, call := range []uintptr{ioctlGetFlags, ioctlSetFlags} {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
		request.flags |= syscall.IFF_UP
	}
	return nil
}

// handOver gives away the listeners and then the network's own counters, and waits until somebody has them.
func (n Network) handOver(there int, sign string) error {
	var all []int
	defer func() {
		for _, fd := range all {
			_ = syscall.Close(fd)
		}
	}()
	for _, port := range n.Ports {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
		all = append(all, fd)
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
		if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
	}
	for _, name := range []string{"snmp", "snmp6"} {
		if fd, err := syscall.Open("/proc/self/net/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil { // a kernel may have no IPv6
			all = append(all, fd)
		}
	}
	if err := syscall.Sendmsg(there, []byte(sign), syscall.UnixRights(all...), nil, 0); err != nil {
		return fmt.Errorf("hand over the network: %w", err)
	}
	if got, err := syscall.Read(there, make([]byte, 1)); err != nil || got != 1 {
		return errors.New("hand over the network: mergexo did not take it")
	}
	return nil
}

// confineSockets leaves only those kinds of sockets that a network of its own holds. Others ask whoever runs this virtual
// machine (AF_VSOCK), or have the kernel send for them. A program that is not of this machine's own kind, for which the
// kernel has other numbers, gets nothing; nor does one that has the kernel make its sockets by io_uring, which no filter sees.
func confineSockets() error {
	arch, ok := audited[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("filter sockets: not on %s", runtime.GOARCH)
	}
	const (
		load                = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		equal               = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		least               = syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K
		answer              = syscall.BPF_RET | syscall.BPF_K
		number, kind, first = 0, 4, 16 // in struct seccomp_data, of a little-endian machine
	)
	program := []syscall.SockFilter{
		{Code: load, K: kind},
		{Code: equal, K: arch, Jf: 10},
		{Code: load, K: number},
		{Code: least, K: x32, Jt: 8},
		{Code: equal, K: sysIOUringSetup, Jt: 7},
		{Code: equal, K: syscall.SYS_SOCKET, Jf: 7},
		{Code: load, K: first},
		{Code: equal, K: syscall.AF_UNIX, Jt: 5},
		{Code: equal, K: syscall.AF_INET, Jt: 4},
		{Code: equal, K: syscall.AF_INET6, Jt: 3},
		{Code: equal, K: syscall.AF_NETLINK, Jt: 2},
		{Code: answer, K: seccompErrno | uint32(syscall.EAFNOSUPPORT)},
		{Code: answer, K: seccompErrno | uint32(syscall.ENOSYS)},
		{Code: answer, K: seccompAllow},
	}
	filter := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // few
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetSeccomp, seccompModeFilter, uintptr(unsafe.Pointer(&filter)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("filter sockets: %w", errno)
	}
	return nil
}
