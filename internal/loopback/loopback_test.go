package loopback_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/loopback"
	"github.com/mergexo/mergexo/internal/must"
)

// short has no descriptor for the first connections.
type short struct {
	net.Listener
	fails int
}

func (s *short) Accept() (net.Conn, error) {
	if s.fails--; s.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

// TestAConnectionIsServedOnceTheMachineCan: the limit on files may be reached for a moment, by others.
func TestAConnectionIsServedOnceTheMachineCan(t *testing.T) {
	t.Parallel()
	s, listener, err := loopback.Listen(nil)
	require.NoError(t, err)
	s.ServeConns(&short{listener, 3}, func(_ context.Context, conn net.Conn) {
		assert.NoError(t, must.Err(io.WriteString(conn, "served")))
	})
	conn := must.Get(net.Dial("tcp4", s.Address))(t)
	defer conn.Close()
	assert.Equal(t, "served", string(must.Get(io.ReadAll(conn))(t)))
	s.End()
	assert.Error(t, must.Err(net.Dial("tcp4", s.Address)), "nobody is served after the end")
}
