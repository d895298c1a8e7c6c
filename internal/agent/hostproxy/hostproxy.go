// Package hostproxy lets an agent without a network reach the hosts that the settings name, and nothing else.
//
// It is an HTTP proxy on the loopback device, which resolves the names itself and passes on encrypted connections by CONNECT. So
// the agent needs no name server, through which it could send data to anybody. If the machine reaches a host through a proxy, so
// does the agent, without the credentials for that proxy.
package hostproxy

import (
	"context"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/loopback"
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
	// Proxy gives the machine's proxy for an https request, nil for none. nil: the one in the environment of this process.
	Proxy func(*http.Request) (*url.URL, error)
	Roots *x509.CertPool // of a proxy that is reached by https; nil: the system's
}

// Proxy serves one run.
type Proxy struct {
	*loopback.Server
	URL string // with the run's secret, for HTTPS_PROXY

	opt Options
}

// Start serves until End is called.
func Start(opt Options) (*Proxy, error) {
	if opt.Lookup == nil {
		opt.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if opt.Dial == nil {
		opt.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, "tcp", address)
		}
	}
	if opt.Proxy == nil {
		opt.Proxy = http.ProxyFromEnvironment
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	server, listener, err := loopback.Listen(opt.Log)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is about
	}
	p := &Proxy{Server: server, URL: "http://agent:" + server.Secret + "@" + server.Address, opt: opt}
	server.Serve(listener, p)
	return p, nil
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	host = strings.ToLower(host)
	switch {
	case !p.admitted(r):
		w.Header().Set("Proxy-Authenticate", `Basic realm="mergexo"`)
		p.refuse(w, r, http.StatusProxyAuthRequired, "it does not have the secret of this run")
	case r.Method != http.MethodConnect || err != nil:
		p.refuse(w, r, http.StatusMethodNotAllowed, "only CONNECT is passed on, as for https")
	case port != httpsPort || !slices.Contains(p.opt.Hosts, host):
		p.refuse(w, r, http.StatusForbidden, "[agent] network does not name it")
	default:
		p.tunnel(w, r, host)
	}
}

// admitted reports whether the request has the secret of the run.
func (p *Proxy) admitted(r *http.Request) bool {
	given, _ := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	want := base64.StdEncoding.EncodeToString([]byte("agent:" + p.Secret))
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	p.Refused("network_refused", "host", loopback.Clean(r.Host, 100), "why", why)
	w.Header().Set("Connection", "close")
	http.Error(w, "MergeXO does not connect to this host: "+why, status)
}

// internal are addresses within a network of somebody's, beside those that netip knows, and addresses that a router translates to
// others (https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry).
var internal = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is one of the internet's. A host's name server could give it ours, one of the network around us,
// or the one by which a cloud tells its machines their credentials.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(internal, func(p netip.Prefix) bool { return p.Contains(a) })
}

// tunnel connects the agent with a host, until either has said all.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, host string) {
	there, from, err := p.reach(r.Context(), host)
	switch upstream := (*upstreamError)(nil); {
	case errors.Is(err, errNotPublic):
		p.refuse(w, r, http.StatusForbidden, err.Error())
		return
	case errors.As(err, &upstream):
		p.opt.Log.Warn("host_not_reached", "host", host, "error", upstream.whole())
		http.Error(w, "MergeXO cannot connect to "+host+": "+upstream.why, http.StatusBadGateway)
		return
	case err != nil:
		p.opt.Log.Warn("host_not_reached", "host", host, "error", err)
		http.Error(w, "MergeXO cannot connect to "+host, http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the agent is gone
	}
	defer p.Release()
	defer here.Close()
	stop := context.AfterFunc(r.Context(), func() { _, _ = here.Close(), there.Close() })
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
	go pass(here, from)
	<-done
	<-done
}
