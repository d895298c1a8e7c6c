package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mergexo/mergexo/internal/agent/isolate"
)

// handover is where the isolator, in a network that it has just made, hands over that network's listeners. nil: there is none
type handover struct {
	name, sign string
	from       uint32 // the user that the isolator then is
	doors      []door
	done       chan struct{} // closed when nobody else is expected

	mu        sync.Mutex
	ended     bool
	waiting   *net.UnixListener
	conn      *net.UnixConn
	listeners []net.Listener
	counters  []*os.File
	err       error
}

// meet begins to wait for the isolator.
func (opt Options) receiveListeners(sign string) (*handover, error) {
	m := &handover{name: "@" + sign + "-network", sign: sign, doors: opt.doors, done: make(chan struct{})}
	if opt.tenant == nil {
		m.from = uint32(os.Geteuid()) //nolint:gosec // a user's number
	}
	var err error
	if m.waiting, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: m.name}); err != nil {
		return nil, fmt.Errorf("wait for a network: %w", err)
	}
	go func() {
		defer close(m.done)
		for {
			conn, err := m.waiting.AcceptUnix()
			if err != nil || m.taken(conn) {
				return
			}
		}
	}()
	return m, nil
}

// network is what the isolator is to make.
func (m *handover) network() *isolate.Network {
	n := &isolate.Network{Socket: m.name}
	for _, d := range m.doors {
		n.Ports = append(n.Ports, d.port)
	}
	return n
}

// taken reports whether it was the isolator that came, with all there is. Everybody on the machine can come.
func (m *handover) taken(conn *net.UnixConn) bool {
	defer conn.Close()
	m.mu.Lock()
	if m.conn = conn; m.ended {
		_ = conn.Close()
	}
	m.mu.Unlock()
	if who, err := peer(conn); err != nil || who != m.from {
		return false
	}
	files, err := m.receive(conn)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range files {
		if i >= len(m.doors) {
			m.counters = append(m.counters, f)
			continue
		}
		l, err := net.FileListener(f)
		_ = f.Close() // l has its own
		if err != nil {
			m.err = errors.Join(m.err, fmt.Errorf("listen in the agent's network: %w", err))
			continue
		}
		m.listeners = append(m.listeners, l)
		m.doors[i].serve(l)
	}
	if m.err == nil {
		_, m.err = conn.Write([]byte{1})
	}
	return true
}

// peer is whose process is at the other end.
func peer(conn *net.UnixConn) (uid uint32, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var who *syscall.Ucred
	if cerr := raw.Control(func(fd uintptr) { who, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return 0, err
	}
	return who.Uid, nil
}

// receive gives what was handed over with our own sign.
func (m *handover) receive(conn *net.UnixConn) ([]*os.File, error) {
	text, rights := make([]byte, len(m.sign)+1), make([]byte, syscall.CmsgSpace(4*(len(m.doors)+2)))
	n, r, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:r])
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range messages {
		fds, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "network")) //nolint:gosec // a descriptor
		}
	}
	if string(text[:n]) == m.sign && len(files) >= len(m.doors) {
		return files, nil
	}
	for _, f := range files {
		_ = f.Close()
	}
	return nil, errors.New("this is not the isolator")
}

// end closes the handover and its listeners once the program has ended. refused is how many packets it sent in vain, and
// lookups of names.
func (m *handover) end() (refused int64, err error) {
	if m == nil {
		return 0, nil
	}
	_ = m.waiting.Close()
	m.mu.Lock()
	m.ended = true
	if m.conn != nil {
		_ = m.conn.Close()
	}
	m.mu.Unlock()
	<-m.done
	for _, l := range m.listeners {
		_ = l.Close()
	}
	for _, f := range m.counters {
		refused += refusedPackets(io.NewSectionReader(f, 0, 1<<20))
		_ = f.Close()
	}
	return refused, m.err
}

// refusedPackets reads /proc/net/snmp, in which a line of names stands before each line of numbers, or /proc/net/snmp6, with a name
// and a number in each line: packets to where no way leads, and those to a port of UDP at which nobody is, as a name server
// of the machine's own would be (https://docs.kernel.org/networking/snmp_counter.html).
func refusedPackets(text io.Reader) int64 {
	counted := map[string]bool{"Ip:OutNoRoutes": true, "Udp:NoPorts": true, "Ip6OutNoRoutes": true, "Udp6NoPorts": true}
	var sum int64
	var names []string
	for lines := bufio.NewScanner(text); lines.Scan(); {
		field := strings.Fields(lines.Text())
		switch {
		case len(field) == 2 && counted[field[0]]:
			sum += number(field[1])
		case len(names) != len(field) || names[0] != field[0]:
			names = field
		default:
			for i := range field {
				if counted[names[0]+names[i]] {
					sum += number(field[i])
				}
			}
		}
	}
	return sum
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // what is no number is 0
	return n
}
