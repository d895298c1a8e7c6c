package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

const (
	wholeLimit = 1 << 20 // bytes of a request that has a length; what is more is streamed, as git does (git-config(1), http.postBuffer)
	redirects  = 5       // that are followed
	mostWaits  = 3       // for the server to know a fresh token
	// How long the server may take to say why it refuses something.
	refusalLimit = 5 * time.Second
	// The status of a server whose certificate is not good (nginx has it): unlike 502 it does not ask for another try.
	statusBadCertificate = 495
)

// failure is why the server did not do what git asked for, in the words of git's own client for HTTP: callers know them.
type failure struct {
	said string
	late bool // git has said what it wants: it is told by the end of the connection
}

func (f *failure) Error() string { return f.said }

// unable is a failure before git has said what it wants. A status is 0 if something else than the answer's status is wrong.
func (r *Relay) unable(status int, err error) *failure {
	said := fmt.Sprintf("unable to access '%s/'", r.repository())
	switch status {
	case 0:
	case http.StatusUnauthorized:
		said = fmt.Sprintf("Authentication failed for '%s/'", r.repository())
	case http.StatusNotFound:
		said = fmt.Sprintf("repository '%s/' not found", r.repository())
	default:
		said += fmt.Sprintf(": The requested URL returned error: %d", status)
	}
	if err != nil {
		said += ": " + syntax.Clean(err.Error())
	}
	return &failure{said: said}
}

// failedLate is a failure after git has said what it wants.
func failedLate(what string, err error) *failure {
	said := "RPC failed; " + what
	if err != nil {
		said += "; " + syntax.Clean(err.Error())
	}
	return &failure{said: said, late: true}
}

// refs asks the server for what it has. A renamed repository redirects within the same server; git is never redirected itself.
// The error is a *failure.
func (r *Relay) refs(ctx context.Context) (*http.Response, error) {
	target, renewed, waits := r.repository()+r.allowed.refs(), false, 0
	for hop := 0; ; hop++ {
		answer, token, err := r.ask(ctx, http.MethodGet, target, nil, 0)
		if err != nil {
			return nil, r.unable(statusOf(err), err)
		}
		if answer.StatusCode == http.StatusUnauthorized && waits < mostWaits && r.Credential.Fresh(token) {
			_ = answer.Body.Close() // nothing in it is needed
			if err := r.pause(ctx, credential.FreshPause); err != nil {
				return nil, r.unable(statusOf(err), err)
			}
			waits++
			continue
		}
		if answer.StatusCode == http.StatusUnauthorized && !renewed && r.Credential.Refused(token) {
			renewed = true
			_ = answer.Body.Close() // nothing in it is needed
			continue
		}
		next := r.moved(answer)
		if next != nil && hop < redirects {
			_ = answer.Body.Close() // a redirect's body is ignored
			target = next.String()
			continue
		}
		if answer.StatusCode != http.StatusOK {
			return nil, r.unable(r.refusal(answer))
		}
		if kind, want := mediaType(answer), "application/x-"+r.allowed.service+"-advertisement"; kind != want {
			_ = answer.Body.Close() // as above
			return nil, r.unable(0, fmt.Errorf("is this a git repository? The answer is %.100q, not %s", kind, want))
		}
		r.mu.Lock()
		r.base = strings.TrimSuffix(target, r.allowed.refs())
		r.mu.Unlock()
		return answer, nil
	}
}

func (r *Relay) pause(ctx context.Context, d time.Duration) error {
	timer := r.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// post makes a request, with its length if it is short: some servers need it. The error is a *failure, or a packError.
func (r *Relay) post(ctx context.Context, body io.Reader) (*http.Response, error) {
	head, err := io.ReadAll(io.LimitReader(body, wholeLimit))
	if err != nil {
		return nil, unsent(err)
	}
	length := int64(len(head))
	if length == wholeLimit {
		length = -1
	}
	answer, _, err := r.ask(ctx, http.MethodPost, r.repository()+"/"+r.allowed.service, io.MultiReader(bytes.NewReader(head), body), length)
	if err != nil {
		return nil, unsent(err)
	}
	if answer.StatusCode != http.StatusOK {
		status, why := r.refusal(answer)
		return nil, failedLate(fmt.Sprintf("HTTP %d", status), why)
	}
	return answer, nil
}

// unsent is why a request was not made: the server, or what git said of it.
func unsent(err error) error {
	status, pack := statusOf(err), packError{}
	if status != http.StatusRequestEntityTooLarge && errors.As(err, &pack) {
		return pack
	}
	return failedLate(fmt.Sprintf("HTTP %d", status), err)
}

// ask makes one request of the server, and gives the token that it had.
func (r *Relay) ask(ctx context.Context, method, target string, body io.Reader, length int64) (*http.Response, string, error) {
	q, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, "", fmt.Errorf("ask the server: %w", err)
	}
	q.Header.Set("Accept", "*/*")
	q.Header.Set("User-Agent", "git/2") // GitHub recognizes git by it
	if r.allowed.service == uploadPack {
		q.Header.Set("Git-Protocol", secondVersion)
	}
	if method == http.MethodPost {
		q.ContentLength = length
		q.Header.Set("Content-Type", "application/x-"+r.allowed.service+"-request")
		q.Header.Set("Accept", "application/x-"+r.allowed.service+"-result")
	}
	token, err := r.Credential.Token(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("get a token for the server: %w", err)
	}
	if token != "" {
		q.Header.Set("Authorization", "basic "+credential.Basic(token))
	}
	answer, err := r.transport.RoundTrip(q)
	if err != nil {
		return nil, "", fmt.Errorf("ask the server: %w", err)
	}
	return answer, token, nil
}

// moved is where the server redirects the ref advertisement to, nil unless that is a repository on the same server.
func (r *Relay) moved(answer *http.Response) *url.URL {
	if answer.StatusCode < 300 || answer.StatusCode > 399 {
		return nil
	}
	next, err := answer.Location()
	if err != nil || next.User != nil || next.Fragment != "" || !strings.EqualFold(next.Scheme+"://"+next.Host+"/", r.Site) || !strings.HasSuffix(next.String(), r.allowed.refs()) {
		return nil
	}
	return next
}

// refusal is an answer's status, and what the server says of it in plain text, as GitHub does. The status is 429 also where a
// server refuses a request because of a rate limit and says 403.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
func (r *Relay) refusal(answer *http.Response) (status int, why error) {
	defer answer.Body.Close()
	slow := r.clock.AfterFunc(refusalLimit, func() { _ = answer.Body.Close() }) // the status says enough
	defer slow.Stop()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096)) // what there is of it
	if said := strings.TrimSpace(syntax.Clean(string(text))); said != "" && mediaType(answer) == "text/plain" {
		why = fmt.Errorf("the server says: %.1000s", strings.ReplaceAll(said, "\n", " "))
	}
	lower := strings.ToLower(string(text))
	if answer.StatusCode == http.StatusForbidden && (answer.Header.Get("Retry-After") != "" || answer.Header.Get("X-Ratelimit-Remaining") == "0" ||
		strings.Contains(lower, "rate limit") || strings.Contains(lower, "rate-limit") || strings.Contains(lower, "abuse")) {
		return http.StatusTooManyRequests, why
	}
	return answer.StatusCode, why
}

// mediaType is what an answer says that it is, in lower case and without parameters; "" if that is unclear.
func mediaType(answer *http.Response) string {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// statusOf is the status that stands for an error without an answer.
func statusOf(err error) int {
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return statusBadCertificate
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadGateway
}

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
