package relay

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// transport reaches the server as git does with the settings of Network. crypto/x509 reads SSL_CERT_FILE and SSL_CERT_DIR
// itself.
func (s Server) transport() (*http.Transport, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read certificates of the system: %w", err)
	}
	// Keep the system's certificates: curl uses their directory in addition.
	if file := s.machine("GIT_SSL_CAINFO"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read certificates of GIT_SSL_CAINFO: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read certificates of GIT_SSL_CAINFO: none in %s", file)
		}
	}
	// As git does: the lower-case name wins, and upper-case HTTP_PROXY is ignored
	// (https://curl.se/docs/manpage.html#ENVIRONMENT says why).
	proxies := httpproxy.Config{
		HTTPProxy: s.machine("http_proxy"), HTTPSProxy: s.machine("https_proxy", "HTTPS_PROXY"), NoProxy: s.machine("no_proxy", "NO_PROXY"),
	}
	choose := proxies.ProxyFunc()
	return &http.Transport{
		Proxy:       func(r *http.Request) (*url.URL, error) { return choose(r.URL) },
		DialContext: (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: pool,
		},
		TLSHandshakeTimeout:    30 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // answers are passed on unchanged
		MaxResponseHeaderBytes: 64 << 10,
	}, nil
}

// machine is the first of these settings that is set.
func (s Server) machine(names ...string) string {
	for _, name := range names {
		for _, entry := range s.Network {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
	}
	return ""
}
