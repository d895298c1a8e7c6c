package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/credential"
)

const (
	// tries is how often one request is sent at most, whatever the reasons for sending it again.
	tries = 4
	// maxBody bounds an answer in bytes; GitHub's largest here are GraphQL pages of a few megabytes.
	maxBody = 64 << 20
	// longAnswer is how many times longer the answer may take of which only the end is kept.
	longAnswer = 4
)

// wire carries every request of the gateway, REST and GraphQL alike: it adds the token, counts, retries reads, waits for
// short rate limits and turns every answer from 400 on into an Error. go-github's own handling of limits would compare
// with the wall clock and refuse to send; since it never sees a limit, it never does.
type wire struct {
	options       Options
	api, graph    *url.URL
	rest, graphql *atomic.Int64
	worked        atomic.Bool // a token did, once
	doubts        atomic.Int32
}

// manner is what a request does to the server: nothing at all, or nothing more when it is sent twice.
type manner struct {
	reads, repeats bool
	pages          bool // a query that can be asked for less
	json           bool // the answer is to be JSON
}

// repeats is the mark of a write that may be sent again, in its context: go-github hands on nothing else.
type repeats struct{}

// repeatable marks writes that change nothing when they are sent twice.
func repeatable(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeats{}, true)
}

// answer is one attempt's response, read whole, so that a body cut off half-way counts as no answer.
type answer struct {
	*http.Response
	body []byte
}

// RoundTrip implements http.RoundTripper. Its errors are *Error, or the context's.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() // each attempt sends a copy
	}
	isGraph := w.is(w.graph, req.URL) && req.URL.Path == w.graph.Path
	m := manner{reads: req.Method == http.MethodGet || req.Method == http.MethodHead || isGraph && req.Context().Value(mutates{}) == nil}
	m.repeats = m.reads || req.Context().Value(repeats{}) != nil
	m.pages = isGraph && req.Context().Value(hasPages{}) != nil
	_, isTail := req.Context().Value(tailOnly{}).(*tail)
	m.json = !isTail && strings.HasSuffix(req.Header.Get("Accept"), "json") // not a diff, and not a log, whose address leads elsewhere
	heavy := 0
	var waited time.Duration
	for try := 1; ; try++ {
		token, err := w.token(req)
		if err != nil {
			return nil, err
		}
		a, sent, err := w.attempt(req, token, isGraph)
		w.logAttempt(req, a, try, err)
		v := w.classify(a, err, sent, m)
		if w.isAPI(req.URL) {
			w.doubt(&v, token)
			w.remember(v.err)
		}
		if v.err == nil {
			// go-github would take the last permitted request for a reason to refuse the next one by itself.
			a.Header.Del("X-Ratelimit-Reset")
			return a.Response, nil
		}
		if ended := req.Context().Err(); ended != nil {
			v.err.Err = ended
			return nil, v.err
		}
		v.wait = max(v.wait, w.backoff(v, try))
		if v.err.Kind == TooHeavy {
			heavy++
		}
		if !v.again || try == tries || heavy == heavyTries || waited+v.wait > w.options.MaxWait {
			return nil, v.err
		}
		waited += v.wait
		if err := w.options.Sleep(req.Context(), v.wait); err != nil {
			v.err.Err = err
			return nil, v.err
		}
	}
}

// mostDoubts is how often in a run a fresh token is sent again that may not do something: it may be none of its permissions.
const mostDoubts = 3

// doubt has a request sent again whose token was refused: with another one where there is one, and with the same one where GitHub may
// not know that one everywhere yet.
func (w *wire) doubt(v *verdict, token string) {
	if v.err == nil || v.err.Kind != Unauthorized && !v.err.Lacks {
		return
	}
	switch fresh := w.options.Credential.Fresh(token); {
	case fresh && (v.err.Kind == Unauthorized || w.doubts.Add(1) <= mostDoubts):
		v.again, v.wait = true, max(v.wait, credential.FreshPause)
	case v.err.Kind == Unauthorized:
		v.again = v.again || w.options.Credential.Refused(token)
	}
}

// remember notes that the token works, and makes an expired one of a token that did and is refused now.
func (w *wire) remember(e *Error) {
	switch {
	case e == nil:
		w.worked.Store(true)
	case e.Kind == Unauthorized && w.worked.Load():
		e.Kind, e.Fix = Expired, fixExpired
		e.Message += ": the token has expired or was revoked in the middle of this run"
	}
}

// token is the one for a request; "" for one that leads elsewhere. It goes to the APIs that were named and to nothing else,
// wherever a redirect points: not to the storage that a log is in either, which may be another part of the same server, and
// which refuses what brings one.
func (w *wire) token(req *http.Request) (string, error) {
	if !w.isAPI(req.URL) {
		return "", nil
	}
	return w.options.Credential.Token(req.Context())
}

// attempt sends the request once. sent is false only when it is certain that the server got nothing.
func (w *wire) attempt(req *http.Request, token string, isGraph bool) (a answer, sent bool, err error) {
	if err := req.Context().Err(); err != nil {
		return answer{}, false, err
	}
	timeout := w.options.Timeout
	end, isTail := req.Context().Value(tailOnly{}).(*tail)
	if isTail {
		timeout *= longAnswer
		end.stored = !w.isAPI(req.URL)
	}
	ctx, cancel := clock.WithTimeout(req.Context(), w.options.Clock, timeout)
	defer cancel()
	var asked, connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	out := req.Clone(ctx)
	if req.GetBody != nil {
		if out.Body, err = req.GetBody(); err != nil {
			return answer{}, false, fmt.Errorf("read the request's body: %w", err)
		}
	}
	out.Header.Del("Authorization")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := w.options.Transport.RoundTrip(out)
	a, err = read(resp, err, end)
	var dial *net.OpError
	sent = err == nil || !(asked.Load() && !connected.Load() || errors.As(err, &dial) && dial.Op == "dial")
	if sent && isGraph {
		w.graphql.Add(1)
	} else if sent {
		w.rest.Add(1)
	}
	return a, sent, err
}

// read reads an answer whole. Of one with a tail that alone is kept, apart from it: nothing else is to be made of its text.
func read(resp *http.Response, err error, end *tail) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	if resp == nil {
		return answer{}, errors.New("no response")
	}
	defer resp.Body.Close()
	var body []byte
	if end != nil && resp.StatusCode == http.StatusOK {
		err = end.read(resp.Body)
	} else {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	}
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxBody {
		return answer{}, fmt.Errorf("the answer is larger than %d MiB", maxBody>>20)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return answer{resp, body}, nil
}

// redirect follows reads anywhere (without the token, elsewhere) and writes only where the method, the host and what the
// address names within its repository stay: those of a repository that was renamed. An issue that was transferred has
// another number, and whatever was to be written is not for the people who read it there.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (w *wire) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != req.Method || len(via) >= 5 {
		return http.ErrUseLastResponse
	}
	if first.Method == http.MethodGet {
		return nil
	}
	isGraph := w.is(w.graph, first.URL) && first.URL.Path == w.graph.Path
	if !w.is(w.api, req.URL) && !w.is(w.graph, req.URL) || !isGraph && w.within(first.URL) != w.within(req.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

// within is what a REST address names within a repository: "issues/7" of /repos/OWNER/NAME/issues/7 and of
// /repositories/ID/issues/7. Of any other address it is the whole path.
func (w *wire) within(u *url.URL) string {
	path := strings.TrimPrefix(u.EscapedPath(), w.api.Path)
	if rest, ok := strings.CutPrefix(path, "/repos/"); ok {
		if parts := strings.SplitN(rest, "/", 3); len(parts) == 3 {
			return parts[2]
		}
	}
	if rest, ok := strings.CutPrefix(path, "/repositories/"); ok {
		if _, what, ok := strings.Cut(rest, "/"); ok {
			return what
		}
	}
	return path
}

func (w *wire) line(s string) string { return oneLine(credential.Redact(w.options.Credential, s)) }

// is tells whether u is on the server of root: scheme, host and port.
func (w *wire) is(root, u *url.URL) bool { return root.Scheme == u.Scheme && root.Host == u.Host }

// isAPI tells whether u is within one of the two APIs.
func (w *wire) isAPI(u *url.URL) bool {
	return w.is(w.api, u) && strings.HasPrefix(u.Path, w.api.Path+"/") || w.is(w.graph, u) && u.Path == w.graph.Path
}

func (w *wire) logAttempt(req *http.Request, a answer, try int, err error) {
	args := []any{"method", req.Method, "path", credential.Redact(w.options.Credential, req.URL.Path), "try", try}
	if err != nil {
		w.options.Log.InfoContext(req.Context(), "github_request_failed", append(args, "error", w.line(err.Error()))...)
		return
	}
	w.options.Log.DebugContext(req.Context(), "github_request", append(args, "status", a.StatusCode)...)
}
