package agent

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

func TestOnlyTheWallHandsOverANetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sign string
		from uint32
		want bool
	}{
		"the isolator":     {"sign", uint32(os.Geteuid()), true},      //nolint:gosec // a user's number
		"another sign":     {"sigh", uint32(os.Geteuid()), false},     //nolint:gosec // a user's number
		"a longer sign":    {"signs", uint32(os.Geteuid()), false},    //nolint:gosec // a user's number
		"another user":     {"sign", uint32(os.Geteuid()) + 1, false}, //nolint:gosec // a user's number
		"who says nothing": {"", uint32(os.Geteuid()), false},         //nolint:gosec // a user's number
	} {
		ours, theirs := ends(t)
		m := &handover{sign: "sign", from: c.from}
		require.NoError(t, must.Err(theirs.Write([]byte(c.sign))))
		require.NoError(t, theirs.CloseWrite())
		assert.Equal(t, c.want, m.taken(ours), name)
	}
}

// ends are those of one connection.
func ends(t *testing.T) (ours, theirs *net.UnixConn) {
	t.Helper()
	l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@" + sign()}))(t)
	defer l.Close()
	theirs, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)) //nolint:forcetypeassert // of a unix listener
	require.NoError(t, err)
	ours = must.Get(l.AcceptUnix())(t)
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}

func TestWhatWasSentInVainIsCounted(t *testing.T) {
	t.Parallel()
	const four = "Ip: Forwarding OutDiscards OutNoRoutes\nIp: 1 7 3\nUdp: InDatagrams NoPorts\nUdp: 9 2\nUdpLite: InDatagrams NoPorts\nUdpLite: 0 5\n"
	const six = "Ip6InReceives                   \t4\nIp6OutNoRoutes                  \t6\nUdp6NoPorts                     \t1\n"
	for text, want := range map[string]int64{four: 5, six: 7, "": 0, "Ip: OutNoRoutes\nIp: x\nIp: 1 2 3\n": 0} {
		assert.Equal(t, want, refusedPackets(strings.NewReader(text)), text)
	}
}
