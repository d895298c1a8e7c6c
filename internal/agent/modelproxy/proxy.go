// Package modelproxy keeps the key of a model's provider away from the agent that asks the model. The agent gets an address on
// the loopback device and a placeholder that is worth nothing elsewhere or after the run.
//
// The proxy adds the key to requests that ask a model, and to no others. So what an agent runs can spend on the model while the
// run lasts, and can take nothing away.
package modelproxy

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/loopback"
	"github.com/mergexo/mergexo/internal/model"
)

const (
	maxRequest = 64 << 20 // bytes; Anthropic takes 32 MB: https://docs.claude.com/en/api/overview#request-size-limits
	maxFailure = 1 << 20  // bytes of an answer that is an error
)

// Options say which models are asked, and how.
type Options struct {
	Provider Provider
	Base     string      // the provider's address, when it is another than its own
	Header   http.Header // what is added to each request: the key
	Log      *slog.Logger
	// Transport carries the requests; nil: one that heeds the machine's proxies.
	Transport http.RoundTripper
}

// Proxy passes on what one run asks of its models.
type Proxy struct {
	*loopback.Server
	URL    string // for the agent; without a final slash
	Secret string // the placeholder, instead of the key
	Site   string // what URL stands for

	opt       Options
	base      *url.URL
	forward   *httputil.ReverseProxy
	transport *http.Transport // nil: not ours

	mu      sync.Mutex
	used    model.Usage
	limited bool
	asked   bool
}

// Start serves until End is called.
func Start(opt Options) (*Proxy, error) {
	if opt.Base == "" {
		opt.Base = opt.Provider.Base
	}
	base, err := ParseBase(opt.Base)
	if err != nil {
		return nil, fmt.Errorf("address of the model: %w", err)
	}
	server, listener, err := loopback.Listen(opt.Log)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it is about
	}
	p := &Proxy{
		Server: server, URL: "http://" + server.Address, Secret: "mergexo-" + server.Secret, Site: base.String(), opt: opt, base: base,
	}
	if p.opt.Log == nil {
		p.opt.Log = slog.New(slog.DiscardHandler)
	}
	if p.opt.Transport == nil {
		p.transport = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library's own value
		p.transport.DisableCompression = true                         // what was used can only be read in plain text
		p.opt.Transport = p.transport
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: p.opt.Transport, FlushInterval: -1, ErrorLog: server.Quiet(), ModifyResponse: p.answer, ErrorHandler: p.broken,
	}
	server.Serve(listener, p)
	return p, nil
}

// End ends the proxy and all that is in progress, and gives what Used gives.
func (p *Proxy) End() model.Usage {
	p.Server.End()
	if p.transport != nil {
		p.transport.CloseIdleConnections()
	}
	return p.Used()
}

// Used is how many tokens the provider's answers so far have named. It is the least that was used: an answer that breaks
// off may not have come to naming any. Nothing here knows what a token costs.
func (p *Proxy) Used() model.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Limited reports whether the provider has refused anything because of a limit, its quota or its capacity, or was not asked at all:
// then the program has another one.
func (p *Proxy) Limited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limited || !p.asked
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why := 0, ""
	switch {
	case !p.admitted(r):
		status, why = http.StatusUnauthorized, "it does not have the key of this run"
	case r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect:
		status, why = http.StatusNotImplemented, "it asks for a protocol other than HTTP"
	case r.Method != http.MethodPost || r.URL.RawPath != "" || !slices.Contains(p.opt.Provider.Calls, r.URL.Path):
		status, why = http.StatusNotFound, "it is not a request to a model"
	case r.ContentLength > maxRequest:
		status, why = http.StatusRequestEntityTooLarge, fmt.Sprintf("it has more than %d bytes", maxRequest)
	default:
		p.mu.Lock()
		p.asked = true
		p.mu.Unlock()
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		p.forward.ServeHTTP(final{w}, r)
		return
	}
	p.refuse(r, why)
	w.Header().Set("Connection", "close")
	fail(w, status, "MergeXO does not pass on this request: "+why)
}

// admitted reports whether the request has the placeholder, where either provider's programs put their key.
func (p *Proxy) admitted(r *http.Request) bool {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, given := range []string{bearer, r.Header.Get("X-Api-Key")} {
		if subtle.ConstantTimeCompare([]byte(given), []byte(p.Secret)) == 1 {
			return true
		}
	}
	return false
}

// refuse logs what is not passed on.
func (p *Proxy) refuse(r *http.Request, why string) {
	p.Refused("model_request_refused", "method", loopback.Clean(r.Method, 10), "path", loopback.Clean(r.URL.Path, 100), "why", why)
}

// credentials are the headers by which somebody says who they are. The agent's are not the ones.
var credentials = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "Cookie"}

func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	to := *p.base
	to.RawQuery = r.Out.URL.RawQuery
	to.Path += r.In.URL.Path
	if to.RawPath != "" {
		to.RawPath += r.In.URL.Path // one of the provider's calls, in which nothing is escaped
	}
	r.Out.URL, r.Out.Host = &to, ""
	for _, name := range credentials {
		r.Out.Header.Del(name)
	}
	r.Out.Header.Del("Accept-Encoding") // an answer that is packed cannot be read on its way
	for name, values := range p.opt.Header {
		r.Out.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
}

// answer takes out of an answer what the agent is not to have, and has what was used counted.
func (p *Proxy) answer(r *http.Response) error {
	switch {
	case r.StatusCode >= 300 && r.StatusCode < 400 && r.StatusCode != http.StatusNotModified:
		place := "nowhere"
		if next, err := r.Location(); err == nil {
			place = next.Scheme + "://" + next.Host
		}
		return fmt.Errorf("it redirects to %s, where the key is not sent: set the model's address to where it is now", place)
	case r.StatusCode < 200 || r.StatusCode == http.StatusSwitchingProtocols:
		return errors.New("it wants another protocol")
	}
	for name, values := range r.Header {
		if !passes(name) || slices.ContainsFunc(values, func(v string) bool { return p.redact(v) != v }) {
			delete(r.Header, name)
		}
	}
	if r.StatusCode < 300 {
		r.Body = p.unquoted(r.Body)
		r.ContentLength = -1
		r.Header.Del("Content-Length")
		r.Body = &counted{ReadCloser: r.Body, meter: newMeter(r.Header.Get("Content-Type")), tell: p.add}
		return nil
	}
	if slices.Contains([]int{402, 429, 503, 529}, r.StatusCode) {
		p.add(&meter{limited: true})
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxFailure))
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if refusedForLimit(text) {
		p.add(&meter{limited: true})
	}
	said := p.redact(string(text))
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(said)), int64(len(said))
	r.Header.Set("Content-Length", strconv.Itoa(len(said)))
	return nil
}

// passes reports whether the agent may have a header of an answer: what it is, how the provider's limits stand, how the
// provider calls the request. All else may be cookies and the like.
func passes(name string) bool {
	if slices.Contains([]string{"Cache-Control", "Cf-Ray", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Request-Id", "Retry-After", "Retry-After-Ms", "X-Models-Etag", "X-Reasoning-Included", "X-Request-Id", "X-Should-Retry"}, name) {
		return true
	}
	return slices.ContainsFunc([]string{"Anthropic-", "Openai-", "X-Codex-", "X-Oai-", "X-Ratelimit-"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// keys are the values that only we send.
func (p *Proxy) keys() (keys []string) {
	const tooShort = 8 // to be a key, and not a word
	for _, values := range p.opt.Header {
		for _, v := range values {
			if key := strings.TrimPrefix(v, "Bearer "); len(key) >= tooShort {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// redact puts the placeholder where the key is: a server may quote what it does not take.
func (p *Proxy) redact(text string) string {
	for _, key := range p.keys() {
		text = strings.ReplaceAll(text, key, p.Secret)
	}
	return text
}

// unquoted is redact for an answer on its way. Of what has come it holds back only what may be the beginning of a key.
func (p *Proxy) unquoted(from io.ReadCloser) io.ReadCloser {
	return &unquoted{ReadCloser: from, keys: p.keys(), redact: p.redact}
}

type unquoted struct {
	io.ReadCloser
	keys        []string
	redact      func(string) string
	ready, held string
	err         error
}

func (u *unquoted) Read(b []byte) (n int, err error) {
	for u.ready == "" && u.err == nil {
		part := make([]byte, max(len(b), 512))
		n, u.err = u.ReadCloser.Read(part)
		u.held = u.redact(u.held + string(part[:n]))
		begun := 0
		for _, key := range u.keys {
			for i := min(len(key)-1, len(u.held)); i > begun; i-- {
				if strings.HasSuffix(u.held, key[:i]) {
					begun = i
				}
			}
		}
		if u.err != nil {
			begun = 0
		}
		u.ready, u.held = u.held[:len(u.held)-begun], u.held[len(u.held)-begun:]
	}
	n = copy(b, u.ready)
	if u.ready = u.ready[n:]; u.ready != "" {
		return n, nil
	}
	return n, u.err
}

// broken answers when the provider does not.
func (p *Proxy) broken(w http.ResponseWriter, r *http.Request, err error) {
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		why := fmt.Sprintf("it has more than %d bytes", maxRequest)
		p.refuse(r, why)
		fail(w, http.StatusRequestEntityTooLarge, "MergeXO does not pass on this request: "+why)
		return
	}
	why := p.redact(loopback.Clean(err.Error(), 300))
	if r.Context().Err() == nil {
		p.opt.Log.Warn("model_not_reached", "host", p.base.Host, "error", why)
	}
	fail(w, http.StatusBadGateway, fmt.Sprintf("MergeXO cannot reach the model at %s: %s", p.base.Host, why))
}

// fail is an error in the words of both providers.
func fail(w http.ResponseWriter, status int, message string) {
	var body bytes.Buffer
	_ = json.NewEncoder(&body).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "mergexo_error", "code": "mergexo_error", "message": message}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// final leaves out what a server says before it answers: those headers nobody has looked at.
type final struct{ http.ResponseWriter }

func (f final) WriteHeader(status int) {
	if status >= 200 {
		f.ResponseWriter.WriteHeader(status)
	}
}

func (f final) Unwrap() http.ResponseWriter { return f.ResponseWriter }
