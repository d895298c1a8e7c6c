// Package hostproxy lets an agent that is kept from the network get to the hosts that the settings name, and to nothing
// else: an HTTP proxy on the loopback device, which looks the names up itself and passes on encrypted connections by
// CONNECT. The agent needs no name server, by which it could say things to anybody.
package hostproxy

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxRefusals = 20 // that are logged
	maxTunnels  = 64 // at once
	patience    = 30 * time.Second
)

// httpsPort is the only one that is passed on: by what is spoken on others, a host could be made a way to another one.
const httpsPort = "443"

// Options say which hosts, and how they are reached.
type Options struct {
	Hosts []string // names, in lower case
	Log   *slog.Logger
	// Lookup gives the addresses of a host, Dial connects to one; nil: as the machine does.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, address string) (net.Conn, error)
}

// Proxy serves one run.
type Proxy struct {
	URL  string // with the run's secret, for HTTPS_PROXY
	Port int

	opt     Options
	secret  string
	server  *http.Server
	ctx     context.Context //nolint:containedctx // of the run: what is under way ends with it
	end     context.CancelFunc
	serving sync.WaitGroup // the accepting of connections and every connection
	slots   chan struct{}

	mu      sync.Mutex
	refused int
}

// Start serves until End is called.
func Start(opt Options) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for connections to hosts: %w", err)
	}
	if opt.Lookup == nil {
		opt.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if opt.Dial == nil {
		opt.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
		}
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails (https://pkg.go.dev/crypto/rand#Read)
	p := &Proxy{opt: opt, secret: hex.EncodeToString(random[:]), slots: make(chan struct{}, maxTunnels)}
	p.Port = listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	p.URL = "http://agent:" + p.secret + "@" + listener.Addr().String()
	p.ctx, p.end = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: p, BaseContext: func(net.Listener) context.Context { return p.ctx }, ConnState: p.account,
		ReadHeaderTimeout: patience, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(opt.Log.Handler(), slog.LevelDebug),
	}
	p.serving.Go(func() { _ = p.server.Serve(listener) }) // it always ends with an error
	return p, nil
}

// account knows the connections: http.Server.Close does not wait for those who serve them. Tunnels end by themselves.
func (p *Proxy) account(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		p.serving.Add(1)
	case http.StateClosed:
		p.serving.Done()
	default:
	}
}

// End ends the proxy and every connection through it.
func (p *Proxy) End() {
	p.end()
	_ = p.server.Close()
	p.serving.Wait()
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	host = strings.ToLower(host)
	switch {
	case !p.admitted(r):
		w.Header().Set("Proxy-Authenticate", `Basic realm="mergexo"`)
		p.refuse(w, r, http.StatusProxyAuthRequired, "it has not the secret of this run")
	case r.Method != http.MethodConnect || err != nil:
		p.refuse(w, r, http.StatusMethodNotAllowed, "only CONNECT is passed on, as for https")
	case port != httpsPort || !slices.Contains(p.opt.Hosts, host):
		p.refuse(w, r, http.StatusForbidden, "[agent] network does not name it")
	default:
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
			p.tunnel(w, r, host)
		default:
			p.refuse(w, r, http.StatusServiceUnavailable, "there are too many connections already")
		}
	}
}

// admitted tells whether the request has the secret of the run.
func (p *Proxy) admitted(r *http.Request) bool {
	given, _ := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	want := base64.StdEncoding.EncodeToString([]byte("agent:" + p.secret))
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	p.mu.Lock()
	p.refused++
	n := p.refused
	p.mu.Unlock()
	if n <= maxRefusals {
		p.opt.Log.Warn("network_refused", "host", strconv.QuoteToASCII(r.Host[:min(len(r.Host), 100)]), "why", why)
	} else if n == maxRefusals+1 {
		p.opt.Log.Warn("network_refused", "why", "further ones are not logged")
	}
	w.Header().Set("Connection", "close")
	http.Error(w, "MergeXO does not connect to this host: "+why, status)
}

// public tells whether an address is somebody else's machine. A host's name server could give it ours, or the one by which
// a cloud tells its machines their credentials.
func public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsInterfaceLocalMulticast()
}

// tunnel connects the agent with a host, until either has said all.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, host string) {
	all, err := p.opt.Lookup(r.Context(), host)
	if err == nil && !slices.ContainsFunc(all, public) {
		p.refuse(w, r, http.StatusForbidden, "its address is this machine's or its neighbourhood's")
		return
	}
	var there net.Conn
	for _, a := range all {
		if !public(a) {
			continue
		}
		if there, err = p.opt.Dial(r.Context(), net.JoinHostPort(a.String(), httpsPort)); err == nil {
			break
		}
	}
	if err != nil {
		p.opt.Log.Warn("host_not_reached", "host", host, "error", err)
		http.Error(w, "MergeXO cannot connect to "+host, http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the agent is gone
	}
	defer p.serving.Done()
	defer here.Close()
	stop := context.AfterFunc(p.ctx, func() { _, _ = here.Close(), there.Close() })
	defer stop()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	pass := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from) // an end that is gone ends both
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		done <- struct{}{}
	}
	go pass(there, early)
	go pass(here, there)
	<-done
	<-done
}
