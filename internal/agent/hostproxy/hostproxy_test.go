package hostproxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent/hostproxy"
	"github.com/mergexo/mergexo/internal/must"
)

// world is an internet of a few names, all of whose addresses lead to one server.
type world struct {
	proxy  *hostproxy.Proxy
	log    *bytes.Buffer
	client *http.Client
	dialed []string
}

func newWorld(t *testing.T, server *httptest.Server) *world {
	t.Helper()
	return newWorldBehind(t, server, func(*http.Request) (*url.URL, error) { return nil, nil })
}

// newWorldBehind is a world that some names are reached in through another proxy only.
func newWorldBehind(t *testing.T, server *httptest.Server, proxy func(*http.Request) (*url.URL, error)) *world {
	t.Helper()
	names := map[string][]string{
		"example.com": {"192.0.2.1"}, "two.example.com": {"127.0.0.1", "2001:db8::1"}, "down.example.com": {"192.0.2.9"},
		"rebound.example.com": {"127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1"},
		"inner.example.com": {
			"10.0.0.1", "172.16.0.1", "192.168.0.1", "::ffff:10.0.0.1", "fd00:ec2::254", "100.100.100.200", "192.0.0.192", "64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1",
			"198.18.0.1", "0.1.2.3", "255.255.255.255", "ff02::1",
		},
	}
	w := &world{log: &bytes.Buffer{}}
	opt := hostproxy.Options{
		Proxy: proxy, Roots: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, //nolint:forcetypeassert // httptest's own
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Lookup: func(_ context.Context, host string) (all []netip.Addr, err error) {
			for _, text := range names[host] {
				all = append(all, netip.MustParseAddr(text))
			}
			if all == nil {
				err = errors.New("no such host")
			}
			return all, err
		},
		Dial: func(_ context.Context, address string) (net.Conn, error) {
			w.dialed = append(w.dialed, address)
			if address == "192.0.2.9:443" {
				return nil, errors.New("nobody there")
			}
			if strings.HasPrefix(address, "127.0.0.1:") { // a proxy
				return net.Dial("tcp", address)
			}
			return net.Dial("tcp", server.Listener.Addr().String())
		},
	}
	for name := range names {
		opt.Hosts = append(opt.Hosts, name)
	}
	opt.Hosts = append(opt.Hosts, "gone.example.com")
	w.proxy = must.Get(hostproxy.Start(opt))(t)
	t.Cleanup(w.proxy.End)
	w.through(t, w.proxy.URL, server)
	return w
}

// through has the client use a proxy.
func (w *world) through(t *testing.T, proxy string, server *httptest.Server) {
	t.Helper()
	at := must.Get(url.Parse(proxy))(t)
	transport := server.Client().Transport.(*http.Transport).Clone() //nolint:forcetypeassert // httptest's own
	transport.Proxy, transport.DisableKeepAlives = http.ProxyURL(at), true
	w.client = &http.Client{Transport: transport}
}

func (w *world) get(t *testing.T, address string) (string, error) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	answer, err := w.client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return fmt.Sprintf("%d %s", answer.StatusCode, text), err
}

// ask asks the proxy for a connection, as an agent does.
func (w *world) ask(t *testing.T, host string) net.Conn {
	t.Helper()
	at := must.Get(url.Parse(w.proxy.URL))(t)
	conn := must.Get(net.Dial("tcp", at.Host))(t)
	t.Cleanup(func() { _ = conn.Close() })
	r := &http.Request{Method: http.MethodConnect, Host: host, URL: &url.URL{Host: host}, Header: http.Header{}}
	password, _ := at.User.Password()
	r.SetBasicAuth("agent", password)
	r.Header["Proxy-Authorization"] = r.Header["Authorization"]
	require.NoError(t, r.WriteProxy(conn))
	return conn
}

func greeting(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from "+r.Host) }))
	t.Cleanup(s.Close)
	return s
}

func TestHostsThatAreNamedAreReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greeting(t))
	assert.Equal(t, "200 hello from EXAMPLE.com", must.Get(w.get(t, "https://EXAMPLE.com/"))(t))
	assert.Equal(t, "200 hello from two.example.com", must.Get(w.get(t, "https://two.example.com/"))(t))
	assert.Equal(t, []string{"192.0.2.1:443", "[2001:db8::1]:443"}, w.dialed, "an address of this machine is passed over")
	assert.Empty(t, w.log.String())
}

func TestOtherHostsAreRefused(t *testing.T) {
	t.Parallel()
	server := greeting(t)
	w := newWorld(t, server)
	for address, want := range map[string]string{
		"https://evil.example.com/": "Forbidden", "https://sub.example.com/": "Forbidden", "https://example.com:22/": "Forbidden", "https://example.com.evil.test/": "Forbidden",
		"https://127.0.0.1/": "Forbidden", "https://192.0.2.1/": "Forbidden", "https://rebound.example.com/": "Forbidden", "https://inner.example.com/": "Forbidden",
		"https://gone.example.com/": "Bad Gateway", "https://down.example.com/": "Bad Gateway",
	} {
		assert.ErrorContains(t, must.Err(w.get(t, address)), want, address)
	}
	said := must.Get(w.get(t, "http://example.com/"))(t)
	assert.Equal(t, "405 MergeXO does not connect to this host: only CONNECT is passed on, as for https\n", said)
	w.through(t, strings.Replace(w.proxy.URL, "agent:", "agent:x", 1), server)
	assert.ErrorContains(t, must.Err(w.get(t, "https://example.com/")), "Proxy Authentication Required")
	for range 20 {
		_, _ = w.get(t, "https://evil.example.com/")
	}
	assert.Equal(t, []string{"192.0.2.9:443"}, w.dialed)
	w.proxy.End()
	assert.Contains(t, w.log.String(), `msg=network_refused host=evil.example.com:443 why="[agent] network does not name it"`)
	assert.Equal(t, 21, strings.Count(w.log.String(), "network_refused"))
}

func TestTheEndOfARunEndsItsConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greeting(t))
	conn := w.ask(t, "example.com:443")
	line := make([]byte, len("HTTP/1.1 200"))
	require.NoError(t, must.Err(io.ReadFull(conn, line)))
	assert.Equal(t, "HTTP/1.1 200", string(line))
	w.proxy.End()
	_, _ = io.ReadAll(conn) // until it is closed
	assert.Error(t, must.Err(net.Dial("tcp", conn.RemoteAddr().String())))
}
