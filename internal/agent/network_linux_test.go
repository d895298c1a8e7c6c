package agent_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func init() {
	// A program that tries to get out, and says which ways are open. Each argument is a way.
	fakes["probe"] = func() int {
		for _, way := range os.Args[1:] {
			kind, rest, _ := strings.Cut(way, "!")
			if err := ways[kind](rest); err != nil {
				fmt.Fprintln(os.Stderr, "shut:", way, err)
			} else {
				fmt.Fprintln(os.Stderr, "open:", way)
			}
		}
		return 0
	}
	// What an agent is that asks its model, and then tries the rest.
	fakes["claude"] = func() int {
		if slices.Contains(os.Args, "--version") {
			fmt.Println("2.1.329")
			return 0
		}
		said := map[string]any{"type": "result", "result": "", "session_id": "s"}
		outcome := map[string]any{"general_comment": fmt.Sprint("model: ", askModel(), "; else: ", ways["tcp"](os.Getenv("OUTSIDE")) == nil)}
		said["structured_output"] = outcome
		_ = json.NewEncoder(os.Stdout).Encode(said)
		return 0
	}
}

func askModel() string {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// ways are those by which something might be said to somebody, and what each of them needs to be told.
var ways = map[string]func(string) error{
	"tcp": dialled("tcp"), "unix": dialled("unix"),
	"udp": func(address string) error { // is open where somebody answers
		conn, err := net.Dial("udp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("name?")); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 10))
		return err
	},
	"family": func(number string) error {
		family, _ := strconv.Atoi(number)
		fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
		if err == nil {
			err = syscall.Close(fd)
		}
		return err
	},
	"io_uring": func(string) error { // the kernel has it where it says that the address is wrong
		const ioUringSetup = 425
		if _, _, errno := syscall.RawSyscall(ioUringSetup, 1, 0, 0); errno != syscall.EFAULT {
			return errno
		}
		return nil
	},
	"own": func(address string) error { // a server of the program's own
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		defer l.Close()
		return dialled("tcp")(l.Addr().String())
	},
	"proxy": func(host string) error { // is open where the proxy does not refuse it
		proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
		if err != nil || proxy.Host == "" {
			return errors.New("there is none")
		}
		conn, err := net.Dial("tcp", proxy.Host)
		if err != nil {
			return err
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic %s\r\n\r\n", host, base64.StdEncoding.EncodeToString([]byte(proxy.User.String())))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		return fmt.Errorf("%d %s", res.StatusCode, strings.TrimSpace(string(text)))
	},
}

func dialled(network string) func(string) error {
	return func(address string) error {
		conn, err := net.Dial(network, address)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
}

// listening is somebody who serves all who come.
func listening(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Logf("left out, this machine has no %s: %v", address, err)
		return ""
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	if network != "unix" {
		network = "tcp"
	}
	return network + "!" + l.Addr().String()
}

// answering is a server of names, as far as that matters here.
func answering(t *testing.T) string {
	t.Helper()
	conn := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		for {
			n, from, err := conn.ReadFrom(make([]byte, 10))
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(make([]byte, n), from)
		}
	}()
	return "udp!" + conn.LocalAddr().String()
}

// outside are ways to others, all of which are open to who is not kept from them.
func outside(t *testing.T) []string {
	t.Helper()
	all := []string{listening(t, "tcp4", "127.0.0.1:0"), listening(t, "tcp4", "127.0.0.2:0"), listening(t, "tcp6", "[::1]:0"), answering(t)}
	addresses := must.Get(net.InterfaceAddrs())(t)
	others := 0
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			all = append(all, listening(t, "tcp", net.JoinHostPort(ip.IP.String(), "0")))
			others++
		}
	}
	if others == 0 {
		t.Log("left out: this machine has no address but its loopback device's")
	}
	all = append(all, listening(t, "unix", fmt.Sprintf("@mergexo-test-%d-%s", os.Getpid(), t.Name())))
	if fd, err := syscall.Socket(vsock, syscall.SOCK_STREAM, 0); err == nil {
		_ = syscall.Close(fd)
		all = append(all, fmt.Sprintf("family!%d", vsock))
	} else {
		t.Log("left out: this machine is no virtual one that could ask its host by AF_VSOCK")
	}
	if ways["io_uring"]("") == nil {
		all = append(all, "io_uring!")
	}
	return slices.DeleteFunc(all, func(way string) bool { return way == "" })
}

const vsock = 40 // AF_VSOCK: https://man7.org/linux/man-pages/man7/vsock.7.html

// service is a socket of the machine's where services have theirs.
func service(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("/run", "mergexo-test-"))(t)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // as a service has it
	way := listening(t, "unix", filepath.Join(dir, "socket"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "socket"), 0o777)) //nolint:gosec // as a service has it
	return way
}

// probing are machines of every kind on which something can be kept from the network, by how it is.
func probing(t *testing.T) map[string]machine {
	t.Helper()
	all := map[string]machine{"user, by root": machineOf(t, 0), "namespace": machineOf(t, tenant())}
	sudo := machineOf(t, tenant())
	sudo.withSudo()
	all["user, by sudo"] = sudo
	named := machineOf(t, 0)
	named.want.User = strconv.Itoa(tenant())
	all["a user of the settings"] = named
	for how, m := range all {
		bin := filepath.Join(m.top, "programs")
		require.NoError(t, os.Mkdir(bin, 0o755)) //nolint:gosec // for everybody
		replica(t, m.isolator, filepath.Join(bin, "probe"), 0o755)
		require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\nFAKE_AGENT=claude exec probe \"$@\"\n"), 0o755)) //nolint:gosec // a program
		m.opt.Env = []string{"PATH=" + bin + ":" + m.want.Path, "FAKE_AGENT=probe"}
		all[how] = m
	}
	return all
}

// withSudo gives a machine a sudo that asks nobody.
func (m *machine) withSudo() {
	m.t.Helper()
	replica(m.t, m.isolator, filepath.Join(m.top, "setuid"), os.ModeSetuid|0o755)
	require.NoError(m.t, os.Mkdir(filepath.Join(m.top, "bin"), 0o755))
	hosted{t: m.t, top: m.top}.sudo(`FAKE_AGENT=sudo exec ` + m.top + `/setuid "$@"`)
	m.want.Path = m.top + "/bin:/usr/bin:/bin"
}

func TestNothingGetsOutOfANetworkOfItsOwn(t *testing.T) {
	if !rooted(t) {
		return
	}
	all := append(outside(t), service(t))
	for how, m := range probing(t) {
		t.Run(how, func(t *testing.T) {
			m.t = t
			m.opt.Env = append(m.opt.Env, "HTTPS_PROXY=http://machine.example:3128")
			level := agent.LevelUser
			if how == "namespace" {
				level = agent.LevelNamespace
			}
			try := func(ways ...string) told {
				said := m.runArgv(append([]string{"probe"}, ways...)...)
				require.Empty(t, said.Error, said.Log)
				require.Equal(t, level, said.Level, said.Why)
				return said
			}
			said := try(all...)
			for _, way := range all {
				if way != all[len(all)-1] { // /run is hidden anyway
					assert.Contains(t, said.Log, "open: "+way+"\n", "without a limit")
				}
			}
			m.opt.Network = model.Network{Model: true}
			said = try(append(slices.Clone(all), "tcp!192.0.2.1:443", "udp!192.0.2.1:53", "tcp![2001:db8::1]:443", "proxy!example.com:443")...)
			assert.NotContains(t, said.Log, "open:")
			assert.Equal(t, len(all)+4, strings.Count(said.Log, "shut:"), said.Log)
			assert.Contains(t, said.Log, "shut: proxy!example.com:443 there is none", "the machine's own is not reached")
			assert.Regexp(t, `level=WARN msg=network_refused packets=\d+ network="\\"model\\""`, said.Events)
			assert.Contains(t, try("own!127.0.0.1:0", "own![::1]:0").Log, "open: own!127.0.0.1:0\nopen: own![::1]:0\n", "a server of the program's own")

			m.opt.Network.Hosts = []string{"localhost"}
			said = try("proxy!localhost:443", "proxy!example.com:443", "proxy!localhost:22", all[0])
			assert.Contains(t, said.Log, "shut: proxy!localhost:443 403 MergeXO does not connect to this host: its address is on this machine", "the proxy is reached, and looks further")
			assert.Contains(t, said.Log, "shut: proxy!example.com:443 403 MergeXO does not connect to this host: [agent] network does not name it")
			assert.Contains(t, said.Log, "shut: proxy!localhost:22 403")
			assert.Contains(t, said.Log, "shut: "+all[0])
			assert.Contains(t, said.Events, "network_refused host=example.com:443")
		})
	}
}

// The way to the checkout is opened for the agent's user, and leads past what the runner keeps for other steps.
func TestTheRunnersFilesAreHiddenWithTheNetwork(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, 0)
	require.NoError(t, os.Chmod(m.top, 0o700)) //nolint:gosec // a runner's home is as closed
	key := filepath.Join(filepath.Dir(m.opt.Temp), "step.sh")
	require.NoError(t, os.WriteFile(key, []byte("TOKEN=sk-of-another-step\n"), 0o644)) //nolint:gosec // as the runner writes it
	m.opt.Network = model.Network{Model: true}
	said := m.run(`cat "$1"; cat greet.txt; echo work > work`, key)
	require.Equal(t, agent.LevelUser, said.Level, said.Why)
	assert.NotContains(t, said.Log, "sk-of-another-step")
	assert.Contains(t, said.Log, "hello")
	assert.FileExists(t, filepath.Join(m.dir, "work"))
}

func (m machine) runArgv(argv ...string) told {
	m.t.Helper()
	cmd, out := play(m.t, m.isolator, job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: argv}, m.cred)
	require.NoError(m.t, cmd.Run())
	return answered(m.t, out)
}

func TestAModelIsAskedFromANetworkOfItsOwn(t *testing.T) {
	if !rooted(t) {
		return
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "sk-key", r.Header.Get("X-Api-Key"))
		_, _ = io.WriteString(w, "answered")
	}))
	t.Cleanup(provider.Close)
	address, _ := strings.CutPrefix(provider.URL, "http://")
	for how, m := range probing(t) {
		t.Run(how, func(t *testing.T) {
			m.t = t
			m.opt.Env = append(m.opt.Env, "OUTSIDE="+address)
			m.opt.Adapter, m.opt.Access = "claude", []string{"ANTHROPIC_API_KEY=sk-key", "ANTHROPIC_BASE_URL=" + provider.URL}
			ask := func() string {
				req := feedback("please")
				cmd, out := play(t, m.isolator, job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Request: &req}, m.cred)
				require.NoError(t, cmd.Run())
				said := answered(t, out)
				require.Empty(t, said.Error, said.Log)
				return said.Outcome.GeneralComment
			}
			assert.Equal(t, "model: answered; else: true", ask())
			m.opt.Network = model.Network{Model: true}
			assert.Equal(t, "model: answered; else: false", ask())
		})
	}
}

func TestANetworkThatCannotBeMadeIsAMistake(t *testing.T) {
	if !rooted(t) {
		return
	}
	m := machineOf(t, tenant())
	m.opt.Network = model.Network{Model: true}
	cmd, out := play(t, "/bin/sh", job{Options: m.opt, Isolate: &m.want, Dir: m.dir, Argv: []string{"true"}}, m.cred)
	cmd.Args = []string{"sh", "-c", `exec unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_net_namespaces; exec "$0"' "$0"`, m.isolator}
	require.NoError(t, cmd.Run())
	said := answered(t, out)
	assert.Equal(t, agent.LevelNamespace, said.Level)
	golden.Text(t, "network_not_held.txt", said.Error)
}
