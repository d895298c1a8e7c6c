package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	packLimit     = 4 << 30 // bytes of one push; GitHub takes 2 GiB (https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit)
	relayRequests = 16      // git makes two or three
	redirects     = 5       // that are followed
	saysWhich     = "/info/refs?service=git-receive-pack"
	takesPack     = "/git-receive-pack"
	// The status of a server whose certificate is not good (nginx has it): unlike 502 it does not ask for another try.
	statusBadCertificate = 495
)

// relay is an HTTP server on the loopback device which passes one push on to the real server and adds the credential. Its
// address has a random path; but who runs as our user can read that from git's arguments. So it passes on nothing but
// the question where refs are and the one move that is to be made.
type relay struct {
	log      *slog.Logger
	site     string // scheme and host of the real server with a final slash
	basic    string // credential for it
	one      move
	boundary []byte
	limit    int64 // bytes of what git may send

	secret    string
	address   string // what git is told to push to
	transport *http.Transport
	server    *http.Server
	end       context.CancelFunc
	serving   sync.WaitGroup // the accepting of connections and every connection

	mu       sync.Mutex
	base     string // URL of the repository; another one after a redirect
	requests int
	cause    error // why the real server was not reached
}

// relay starts a relay for one move. It ends with close, and serves nobody any more when ctx ends.
func (c *Checkout) relay(ctx context.Context, one move) (*relay, error) {
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for git: %w", err)
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails (https://pkg.go.dev/crypto/rand#Read)
	r := &relay{
		log: c.opt.Log, site: c.site, basic: c.basic, one: one, boundary: c.boundary, limit: packLimit, transport: transport,
		secret: hex.EncodeToString(random[:]), base: strings.TrimSuffix(c.opt.URL, "/"),
	}
	r.address = "http://" + listener.Addr().String() + "/" + r.secret
	ctx, r.end = context.WithCancel(ctx)
	r.server = &http.Server{
		Handler: r, BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: r.count,
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelDebug),
	}
	r.serving.Go(func() { _ = r.server.Serve(listener) }) // it always ends with an error
	return r, nil
}

// count keeps account of the connections: http.Server.Close does not wait for those who serve them.
func (r *relay) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		r.serving.Add(1)
	case http.StateClosed:
		r.serving.Done()
	default:
	}
}

// close ends the relay and all that it has under way.
func (r *relay) close() {
	r.end()
	_ = r.server.Close() // its connections are of no more use
	r.serving.Wait()
	r.transport.CloseIdleConnections()
}

func (r *relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	asked := func(method, path string) bool {
		return q.Method == method && subtle.ConstantTimeCompare([]byte(q.RequestURI), []byte("/"+r.secret+path)) == 1
	}
	refs, pack := asked(http.MethodGet, saysWhich), asked(http.MethodPost, takesPack)
	switch {
	case !refs && !pack:
		r.refuse(w, http.StatusNotFound, errors.New("nothing that a push needs"))
	case !r.admit():
		r.refuse(w, http.StatusTooManyRequests, errors.New("more requests than a push needs"))
	case refs:
		r.passRefs(w, q)
	default:
		r.passPack(w, q)
	}
}

// admit counts the requests, which cost the credential's owner something at the real server.
func (r *relay) admit() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	return r.requests <= relayRequests
}

func (r *relay) refuse(w http.ResponseWriter, status int, err error) {
	r.log.Debug("relay_refused", "status", status, "error", err)
	http.Error(w, "refused: "+clean(err.Error()), status)
}

// passRefs asks the real server where its refs are. A repository that was renamed is somewhere else on the same server;
// git is never sent there, since it has no credential for it.
func (r *relay) passRefs(w http.ResponseWriter, q *http.Request) {
	target := r.repository() + saysWhich
	for hop := 0; ; hop++ {
		answer, err := r.send(q, http.MethodGet, target, nil, 0)
		if err != nil {
			r.broken(w, err)
			return
		}
		next := r.moved(answer)
		if next == "" || hop == redirects {
			if answer.StatusCode == http.StatusOK {
				r.mu.Lock()
				r.base = strings.TrimSuffix(target, saysWhich)
				r.mu.Unlock()
			}
			r.reply(w, answer)
			return
		}
		_ = answer.Body.Close() // of a redirect nobody reads it
		target = next
	}
}

// moved is where the server says that its refs are, "" unless that is a repository of the same server.
func (r *relay) moved(answer *http.Response) string {
	if answer.StatusCode < 300 || answer.StatusCode > 399 {
		return ""
	}
	next, err := answer.Location()
	if err != nil || next.User != nil || next.Fragment != "" || !strings.EqualFold(next.Scheme+"://"+next.Host+"/", r.site) || !strings.HasSuffix(next.String(), saysWhich) {
		return ""
	}
	return next.String()
}

func (r *relay) repository() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

// passPack reads which moves are to be made and, if these are right, passes the pack on as it comes in.
func (r *relay) passPack(w http.ResponseWriter, q *http.Request) {
	body, length := io.Reader(q.Body), q.ContentLength
	switch q.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		plain, err := gzip.NewReader(q.Body)
		if err != nil {
			r.refuse(w, http.StatusBadRequest, err)
			return
		}
		body, length = plain, -1
	default:
		r.refuse(w, http.StatusUnsupportedMediaType, errors.New("an unknown encoding"))
		return
	}
	body = http.MaxBytesReader(nil, io.NopCloser(body), r.limit)
	heard, err := hear(body)
	switch {
	case err != nil:
	case heard.probe():
		err, length = ends(body), int64(len(heard.raw))
	default:
		err = heard.only(r.one, r.boundary)
	}
	if err != nil {
		r.refuse(w, http.StatusBadRequest, err)
		return
	}
	// A server may answer before it has read all. With this, net/http does not swallow what is still to come when the answer
	// begins (https://pkg.go.dev/net/http#ResponseWriter, under Write), as it does for a connection that goes on.
	w.Header().Set("Connection", "close")
	sent := &held{r: io.MultiReader(bytes.NewReader(heard.raw), body)}
	defer sent.letGo()
	answer, err := r.send(q, http.MethodPost, r.repository()+takesPack, sent, length)
	if err != nil {
		r.broken(w, err)
		return
	}
	r.reply(w, answer)
}

// held is a body that nobody reads any more once it is let go of. A transport may still be at it when the answer is
// there, and would then meet the server, which reads the next request from the same connection.
type held struct {
	mu   sync.Mutex
	r    io.Reader
	over bool
}

func (h *held) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return 0, http.ErrBodyReadAfterClose
	}
	return h.r.Read(p)
}

func (h *held) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// called is how git calls itself.
var called = regexp.MustCompile(`^git/[0-9A-Za-z.() -]{1,64}$`)

// send asks the real server, with the credential and no more of what git has sent than is needed. It follows no redirect.
func (r *relay) send(q *http.Request, method, target string, body io.Reader, length int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(q.Context(), method, target, body)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	request.ContentLength = length
	request.Header.Set("Accept", "*/*")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-git-receive-pack-request")
		request.Header.Set("Accept", "application/x-git-receive-pack-result")
	}
	request.Header.Set("User-Agent", "git/2") // GitHub knows git by it
	if name := q.UserAgent(); called.MatchString(name) {
		request.Header.Set("User-Agent", name)
	}
	if r.basic != "" {
		request.Header.Set("Authorization", "basic "+r.basic)
	}
	answer, err := r.transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	return answer, nil
}

// broken answers when the real server does not: by a status that git's words about are read as its words about that
// would be.
func (r *relay) broken(w http.ResponseWriter, err error) {
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
	r.log.Debug("relay_broken", "status", status, "error", err)
	w.WriteHeader(status)
}

// reply passes an answer on as it comes in. Of its headers only those that git needs: WWW-Authenticate would make it ask
// for a password.
func (r *relay) reply(w http.ResponseWriter, answer *http.Response) {
	defer func() { _ = answer.Body.Close() }() // it was read to its end, or is of no more use
	w.Header()["Content-Type"] = nil           // none is made up
	if kind := answer.Header.Get("Content-Type"); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if answer.ContentLength >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(answer.ContentLength, 10))
	}
	status := answer.StatusCode
	if status < 200 {
		status = http.StatusBadGateway
	}
	w.WriteHeader(status)
	if _, err := io.Copy(flushed{w}, answer.Body); err != nil {
		// An answer that breaks off must not look whole: nothing more can be written, so the connection is closed.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	}
}

// flushed passes on at once what is written to it.
type flushed struct{ w http.ResponseWriter }

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		return n, fmt.Errorf("pass on an answer: %w", err)
	}
	return n, http.NewResponseController(f.w).Flush()
}

// reword makes what git says about the relay the words about the real server.
func (r *relay) reword(said string) string {
	local := r.address
	if u, err := url.Parse(local); err == nil {
		local = u.Scheme + "://" + u.Host
	}
	said = strings.NewReplacer(r.address, r.repository(), local, strings.TrimSuffix(r.site, "/")).Replace(said)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause != nil {
		said = strings.TrimSuffix(said, "\n") + "\n" + clean(r.cause.Error()) + "\n"
	}
	return said
}
