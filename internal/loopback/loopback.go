// Package loopback serves the processes of one run on the loopback device. Every user of the machine can connect there. So it
// asks for a secret of the run, limits connections and what is logged of rejected ones, and leaves nothing in progress when it
// ends.
package loopback

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxConnections = 128 // at once; who comes then has to wait
	maxRefusals    = 20  // that are logged
	patience       = time.Minute
	pause          = 10 * time.Millisecond // before the next try to accept a connection
)

// Server serves until End is called.
type Server struct {
	Address string // host and port
	Port    int
	Secret  string // that nobody can guess; whoever serves asks for it

	events  *slog.Logger
	server  http.Server
	ctx     context.Context // ends with the server
	end     context.CancelFunc
	serving sync.WaitGroup // the accepting of connections and every connection
	slots   chan struct{}
	refused atomic.Int32
}

// Listen finds a port, and a secret. Nobody is served before Serve or ServeConns. events may be nil.
func Listen(events *slog.Logger) (*Server, net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("listen on the loopback device: %w", err)
	}
	if events == nil {
		events = slog.New(slog.DiscardHandler)
	}
	s := &Server{Address: listener.Addr().String(), Secret: rand.Text(), events: events, slots: make(chan struct{}, maxConnections)}
	s.Port = listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	s.ctx, s.end = context.WithCancel(context.Background())
	return s, listener, nil
}

// Serve begins to serve. The context of every request ends with the server.
func (s *Server) Serve(listener net.Listener, handler http.Handler) {
	s.server.Handler, s.server.ConnState, s.server.ErrorLog = handler, s.account, s.Quiet()
	s.server.BaseContext = func(net.Listener) context.Context { return s.ctx }
	s.server.ReadHeaderTimeout, s.server.MaxHeaderBytes = patience, 64<<10
	s.Also(listener)
}

// ServeConns begins to serve connections on which something else than HTTP is spoken. The context ends with the server, and a
// connection is closed then, or when handle is done with it.
func (s *Server) ServeConns(listener net.Listener, handle func(context.Context, net.Conn)) {
	closed := context.AfterFunc(s.ctx, func() { _ = listener.Close() }) // nobody is served after that
	s.serving.Go(func() {
		defer closed()
		defer func() { _ = listener.Close() }() // as above
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // the machine has no descriptor left, or no memory: others give some back
				select {
				case <-s.ctx.Done():
				case <-time.After(pause):
				}
				continue
			}
			s.slots <- struct{}{}
			s.serving.Go(func() {
				defer func() { <-s.slots }()
				over := context.AfterFunc(s.ctx, func() { _ = conn.Close() }) // it is of no more use
				defer over()
				handle(s.ctx, conn)
				_ = conn.Close() // as above
			})
		}
	})
}

// Also serves another listener, until that is closed or the server ends.
func (s *Server) Also(listener net.Listener) {
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it always ends with an error
}

// account knows the connections: http.Server.Close does not wait for those who serve them. It is called before the next
// one is accepted.
func (s *Server) account(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.serving.Add(1)
		s.slots <- struct{}{}
	case http.StateClosed:
		s.Release()
	default:
	}
}

// Release is for whoever has hijacked a connection, and is done with it.
func (s *Server) Release() {
	<-s.slots
	s.serving.Done()
}

// End ends the server and all that is in progress.
func (s *Server) End() {
	s.end()
	_ = s.server.Close() // its connections are of no more use
	s.serving.Wait()
}

// Refused logs one who was turned away, up to a limit: that one may come forever.
func (s *Server) Refused(event string, args ...any) {
	switch n := s.refused.Add(1); {
	case n <= maxRefusals:
		s.events.Warn(event, args...)
	case n == maxRefusals+1:
		s.events.Warn(event, "why", "further ones are not logged")
	}
}

// Quiet is a log for what net/http has to say.
func (s *Server) Quiet() *log.Logger { return slog.NewLogLogger(s.events.Handler(), slog.LevelDebug) }

// Clean is the beginning of something that is not ours, in printable ASCII.
func Clean(text string, limit int) string {
	more := ""
	if len(text) > limit {
		text, more = text[:limit], "..."
	}
	quoted := strconv.QuoteToASCII(text)
	return quoted[1:len(quoted)-1] + more
}
