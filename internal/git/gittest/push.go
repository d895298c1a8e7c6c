package gittest

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/transport"
)

const Stage = "refs/mergexo/turn/7/abc"

// Turn is a checkout of agent/x with one commit of ours on top of start.
func Turn(t *testing.T) (h *Hub, c *git.Checkout, start, sha string) {
	h = NewHub(t)
	start = h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	c = h.Open(h.Workspace("agent/x", "--depth=1"))
	require.NoError(t, checkout.Restore(Ctx, c, "agent/x", "main", start))
	Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	sha, made, err := Commit(c, "answer the review")
	require.NoError(t, err)
	require.True(t, made)
	return h, c, start, sha
}

// Commit commits what is in a checkout on its HEAD.
func Commit(c *git.Checkout, message string) (sha string, made bool, err error) {
	head, err := c.Head(Ctx)
	if err != nil {
		return "", false, err
	}
	return checkout.Commit(Ctx, c, head, message)
}

// Committed is the commit of something in a checkout.
func Committed(t testing.TB, c *git.Checkout, message string) string {
	t.Helper()
	sha, made, err := Commit(c, message)
	require.NoError(t, err)
	require.True(t, made)
	return sha
}

// Dirty reports whether a checkout has anything to commit on its HEAD.
func Dirty(c *git.Checkout) (bool, error) {
	head, err := c.Head(Ctx)
	if err != nil {
		return false, err
	}
	return checkout.Dirty(Ctx, c, head)
}

// Discard is a response that nobody gets.
type Discard struct{}

func (Discard) Header() http.Header { return http.Header{} }

func (d Discard) Write(p []byte) (int, error) { return len(p), nil }

func (d Discard) WriteHeader(int) {}

// Ways are the two ways to publish, which go to the server alike.
var Ways = map[string]func(context.Context, *git.Checkout, transport.Update) error{
	"publish": func(ctx context.Context, c *git.Checkout, p transport.Update) error {
		return transport.Publish(ctx, c, p)
	},
	"isolated": func(ctx context.Context, c *git.Checkout, p transport.Update) error {
		return transport.PublishIsolated(ctx, c, p)
	},
}

// Outcome is what callers tell errors of a push apart by.
type Outcome struct {
	Unclear bool
	Failure git.Failure
	Ref     string
	Reason  git.Reason
}

func OutcomeOf(err error) Outcome {
	var o Outcome
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		o.Failure = failed.Failure
	}
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) {
		o.Ref, o.Reason = rejected.Ref, rejected.Reason
	}
	o.Unclear = errors.As(err, new(*git.ErrUnclear))
	return o
}

// Stays sees to it that nothing of a relay is left: what ends by itself when its connection is closed may take a moment.
func Stays(t *testing.T) {
	t.Helper()
	clocktest.Until(t, func() bool {
		return !regexp.MustCompile(`internal/git/relay\.|internal/loopback`).MatchString(goroutines())
	}, "no goroutine of the relay is left")
	clocktest.Until(t, func() bool { return !strings.Contains(goroutines(), "net/http.(*persistConn)") }, "no connection to the server is left")
}

// goroutines is what all goroutines are at.
func goroutines() string {
	text := make([]byte, 4<<20)
	return string(text[:runtime.Stack(text, true)])
}

var RelayAddress = regexp.MustCompile(`git://127\.0\.0\.1:\d+/[A-Z2-7]{26}`)

// At opens a checkout whose clock stands at so many seconds after the usual one.
func (h *Hub) At(seconds int64) *git.Checkout {
	return h.Open("", func(o *git.Options) { o.Now = func() time.Time { return time.Unix(1800000000+seconds, 0) } })
}

func Lease(holder string, seconds int64) transport.Lease {
	return transport.Lease{Holder: holder, Until: time.Unix(1800000000+seconds, 0).UTC(), URL: "https://example.com/runs/" + holder}
}

// Dead is what is told of a lock whose holder has died.
func (h *Hub) Dead(c *git.Checkout) *transport.ErrLocked {
	h.T.Helper()
	_, err := transport.AcquireLock(Ctx, h.At(0), "main", Lease("dead", 600))
	require.NoError(h.T, err)
	_, err = transport.AcquireLock(Ctx, c, "main", Lease("two", 600))
	var locked *transport.ErrLocked
	require.ErrorAs(h.T, err, &locked)
	return locked
}

// Lose takes the answer to the next request of a kind away. Unless it is applied the server breaks down before it.
func (h *Hub) Lose(path string, applied bool) {
	h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, path) {
			return false
		}
		h.Behave(false, nil)
		if !applied {
			http.Error(w, "something broke", http.StatusInternalServerError)
			return true
		}
		h.ServeHTTP(Discard{}, r)
		panic(http.ErrAbortHandler)
	})
}

// Weigh counts the bytes that the server sends.
func (h *Hub) Weigh(t *testing.T) func() int {
	t.Helper()
	counter := &weighed{}
	var serve func(w http.ResponseWriter, r *http.Request) bool
	serve = func(w http.ResponseWriter, r *http.Request) bool {
		counter.ResponseWriter = w
		h.Behave(false, nil)
		h.ServeHTTP(counter, r)
		h.Behave(false, serve)
		return true
	}
	h.Behave(false, serve)
	return func() int { return counter.bytes }
}

type weighed struct {
	http.ResponseWriter
	bytes int
}

func (w *weighed) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return w.ResponseWriter.Write(p)
}
