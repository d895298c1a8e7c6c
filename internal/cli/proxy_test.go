package cli_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// company is a network in which GitHub is reached through a proxy only, by a name that no name server knows, with a certificate of
// an authority that no system knows.
type company struct {
	*hub
	proxy    string // its URL, with a password
	ca       string // file
	mu       sync.Mutex
	tunnels  int
	refused  int             // who had no password
	paths    map[string]bool // first words of what GitHub was asked for
	accepted int             // connections to GitHub
}

const github = "github.invalid" // https://www.rfc-editor.org/rfc/rfc6761#section-6.4

func newCompany(t *testing.T, settings string) *company {
	t.Helper()
	c := &company{hub: newHub(t, settings), paths: map[string]bool{}}
	inner := must.Get(url.Parse(c.url))(t)
	through := httputil.NewSingleHostReverseProxy(inner)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.paths[asked(r)] = true
		c.mu.Unlock()
		through.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{c.certify()}}
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.mu.Lock()
			c.accepted++
			c.mu.Unlock()
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.tunnel(w, r, server.Listener.Addr().String()) }))
	t.Cleanup(proxy.Close)
	c.proxy = strings.Replace(proxy.URL, "://", "://clerk:proxy-secret@", 1)
	return c
}

// asked is what kind of request it is.
func asked(r *http.Request) string {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v3/"):
		return "REST"
	case r.URL.Path == "/api/graphql":
		return "GraphQL"
	}
	return filepath.Base(r.URL.Path) + r.URL.Query().Get("service")
}

// certify makes an authority, whose certificate goes to a file, and has it sign for GitHub's name.
func (c *company) certify() tls.Certificate {
	c.t.Helper()
	sign := func(serial int64, template, parent *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(c.t)
		template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(serial), time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		if by == nil {
			parent, by = template, key
		}
		return must.Get(x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by))(c.t), key
	}
	ca := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root, rootKey := sign(1, ca, nil, nil)
	leaf, key := sign(2, &x509.Certificate{DNSNames: []string{github}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ca, rootKey)
	c.ca = filepath.Join(c.t.TempDir(), "ca.pem")
	require.NoError(c.t, os.WriteFile(c.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600))
	return tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: key}
}

// tunnel connects who gives the password, and asks for GitHub, with it.
func (c *company) tunnel(w http.ResponseWriter, r *http.Request, to string) {
	good := r.Header.Get("Proxy-Authorization") == "Basic "+base64.StdEncoding.EncodeToString([]byte("clerk:proxy-secret"))
	c.mu.Lock()
	if good && r.Method == http.MethodConnect && r.Host == github+":443" {
		c.tunnels++
	} else {
		good = false
		c.refused++
	}
	c.mu.Unlock()
	if !good {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	there, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	here, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(there, bufio.NewReader(rest)); _ = there.Close() }()
	go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
}

// runs is a workflow's step in that network.
func (c *company) runs(more ...string) ran {
	c.t.Helper()
	return program(c.t, append(c.env("GITHUB_API_URL=https://"+github+"/api/v3", "GITHUB_GRAPHQL_URL=https://"+github+"/api/graphql", "GITHUB_SERVER_URL=https://"+github), more...), "run", "--json")
}

func TestEverythingGoesThroughTheProxyAndTrustsItsAuthority(t *testing.T) {
	leak := filepath.Join(t.TempDir(), "leak")
	c := newCompany(t, command(`cat >/dev/null; env >"$LEAK"; echo more >> world.txt; echo '{"commit_message": "Say more", "general_comment": "Said."}'`))
	got := c.runs("HTTPS_PROXY="+c.proxy, "NO_PROXY=other.invalid", "SSL_CERT_FILE="+c.ca, "LEAK="+leak).ok(t)
	assert.Contains(t, got.out, `"result":"done"`)
	c.mu.Lock()
	assert.Equal(t, map[string]bool{"REST": true, "GraphQL": true, "refsgit-upload-pack": true, "git-upload-pack": true, "refsgit-receive-pack": true, "git-receive-pack": true}, c.paths)
	assert.Equal(t, c.accepted, c.tunnels, "nothing goes around the proxy")
	assert.Zero(t, c.refused)
	c.mu.Unlock()
	for where, said := range map[string]string{"the agent's environment": text(t, leak), "what is printed": got.out + got.errout, "the comments": c.comments()} {
		assert.NotContains(t, said, "proxy-secret", where)
	}
}

func TestANetworkThatIsSetUpWrongIsOneLine(t *testing.T) {
	c := newCompany(t, command(answers))
	said := c.comments()
	for name, env := range map[string][]string{
		"an authority that nobody knows":   {"HTTPS_PROXY=" + c.proxy, "SSL_CERT_FILE=" + os.DevNull},
		"a proxy that wants a password":    {"HTTPS_PROXY=" + strings.Replace(c.proxy, "proxy-secret", "wrong", 1), "SSL_CERT_FILE=" + c.ca},
		"a name that is not to go there":   {"HTTPS_PROXY=" + c.proxy, "NO_PROXY=.invalid", "SSL_CERT_FILE=" + c.ca},
		"a proxy that is not there at all": {"HTTPS_PROXY=http://127.0.0.1:1", "SSL_CERT_FILE=" + c.ca},
	} {
		before := c.tunnels
		got := c.runs(env...)
		assert.Equal(t, 75, got.exit, "%s: %s", name, got.errout)
		assert.Equal(t, 1, strings.Count(got.errout, "mergexo: "), "%s: %s", name, got.errout)
		assert.NotContains(t, got.errout+got.out, "proxy-secret", name)
		if strings.HasPrefix(name, "a name") {
			assert.Equal(t, before, c.tunnels, "NO_PROXY holds")
		}
	}
	assert.Equal(t, said, c.comments())
}
