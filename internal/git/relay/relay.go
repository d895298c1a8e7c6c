// Package relay relays one fetch or push between git and the server, and adds the credential, which git never sees. It allows
// only the current operation.
//
// With git it speaks git's own protocol on the loopback device, for which git starts no helper program. With the server it speaks
// HTTP. It knows the protocol and no repository.
package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/loopback"
)

const (
	packLimit = 4 << 30 // bytes of one connection; GitHub takes 2 GiB a push (https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit)
	patience  = time.Minute
)

// Server is a repository's real server, and how to reach it from this machine.
type Server struct {
	URL        string            // of the repository
	Site       string            // scheme and host of URL with a final slash
	Credential credential.Source // gives the token of each request; nil: anonymous
	Network    []string          // proxy and certificate settings, as NAME=value
	Log        *slog.Logger
}

// Relay serves git on the loopback device, passes one operation on to the real server and adds the credential. Its address has
// a random path, but processes of our own user can read that from git's environment. So it only passes on what the operation
// needs.
type Relay struct {
	Server
	allowed  Op
	boundary []byte // the shallow boundary here
	limit    int64  // limit for what git may send, in bytes
	clock    clock.Clock

	Address   string // the repository's URL for git
	transport *http.Transport
	listener  *loopback.Server

	mu       sync.Mutex
	base     string // URL of the repository; another one after a redirect
	requests int
	cause    string // why the server did not do what git asked for, where git was not told
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
		Server: s, allowed: allowed, boundary: boundary, limit: packLimit, clock: clock.Or(nil), transport: transport,
		listener: local, Address: "git://" + local.Address + "/" + local.Secret, base: strings.TrimSuffix(s.URL, "/"),
	}
	local.ServeConns(listener, r.serve)
	return r, nil
}

// Close ends the relay and its pending requests.
func (r *Relay) Close() {
	r.listener.End()
	r.transport.CloseIdleConnections()
}

// serve serves one connection (https://git-scm.com/docs/gitprotocol-pack#_git_transport): git names the service and the
// repository, the server says what it has, then come git's requests and the server's answers.
func (r *Relay) serve(ctx context.Context, conn net.Conn) {
	in := bufio.NewReader(http.MaxBytesReader(nil, conn, r.limit))
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	err := r.greeted(in)
	_ = conn.SetReadDeadline(time.Time{})
	if err == nil && r.allowed.service == receivePack {
		err = r.push(ctx, in, conn)
	} else if err == nil {
		err = r.read(ctx, in, conn)
	}
	if ctx.Err() == nil { // else nobody waits for an answer
		r.answer(conn, err)
	}
}

// answer tells git why it does not get what it asked for, if it is still there.
func (r *Relay) answer(conn io.Writer, err error) {
	var failed *failure
	switch {
	case err == nil:
	case errors.As(err, &failed):
		r.Log.Debug("relay_failed", "error", failed)
		if failed.late {
			r.note(failed.said)
		} else {
			tell(conn, failed.said)
		}
	case errors.As(err, new(overError)), isCut(err): // git tells itself why
		r.Log.Debug("relay_left", "error", err)
	default: // what git itself never says
		said := syntax.Clean(err.Error())
		r.listener.Refused("relay_refused", "operation", r.allowed.String(), "error", said)
		tell(conn, fmt.Sprintf("refused, since this is a %s: %s", r.allowed, said))
	}
}

// isCut reports whether a connection has ended before what was to come.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(net.Error))
}

// tell gives git an error in place of an answer, on which it ends (https://git-scm.com/docs/gitprotocol-common#_abnf_notation
// and _pkt_line_format).
func tell(to io.Writer, text string) {
	text = fmt.Sprintf("ERR %.2000s", text)
	_, _ = fmt.Fprintf(to, "%04x%s", len(text)+4, text) // whoever no longer listens knows already
}

// secondVersion asks for the only version of the protocol in which each request stands for itself, as over HTTP
// (https://git-scm.com/docs/protocol-v2). A push has no such version.
const secondVersion = "version=2"

// greeted reads what git says first. It is an error unless that belongs to the operation and knows the secret.
func (r *Relay) greeted(in *bufio.Reader) error {
	line, err := readPktLine(in)
	if err != nil {
		return err
	}
	asked, more, _ := strings.Cut(string(line[4:]), "\x00")
	service, path, _ := strings.Cut(asked, " ")
	switch {
	case subtle.ConstantTimeCompare([]byte(path), []byte("/"+r.listener.Secret)) != 1:
		return fmt.Errorf("%.100q of another repository", service)
	case service != r.allowed.service:
		return fmt.Errorf("%.100q", service)
	case service == uploadPack && !slices.Contains(strings.Split(more, "\x00"), secondVersion):
		return errors.New("an old version of git's protocol")
	}
	return r.admit()
}

// admit counts the requests of those who know the secret: each counts towards the credential's rate limit.
func (r *Relay) admit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests++; r.requests > r.allowed.requests() {
		return errors.New("more requests than it needs")
	}
	return nil
}

// read passes on what git asks of upload-pack, one request after another.
func (r *Relay) read(ctx context.Context, in *bufio.Reader, out io.Writer) error {
	if err := r.advertise(ctx, out, func(string) {}); err != nil {
		return err
	}
	for {
		request, err := r.allowed.readRequest(in)
		if err != nil || request == nil {
			return err
		}
		if err := r.admit(); err != nil {
			return err
		}
		if err := r.pass(ctx, bytes.NewReader(request), out); err != nil {
			return err
		}
	}
}

// push passes on a push. Where git has nothing to do once it knows the server's refs, the server is not asked.
func (r *Relay) push(ctx context.Context, in *bufio.Reader, out io.Writer) error {
	at := map[string]string{} // the refs of the push as the server has reported them
	for _, m := range r.allowed.moves {
		at[m.Ref] = ""
	}
	if err := r.advertise(ctx, out, func(line string) {
		if sha, ref, ok := strings.Cut(line, " "); ok && syntax.IsSHA(sha) {
			if _, asked := at[ref]; asked {
				at[ref] = sha
			}
		}
	}); err != nil {
		return err
	}
	said, err := readPushRequest(in)
	if errors.Is(err, io.EOF) || err == nil && len(said.moves) == 0 {
		return nil
	}
	if err == nil {
		err = r.allowed.vetPush(said, at, r.boundary)
	}
	if err == nil {
		err = r.admit()
	}
	if err != nil {
		return err
	}
	if !said.hasPack() {
		return r.pass(ctx, bytes.NewReader(said.raw), out)
	}
	pack := packFrom(in)
	defer pack.Close()
	return r.pass(ctx, io.MultiReader(bytes.NewReader(said.raw), pack), out)
}

// note records why the server did not do what git asked for.
func (r *Relay) note(cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = cause
}

// repository is the repository's URL on the real server.
func (r *Relay) repository() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
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
	if r.cause != "" {
		said = strings.TrimSuffix(said, "\n") + "\n" + r.cause + "\n"
	}
	return said
}
