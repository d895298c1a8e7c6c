package firewall_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent/firewall"
)

// able says whether this machine has a firewall that this test may change. Where it has none, it says so, and holds that
// Hold does.
func able(t *testing.T) (firewall.Options, bool) {
	t.Helper()
	opt := firewall.Options{UID: 48_000 + os.Getpid()%1000, NFT: "/nonexistent/nft", Path: os.Getenv("PATH")}
	if nft, err := exec.LookPath("nft"); err == nil {
		opt.NFT = nft
	}
	if os.Getuid() == 0 && exec.Command(opt.NFT, "list", "tables").Run() == nil {
		return opt, true
	}
	t.Log("left out: this is not root, there is no nft, or the kernel has no firewall")
	_, err := firewall.Hold(t.Context(), opt)
	assert.ErrorContains(t, err, "keep user "+strconv.Itoa(opt.UID)+" from the network: nft: ")
	return opt, false
}

// listen serves whoever comes.
func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
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
	return l
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// reach tells whether a user gets to an address.
func reach(t *testing.T, uid int, proto, host string, port int) bool {
	t.Helper()
	cmd := exec.Command("bash", "-c", "echo x > /dev/"+proto+"/"+host+"/"+strconv.Itoa(port))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}} //nolint:gosec // small
	return cmd.Run() == nil
}

func TestAUserReachesOnlyWhatIsOpen(t *testing.T) {
	opt, ok := able(t)
	if !ok {
		return
	}
	proxy, other := listen(t, "tcp4", "127.0.0.1:0"), listen(t, "tcp4", "127.0.0.1:0")
	opt.Ports = []int{port(proxy)}
	rules, err := firewall.Hold(t.Context(), opt)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rules.Release(context.Background())) })

	assert.True(t, reach(t, opt.UID, "tcp", "127.0.0.1", port(proxy)))
	assert.False(t, reach(t, opt.UID, "tcp", "127.0.0.1", port(other)), "another service of this machine")
	assert.False(t, reach(t, opt.UID, "tcp", "127.0.0.2", port(proxy)), "another address of it")
	assert.False(t, reach(t, opt.UID, "udp", "127.0.0.1", 53), "a name server")
	assert.False(t, reach(t, opt.UID, "tcp", "::1", port(other)), "by the other version of IP")
	assert.True(t, reach(t, opt.UID+1, "tcp", "127.0.0.1", port(other)), "nobody else is held")
	n, err := rules.Refused(t.Context())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, n, int64(3))

	opt.Ports = []int{port(other)} // a run after one that was killed
	rules, err = firewall.Hold(t.Context(), opt)
	require.NoError(t, err)
	assert.False(t, reach(t, opt.UID, "tcp", "127.0.0.1", port(proxy)))
	assert.True(t, reach(t, opt.UID, "tcp", "127.0.0.1", port(other)))
	n, err = rules.Refused(t.Context())
	require.NoError(t, err)
	assert.Positive(t, n)

	require.NoError(t, rules.Release(t.Context()))
	require.NoError(t, rules.Release(t.Context()), "it may be released twice")
	assert.True(t, reach(t, opt.UID, "tcp", "127.0.0.1", port(proxy)))
	_, err = rules.Refused(t.Context())
	assert.Error(t, err, "nothing is left of it")
}

func TestRootIsNotHeld(t *testing.T) {
	t.Parallel()
	for _, uid := range []int{0, -1} {
		_, err := firewall.Hold(t.Context(), firewall.Options{UID: uid})
		assert.ErrorContains(t, err, "only users other than root can be")
	}
}
