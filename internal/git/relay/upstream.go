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

// transport reaches the server as git does with the settings of Network. SSL_CERT_FILE and SSL_CERT_DIR are
// missing here since crypto/x509 looks at them itself.
func (s Server) transport() (*http.Transport, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read certificates of the system: %w", err)
	}
	// The system's certificates stay: curl looks into the directory that they are in besides.
	if file := s.machine("GIT_SSL_CAINFO"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read certificates of GIT_SSL_CAINFO: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read certificates of GIT_SSL_CAINFO: none in %s", file)
		}
	}
	// As git has it: the name in small letters counts more, and HTTP_PROXY in capital letters not at all
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
		DisableCompression:     true, // what the server says is passed on as it is
		MaxResponseHeaderBytes: 64 << 10,
	}, nil
}

// machine is the first of these settings of the machine that there is.
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
