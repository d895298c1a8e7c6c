package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/must"
)

// relayOf is a relay to a server, which limits what a connection may send after its greeting.
func relayOf(t testing.TB, url string, allowed Op, limit int64) *Relay {
	t.Helper()
	r := must.Get(Start(Server{URL: url, Site: url + "/", Log: slog.New(slog.DiscardHandler)}, allowed, nil))(t)
	t.Cleanup(r.Close)
	r.limit = limit + int64(len(greeting(r)))
	return r
}

// greeting is what git says first.
func greeting(r *Relay) string {
	return pkt(r.allowed.service + " /" + r.listener.Secret + "\x00host=127.0.0.1\x00\x00version=2\x00")
}

// dialog says something to a relay without a greeting, and gives all of the answer.
func dialog(t testing.TB, r *Relay, said string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp4", r.listener.Address))(t)
	defer conn.Close()
	_ = must.Get(io.WriteString(conn, said))(t)
	answer, _ := io.ReadAll(conn) // what there is before it is cut off
	return string(answer)
}

// talk says something to a relay as git does, and gives all that it answers before it ends the connection.
func talk(t testing.TB, r *Relay, said io.Reader) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp4", r.listener.Address))(t)
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, struct{ io.Reader }{io.MultiReader(strings.NewReader(greeting(r)), said)}) // the relay may end it before
	}()
	answer, _ := io.ReadAll(conn) // as above
	return string(answer)
}

// serving is a server that has refs/heads/x, with this answer to requests.
func serving(t testing.TB, post http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			post(w, r)
			return
		}
		service := r.URL.Query().Get("service")
		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		text := pkt("# service="+service+"\n") + "0000"
		if service == uploadPack {
			text += pkt("version 2\n") + pkt("ls-refs\n") + "0000"
		} else {
			text += pkt(here+" refs/heads/x\x00report-status\n") + "0000"
		}
		assert.NoError(t, must.Err(io.WriteString(w, text)))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAPushHasALimit(t *testing.T) {
	pack := packOf(object(3, 2<<20))
	for limit, passed := range map[int64]bool{packLimit: true, int64(len(opening) + len(pack)): true, int64(len(opening)+len(pack)) - 1: false} {
		var whole []string
		url := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if got, err := io.ReadAll(r.Body); err == nil { // what breaks off is nothing
				whole = append(whole, string(got))
			}
			assert.NoError(t, must.Err(io.WriteString(w, "done")))
		})
		r := relayOf(t, url, Pushing(one), limit)
		answer := talk(t, r, strings.NewReader(opening+pack))
		assert.Equal(t, passed, strings.HasSuffix(answer, "0000done"), "%.300q", answer)
		if passed {
			assert.True(t, slices.Equal([]string{opening + pack}, whole))
			continue
		}
		assert.Empty(t, whole)
		assert.Contains(t, r.Reword(""), "RPC failed; HTTP 413")
	}
}

func TestAnAnswerMayComeBeforeThePackIsThrough(t *testing.T) {
	got := make(chan int, 1)
	url := serving(t, func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		assert.NoError(t, rc.EnableFullDuplex())
		assert.NoError(t, must.Err(w.Write([]byte("soon"))))
		assert.NoError(t, rc.Flush())
		all, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got <- len(all)
	})
	said := opening + packOf(object(3, 8<<20))
	answer := talk(t, relayOf(t, url, Pushing(one), packLimit), strings.NewReader(said))
	assert.True(t, strings.HasSuffix(answer, "0000soon"), "%.300q", answer)
	assert.Len(t, said, <-got, "all of it")
}

// Git sends no commands where the server's refs are such that there is nothing to do, or that a lease does not hold.
func TestAPushOfNothingAsksTheServerNothing(t *testing.T) {
	url := serving(t, func(http.ResponseWriter, *http.Request) { assert.Fail(t, "the server was asked") })
	for _, said := range []string{"0000", pkt("shallow "+here) + "0000"} {
		r := relayOf(t, url, Pushing(one), packLimit)
		assert.Equal(t, pkt(here+" refs/heads/x\x00report-status\n")+"0000", talk(t, r, strings.NewReader(said)))
		assert.Empty(t, r.Reword(""))
	}
}

// twoTokens is a source whose first token the server does not take.
type twoTokens struct{ refused int }

func (s *twoTokens) Token(context.Context) (string, error) {
	return fmt.Sprint("token-", s.refused), nil
}
func (s *twoTokens) Secrets() []string   { return nil }
func (s *twoTokens) Refused(string) bool { s.refused++; return true }
func (s *twoTokens) Fresh(string) bool   { return false }

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	for good, want := range map[string]string{"token-0": "version 2", "token-1": "version 2", "token-2": "Authentication failed for"} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.Header.Get("Authorization") != "basic "+credential.Basic(good) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			assert.NoError(t, must.Err(io.WriteString(w, pkt("version 2\n")+"0000")))
		}))
		defer server.Close()
		r := relayOf(t, server.URL, Listing, packLimit)
		r.Credential = &twoTokens{}
		assert.Contains(t, talk(t, r, strings.NewReader("0000")), want, good)
		assert.LessOrEqual(t, asked, 2, good)
	}
}

// newToken is a source whose one token was made just now.
type newToken struct{ twoTokens }

func (s *newToken) Token(context.Context) (string, error) { return "new", nil }
func (s *newToken) Fresh(token string) bool               { return token == "new" }

// For some seconds a server may not know a new token. The same one is sent again, after a pause.
func TestAFreshTokenIsSentAgainAfterAPause(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "basic "+credential.Basic("new"), r.Header.Get("Authorization"))
		if asked++; asked <= 3 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		assert.NoError(t, must.Err(io.WriteString(w, pkt("version 2\n")+"0000")))
	}))
	defer server.Close()
	r, c := relayOf(t, server.URL, Listing, packLimit), clockwork.NewFakeClock()
	r.clock, r.Credential = c, &newToken{}
	go func() {
		for range 3 {
			if c.BlockUntilContext(t.Context(), 1) != nil {
				return
			}
			c.Advance(credential.FreshPause)
		}
	}()
	assert.Contains(t, talk(t, r, strings.NewReader("0000")), "version 2")
	assert.Equal(t, 4, asked)
}

func TestAnAnswerThatIsNotGitsIsNotPassedOn(t *testing.T) {
	for _, kind := range []string{"text/html", "application/x-git-receive-pack-advertisement", "", ";;"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{kind}
			assert.NoError(t, must.Err(io.WriteString(w, pkt("version 2\n")+"0000")))
		}))
		defer server.Close()
		answer := talk(t, relayOf(t, server.URL, Listing, packLimit), strings.NewReader("0000"))
		assert.Contains(t, answer, "is this a git repository?", kind)
		assert.NotContains(t, answer, "version 2", kind)
	}
}

// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
func TestARateLimitIsNoDenial(t *testing.T) {
	const denied = "Permission to octo/widgets.git denied to octocat.\n"
	for _, test := range []struct {
		status, want      int
		name, value, body string
		said              string
	}{
		{403, 403, "X-Ratelimit-Remaining", "12", denied, "the server says: Permission to octo/widgets.git denied to octocat."},
		{403, 429, "Retry-After", "60", "", ""},
		{403, 429, "X-Ratelimit-Remaining", "0", "", ""},
		{403, 429, "Date", "", "You have exceeded\na secondary\x1b rate limit.", "the server says: You have exceeded a secondary rate limit."},
		{403, 429, "Content-Type", "application/json", "You have triggered an abuse detection mechanism.", ""},
		{404, 404, "Retry-After", "60", "rate limit", "the server says: rate limit"},
		{500, 500, "Content-Type", "text/html", "<html>", ""},
		{500, 500, "Date", "", strings.Repeat("x", 5000), "the server says: " + strings.Repeat("x", 1000)},
	} {
		answer := &http.Response{StatusCode: test.status, Header: http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}, Body: io.NopCloser(strings.NewReader(test.body))}
		answer.Header.Set(test.name, test.value)
		r := Relay{clock: clock.Or(nil)}
		status, why := r.refusal(answer)
		assert.Equal(t, test.want, status, "%+v", test)
		if test.said == "" {
			assert.NoError(t, why, "%+v", test)
		} else {
			assert.EqualError(t, why, test.said)
		}
	}
}

// TestARefusalThatDoesNotEndIsCutOff: the status says enough, and somebody may hold a lock meanwhile.
func TestARefusalThatDoesNotEndIsCutOff(t *testing.T) {
	const denied = "Permission to octo/widgets.git denied to octocat."
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusForbidden)
		assert.NoError(t, must.Err(io.WriteString(w, denied)))
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-q.Context().Done()
	}))
	t.Cleanup(server.Close)
	r, c := relayOf(t, server.URL, Fetching, packLimit), clockwork.NewFakeClock()
	r.clock = c
	said := make(chan string, 1)
	go func() { said <- talk(t, r, strings.NewReader("")) }()
	require.NoError(t, c.BlockUntilContext(t.Context(), 1))
	c.Advance(refusalLimit)
	assert.Contains(t, <-said, "returned error: 403: the server says: "+denied)
}

// TestAnAnswerThatEndsEarlyIsNotWaitedFor: git waits for the flush, and would do so forever.
func TestAnAnswerThatEndsEarlyIsNotWaitedFor(t *testing.T) {
	for _, said := range []string{"", "00", pkt("packfile\n"), pkt("packfile\n") + "0001", pkt("packfile\n")[:7], pkt("packfile\n") + "zzzz"} {
		url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			assert.NoError(t, must.Err(io.WriteString(w, said)))
		})
		r := relayOf(t, url, Fetching, packLimit)
		answer := talk(t, r, strings.NewReader(pkt("command=fetch")+"0000"))
		assert.True(t, strings.HasPrefix(pkt("version 2\n")+pkt("ls-refs\n")+"0000"+said, answer), "%q", answer)
		assert.Contains(t, r.Reword(""), "RPC failed; unexpected disconnect; read the server's answer: ", "%q", said)
	}
}

// TestALineIsNoEndBecauseOfWhatFollowsInIt: a pack has every text.
func TestALineIsNoEndBecauseOfWhatFollowsInIt(t *testing.T) {
	for _, text := range []string{"0000", "xxxxERR "} {
		answer := ""
		for n := range 90 {
			answer += pkt(strings.Repeat(text, 91*n+1))
		}
		answer += "0000"
		var out strings.Builder
		require.NoError(t, passAnswer(bufio.NewReader(strings.NewReader(answer)), bufio.NewWriterSize(&out, packetLimit)))
		assert.Equal(t, len(answer), out.Len(), text)
	}
}

func TestTheServersOwnErrorIsPassedOn(t *testing.T) {
	url := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		assert.NoError(t, must.Err(io.WriteString(w, pkt("acknowledgments\n")+pkt("ERR not our ref")+pkt("more"))))
	})
	r := relayOf(t, url, Fetching, packLimit)
	answer := talk(t, r, strings.NewReader(pkt("command=fetch")+"0000"))
	assert.True(t, strings.HasSuffix(answer, pkt("acknowledgments\n")+pkt("ERR not our ref")), "%q", answer)
	assert.Empty(t, r.Reword(""), "git says it")
}

// TestWhatGitBreaksOffIsNotTheServersFault: a git that cannot use what it gets says so itself.
func TestWhatGitBreaksOffIsNotTheServersFault(t *testing.T) {
	for allowed, said := range map[*Op]string{&Fetching: pkt("command=fetch") + "0000", {service: receivePack, moves: []Move{one}}: opening + packOf(object(3, 8<<20))[:4<<20]} {
		url := serving(t, func(w http.ResponseWriter, r *http.Request) {
			line := fmt.Sprintf("%04x", packetLimit) + strings.Repeat("\x01", packetLimit-4)
			for range 1000 {
				_, _ = io.WriteString(w, line) // until nobody listens
			}
			_, _ = io.Copy(io.Discard, r.Body) // as above
		})
		r := relayOf(t, url, *allowed, packLimit)
		conn := must.Get(net.Dial("tcp4", r.listener.Address))(t)
		_ = must.Get(io.WriteString(conn, greeting(r)+said))(t)
		_ = must.Get(io.ReadFull(conn, make([]byte, 30)))(t)
		require.NoError(t, conn.Close())
		r.Close()
		assert.Empty(t, r.Reword(""), allowed)
	}
}

func TestStrangersUseUpNothing(t *testing.T) {
	url := serving(t, func(http.ResponseWriter, *http.Request) { assert.Fail(t, "the server was asked") })
	r := relayOf(t, url, Pushing(one), packLimit)
	for range 2 * r.allowed.requests() {
		assert.Contains(t, dialog(t, r, "0000"), "ERR refused")
		assert.Contains(t, dialog(t, r, strings.Replace(greeting(r), r.listener.Secret, strings.Repeat("0", len(r.listener.Secret)), 1)), "ERR refused")
	}
	assert.NotContains(t, talk(t, r, strings.NewReader("0000")), "ERR")
}

// TestALongErrorIsOneLine: what the server says its answer is can be as long as a header.
func TestALongErrorIsOneLine(t *testing.T) {
	var out strings.Builder
	tell(&out, strings.Repeat("x", 100000))
	assert.Equal(t, out.String(), string(must.Get(readPktLine(strings.NewReader(out.String())))(t)))
}

func TestAPackThatBreaksOffIsGitsOwn(t *testing.T) {
	for err, servers := range map[error]bool{
		packError{io.ErrUnexpectedEOF}: false, packError{&http.MaxBytesError{Limit: 1}}: true, io.ErrUnexpectedEOF: true,
	} {
		assert.Equal(t, servers, errors.As(unsent(fmt.Errorf("ask: %w", err)), new(*failure)), "%v", err)
	}
}
