package relay_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestBothWaysTakeTheProxyOfTheMachine(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	var mu sync.Mutex
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.Host)
		mu.Unlock()
		if r.Method == http.MethodConnect {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	const plain, safe = "http://widgets.invalid/octo/widgets", "https://widgets.invalid/octo/widgets"
	for name, test := range map[string]struct {
		url     string
		network []string
		want    []string
	}{
		"http":                  {plain, []string{"http_proxy=" + proxy.URL}, []string{"GET widgets.invalid", "POST widgets.invalid"}},
		"http in capitals":      {plain, []string{"HTTP_PROXY=" + proxy.URL}, nil},
		"http, only for https":  {plain, []string{"https_proxy=" + proxy.URL}, nil},
		"http, not this host":   {plain, []string{"http_proxy=" + proxy.URL, "no_proxy=widgets.invalid"}, nil},
		"http, capitals say no": {plain, []string{"http_proxy=" + proxy.URL, "NO_PROXY=widgets.invalid"}, nil},
		"http, small ones win":  {plain, []string{"http_proxy=" + proxy.URL, "NO_PROXY=widgets.invalid", "no_proxy=x"}, []string{"GET widgets.invalid", "POST widgets.invalid"}},
		"https":                 {safe, []string{"https_proxy=" + proxy.URL}, []string{"CONNECT widgets.invalid:443"}},
		"https in capitals":     {safe, []string{"HTTPS_PROXY=" + proxy.URL}, []string{"CONNECT widgets.invalid:443"}},
		"https, small ones win": {safe, []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy="}, nil},
	} {
		for way, publish := range gittest.Ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				seen = nil
				h.Git(h.Bare, "update-ref", "refs/heads/agent/x", start)
				h.Git(c.Dir(), "remote", "set-url", "origin", test.url)
				there := h.Open(c.Dir(), func(o *git.Options) { o.URL, o.Network = test.url, test.network })
				err := publish(gittest.Ctx, there, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
				if slices.Contains(test.want, "POST widgets.invalid") {
					require.NoError(t, err)
					assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
				} else {
					require.Error(t, err)
				}
				assert.Equal(t, test.want, seen)
			})
		}
	}
}

func TestBothWaysTakeTheCertificatesOfTheMachine(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	var version atomic.Int32
	h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		version.Store(int32(r.ProtoMajor))
		return false
	})
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	file, empty := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "none.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(file, text, 0o600))
	require.NoError(t, os.WriteFile(empty, []byte("no certificate\n"), 0o600))
	h.Git(c.Dir(), "remote", "set-url", "origin", server.URL+"/octo/widgets")
	for name, network := range map[string][]string{
		"good": {"GIT_SSL_CAINFO=" + file}, "unknown": nil, "no such file": {"GIT_SSL_CAINFO=" + file + "x"}, "no certificate": {"GIT_SSL_CAINFO=" + empty},
	} {
		for way, publish := range gittest.Ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				version.Store(0)
				h.Git(h.Bare, "update-ref", "refs/heads/agent/x", start)
				there := h.Open(c.Dir(), func(o *git.Options) { o.URL, o.Network = server.URL+"/octo/widgets", network })
				err := publish(gittest.Ctx, there, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
				if name == "good" {
					require.NoError(t, err)
					assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
					assert.EqualValues(t, 2, version.Load())
					return
				}
				require.Error(t, err)
				assert.Regexp(t, `certificate|SSL CA cert`, err.Error())
				assert.Equal(t, gittest.Outcome{}, gittest.OutcomeOf(err), err)
				assert.Zero(t, version.Load(), "it was asked nothing")
			})
		}
	}
}
