// Package relay stands between git and the real server during a fetch or push: an HTTP server in our own process that adds
// the credential, which git never sees, and allows only the current operation. It knows the protocol and no repository.
package relay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/loopback"
)

const (
	packLimit  = 4 << 30 // bytes of one push; GitHub takes 2 GiB (https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit)
	wholeLimit = 1 << 20 // bytes of a request that has a length; git streams what is more (git-config(1), http.postBuffer)
	redirects  = 5       // that are followed
	// The status of a server whose certificate is not good (nginx has it): unlike 502 it does not ask for another try.
	statusBadCertificate = 495
)

// Server is a repository's real server, and how to reach it from this machine.
type Server struct {
	URL        string            // of the repository
	Site       string            // scheme and host of URL with a final slash
	Credential credential.Source // gives the token of each request; nil: anonymous
	Network    []string          // proxy and certificate settings, as NAME=value
	Log        *slog.Logger
}

// Relay is an HTTP server on the loopback device that passes one operation on to the real server and adds the credential.
// Its address has a random path, but processes of our own user can read that from git's arguments. So it only passes on
// what the operation needs.
type Relay struct {
	Server
	allowed  Op
	boundary []byte // the shallow boundary here
	limit    int64  // limit for what git may send, in bytes

	Address   string // the repository's URL for git
	transport *http.Transport
	listener  *loopback.Server

	mu       sync.Mutex
	base     string            // URL of the repository; another one after a redirect
	at       map[string]string // the refs of a push as the server last reported them; nil: not yet
	requests int
	cause    error // why the real server was not reached
}

// Start starts a relay for one operation. boundary is the clone's shallow boundary. Close ends it.
func Start(s Server, allowed Op, boundary []byte) (*Relay, error) {
	s.Credential = credential.Or(s.Credential, "")
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	local, listener, err := loopback.Listen(s.Log)
	if err != nil {
		return nil, fmt.Errorf("wait for git: %w", err)
	}
	r := &Relay{
		Server: s, allowed: allowed, boundary: boundary, limit: packLimit, transport: transport,
		listener: local, Address: "http://" + local.Address + "/" + local.Secret, base: strings.TrimSuffix(s.URL, "/"),
	}
	local.Serve(listener, r)
	return r, nil
}

// Close ends the relay and its pending requests.
func (r *Relay) Close() {
	r.listener.End()
	r.transport.CloseIdleConnections()
}

func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	asked := func(method, path string) bool {
		return q.Method == method && subtle.ConstantTimeCompare([]byte(q.RequestURI), []byte("/"+r.listener.Secret+path)) == 1
	}
	pack := asked(http.MethodPost, "/"+r.allowed.service)
	switch {
	case !pack && !asked(http.MethodGet, r.allowed.refs()):
		r.refuse(w, http.StatusNotFound, fmt.Errorf("%s %.100q", q.Method, strings.TrimPrefix(q.RequestURI, "/"+r.listener.Secret)))
		return
	case !r.admit():
		r.refuse(w, http.StatusTooManyRequests, errors.New("more requests than it needs"))
		return
	}
	if pack {
		if err := r.vet(q); err != nil {
			r.refuse(w, http.StatusBadRequest, err)
			return
		}
		// A server may answer before it has read everything. With this, net/http does not drain the rest of the request
		// when the answer begins (https://pkg.go.dev/net/http#ResponseWriter, under Write), as it does to keep a connection
		// alive.
		w.Header().Set("Connection", "close")
	}
	w.Header()["Content-Type"] = nil // do not guess one
	proxy := httputil.ReverseProxy{
		Rewrite: r.ask, Transport: r, ModifyResponse: r.reply, ErrorHandler: r.broken, ErrorLog: r.listener.Quiet(),
		FlushInterval: -1, // flush at once
	}
	proxy.ServeHTTP(w, q)
}

// admit counts the requests, which count towards the credential's rate limit.
func (r *Relay) admit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	return r.requests <= r.allowed.requests()
}

// refuse answers a request outside the operation; git itself never makes one.
func (r *Relay) refuse(w http.ResponseWriter, status int, err error) {
	r.listener.Refused("relay_refused", "operation", r.allowed.String(), "status", status, "error", syntax.Clean(err.Error()))
	http.Error(w, fmt.Sprintf("refused, since this is a %s: %s", r.allowed, syntax.Clean(err.Error())), status)
}

// vet checks a request: it is an error unless it belongs to the operation. The body is then restored, uncompressed.
func (r *Relay) vet(q *http.Request) error {
	body := io.Reader(q.Body)
	switch q.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		plain, err := gzip.NewReader(q.Body)
		if err != nil {
			return fmt.Errorf("read compressed request: %w", err)
		}
		body, q.ContentLength = plain, -1
	default:
		return errors.New("an unknown encoding")
	}
	body = http.MaxBytesReader(nil, io.NopCloser(body), r.limit)
	var read []byte
	var err error
	if r.allowed.service == receivePack {
		r.mu.Lock()
		at := r.at
		r.mu.Unlock()
		read, err = r.allowed.vetPush(body, at, r.boundary)
	} else {
		read, err = r.allowed.vetRead(body, q.Header.Get("Git-Protocol") == secondVersion)
	}
	if err != nil {
		return err
	}
	body = io.MultiReader(bytes.NewReader(read), body)
	if q.ContentLength < 0 { // some servers need the length, which git gives for short requests
		head, err := io.ReadAll(io.LimitReader(body, wholeLimit))
		if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		if body = io.MultiReader(bytes.NewReader(head), body); len(head) < wholeLimit {
			q.ContentLength = int64(len(head))
		}
	}
	q.Body = struct { // reading fails once it is closed, which a transport may not have noticed yet
		io.Reader
		io.Closer
	}{body, q.Body}
	return nil
}

// called is git's user agent.
var called = regexp.MustCompile(`^git/[0-9A-Za-z.() -]{1,64}$`)

const secondVersion = "version=2"

// ask makes the request to the real server, with only what is needed of git's headers. RoundTrip adds the credential.
func (r *Relay) ask(p *httputil.ProxyRequest) {
	header := http.Header{"Accept": {"*/*"}, "User-Agent": {"git/2"}} // GitHub recognises git by it
	if name := p.In.UserAgent(); called.MatchString(name) {
		header.Set("User-Agent", name)
	}
	if r.allowed.service == uploadPack && p.In.Header.Get("Git-Protocol") == secondVersion {
		header.Set("Git-Protocol", secondVersion)
	}
	out, path := &http.Request{Method: p.In.Method, Header: header}, r.allowed.refs()
	if p.In.Method == http.MethodPost {
		out.Body, out.ContentLength, path = p.In.Body, p.In.ContentLength, "/"+r.allowed.service
		header.Set("Content-Type", "application/x-"+r.allowed.service+"-request")
		header.Set("Accept", "application/x-"+r.allowed.service+"-result")
	}
	out.URL, _ = url.Parse(r.repository() + path) // parsed before
	p.Out = out.WithContext(p.Out.Context())
}

// RoundTrip asks the real server. A renamed repository redirects within the same server; git is never redirected itself,
// since it has no credential.
func (r *Relay) RoundTrip(q *http.Request) (*http.Response, error) {
	renewed := false
	for hop := 0; ; hop++ {
		token, err := r.Credential.Token(q.Context())
		if err != nil {
			return nil, fmt.Errorf("get a token for the server: %w", err)
		}
		if token != "" {
			q.Header.Set("Authorization", "basic "+credential.Basic(token))
		}
		answer, err := r.transport.RoundTrip(q)
		if err != nil {
			return nil, fmt.Errorf("ask the server: %w", err)
		}
		if q.Method == http.MethodPost { // which follows an advertisement that the server gave for the same token
			return answer, nil
		}
		if answer.StatusCode == http.StatusUnauthorized && !renewed && r.Credential.Refused(token) {
			renewed = true
			_ = answer.Body.Close() // nothing in it is needed
			q = q.Clone(q.Context())
			continue
		}
		next := r.moved(answer)
		if next == nil || hop == redirects {
			if answer.StatusCode == http.StatusOK {
				r.mu.Lock()
				r.base = strings.TrimSuffix(q.URL.String(), r.allowed.refs())
				r.mu.Unlock()
			}
			return answer, nil
		}
		_ = answer.Body.Close() // a redirect's body is ignored
		q = q.Clone(q.Context())
		q.URL = next
	}
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

func (r *Relay) repository() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// reply removes headers that git does not need: WWW-Authenticate would make it ask for a password.
func (r *Relay) reply(answer *http.Response) error {
	if answer.StatusCode < 200 {
		return fmt.Errorf("the server answers with status %d", answer.StatusCode)
	}
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Content-Length"} {
		if values := answer.Header[name]; values != nil {
			kept[name] = values
		}
	}
	if answer.StatusCode == http.StatusForbidden && limited(answer) {
		answer.StatusCode, answer.Status = http.StatusTooManyRequests, ""
	}
	answer.Header = kept
	if kept.Get("Content-Type") != "application/x-"+receivePack+"-advertisement" {
		return nil
	}
	at := map[string]string{}
	for _, m := range r.allowed.moves {
		at[m.Ref] = ""
	}
	answer.Body = &advertisement{Closer: answer.Body, in: bufio.NewReader(answer.Body), at: at, note: r.note}
	return nil
}

// limited reports whether a server refuses a request because of a rate limit, which need not have status 429.
// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
func limited(answer *http.Response) bool {
	if answer.Header.Get("Retry-After") != "" || answer.Header.Get("X-Ratelimit-Remaining") == "0" {
		return true
	}
	said := make([]byte, 4096)
	n, _ := io.ReadFull(answer.Body, said) // what there is of it
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(said[:n]), answer.Body), answer.Body}
	text := strings.ToLower(string(said[:n]))
	return strings.Contains(text, "rate limit") || strings.Contains(text, "rate-limit") || strings.Contains(text, "abuse")
}

// note records what the server reported about the refs of a push.
func (r *Relay) note(at map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
}

// broken answers if the real server does not, with a status that makes git's message classify the same way.
func (r *Relay) broken(w http.ResponseWriter, _ *http.Request, err error) {
	r.mu.Lock()
	r.cause = err
	r.mu.Unlock()
	status := http.StatusBadGateway
	if bad := (*tls.CertificateVerificationError)(nil); errors.As(err, &bad) {
		status = statusBadCertificate
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	}
	r.Log.Debug("relay_broken", "status", status, "error", err)
	w.WriteHeader(status)
}

// Reword replaces the relay in git's messages with the real server.
func (r *Relay) Reword(said string) string {
	local := r.Address
	if u, err := url.Parse(local); err == nil {
		local = u.Scheme + "://" + u.Host
	}
	said = strings.NewReplacer(r.Address, r.repository(), local, strings.TrimSuffix(r.Site, "/")).Replace(said)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		said = strings.TrimSuffix(said, "\n") + "\n" + syntax.Clean(r.cause.Error()) + "\n"
	}
	return said
}
