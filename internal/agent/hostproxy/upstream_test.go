package hostproxy_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// office is a proxy by which alone the names get anywhere, for those who have its password.
type office struct {
	asked []string
	at    string
	to    string // where all names lead
}

// open opens an office of some kind, and gives its URL.
func (o *office) open(t *testing.T, kind string) string {
	t.Helper()
	if kind == "socks5" {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { _ = listener.Close() })
		go o.socks(t, listener)
		o.at = listener.Addr().String()
		return "socks5://" + o.at
	}
	server := httptest.NewUnstartedServer(o)
	if kind == "https" {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	o.at = server.Listener.Addr().String()
	return server.URL
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked = append(o.asked, r.Method+" "+r.Host)
	switch {
	case r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("clerk:proxy-secret")):
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
		return
	case r.Host == "two.example.com:443":
		http.Error(w, "not during working hours", http.StatusForbidden)
		return
	}
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	o.join(here, early)
}

func (o *office) join(here net.Conn, from io.Reader) {
	defer here.Close()
	there, err := net.Dial("tcp", o.to)
	if err != nil {
		return
	}
	defer there.Close()
	go func() { _, _ = io.Copy(there, from) }()
	_, _ = io.Copy(here, there)
}

// socks serves one connection of somebody who has the password (https://www.rfc-editor.org/rfc/rfc1928, rfc1929).
func (o *office) socks(t *testing.T, listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	read := func(n int) string {
		text := make([]byte, n)
		assert.NoError(t, must.Err(io.ReadFull(conn, text)))
		return string(text)
	}
	assert.Equal(t, "\x05\x02\x00\x02", read(4))
	_, _ = conn.Write([]byte("\x05\x02"))
	assert.Equal(t, "\x01\x05clerk\x0cproxy-secret", read(2+5+1+12))
	_, _ = conn.Write([]byte("\x01\x00"))
	assert.Equal(t, "\x05\x01\x00\x03\x0bexample.com\x01\xbb", read(4+1+11+2))
	o.asked = append(o.asked, "CONNECT example.com:443")
	_, _ = conn.Write([]byte("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"))
	o.join(conn, conn)
}

// through is who reaches nothing but by a proxy, except for one name.
func through(proxy *url.URL) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if r.URL.String() == "https://down.example.com" {
			return nil, nil
		}
		return proxy, nil
	}
}

func parsed(t *testing.T, address, user string) *url.URL {
	t.Helper()
	return must.Get(url.Parse(strings.Replace(address, "://", "://"+user+"@", 1)))(t)
}

func TestHostsAreReachedThroughTheMachinesProxy(t *testing.T) {
	t.Parallel()
	server := greeting(t)
	for _, kind := range []string{"http", "https", "socks5"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := &office{to: server.Listener.Addr().String()}
			w := newWorldBehind(t, server, through(parsed(t, o.open(t, kind), "clerk:proxy-secret")))
			assert.Equal(t, "200 hello from example.com", must.Get(w.get(t, "https://example.com/"))(t))
			assert.Equal(t, []string{"CONNECT example.com:443"}, o.asked)
			assert.Equal(t, []string{o.at}, w.dialed, "nothing bypasses the proxy, and no name is looked up")
		})
	}
}

func TestAProxyThatDoesNotLetAnybodyThrough(t *testing.T) {
	t.Parallel()
	server := greeting(t)
	o := &office{}
	front := o.open(t, "http")
	var logs strings.Builder
	refusal := func(proxy func(*http.Request) (*url.URL, error), host string) string {
		t.Helper()
		w := newWorldBehind(t, server, proxy)
		answer := must.Get(http.ReadResponse(bufio.NewReader(w.ask(t, host)), nil))(t)
		text := must.Get(io.ReadAll(answer.Body))(t)
		w.proxy.End()
		logs.WriteString(w.log.String())
		return fmt.Sprintf("%d %s", answer.StatusCode, text)
	}
	good := through(parsed(t, front, "clerk:proxy-secret"))
	assert.Equal(t, "502 MergeXO cannot connect to two.example.com: the proxy "+o.at+" answered 403 Forbidden\n", refusal(good, "two.example.com:443"))
	assert.Equal(t, "403 MergeXO does not connect to this host: [agent] network does not name it\n", refusal(good, "evil.example.com:443"))
	assert.Equal(t, "502 MergeXO cannot connect to down.example.com\n", refusal(good, "down.example.com:443"), "what the proxy is not for")
	assert.Equal(t, []string{"CONNECT two.example.com:443"}, o.asked)
	assert.Equal(t, "502 MergeXO cannot connect to example.com: the proxy "+o.at+" answered 407 Proxy Authentication Required\n",
		refusal(through(parsed(t, front, "clerk:proxy-secret-of-old")), "example.com:443"))
	assert.Equal(t, "502 MergeXO cannot connect to example.com: the proxy 127.0.0.1:1 cannot be reached\n",
		refusal(through(parsed(t, "http://127.0.0.1:1", "clerk:proxy-secret")), "example.com:443"))
	assert.Equal(t, "502 MergeXO cannot connect to example.com: the proxy files.example.com has the scheme ftp; use http, https or socks5\n",
		refusal(through(parsed(t, "ftp://files.example.com", "clerk:proxy-secret")), "example.com:443"))
	assert.Equal(t, "502 MergeXO cannot connect to example.com: the address of the machine's proxy, as in HTTPS_PROXY, cannot be read\n",
		refusal(func(*http.Request) (*url.URL, error) {
			return nil, errors.New("invalid proxy address: clerk:proxy-secret@")
		}, "example.com:443"))
	assert.Contains(t, logs.String(), "msg=host_not_reached host=example.com")
	assert.NotContains(t, logs.String(), "proxy-secret")
}
