package relay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/credential"
)

var (
	here, there = strings.Repeat("1", 40), strings.Repeat("a2", 20)
	one         = Move{here, there, "refs/heads/x"}
	rightMove   = here + " " + there + " refs/heads/x"
)

func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

func TestWhatIsSaidAheadOfThePackIsReadAndNoMore(t *testing.T) {
	said := pkt("shallow "+here) + pkt("shallow "+there+"\n") + pkt(rightMove+"\x00 report-status-v2 side-band-64k quiet atomic object-format=sha1 agent=git/2.39.5") +
		pkt(ZeroID+" "+here+" refs/heads/y\n") + "0000"
	r := strings.NewReader(said + "PACK")
	heard, err := readPushRequest(r)
	require.NoError(t, err)
	assert.Equal(t, pushRequest{
		raw: []byte(said), moves: []Move{one, {ZeroID, here, "refs/heads/y"}}, shallow: []string{here, there},
		capabilities: []string{"report-status-v2", "side-band-64k", "quiet", "atomic", "object-format=sha1", "agent=git/2.39.5"},
	}, heard)
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "PACK", string(rest))
}

func TestOnlyTheOneMoveIsRight(t *testing.T) {
	boundary, at := []byte(here+"\n"), map[string]string{"refs/heads/x": here}
	for said, right := range map[string]bool{
		pkt(rightMove): true, pkt("shallow "+here) + pkt(rightMove+"\x00agent=x session-id=y"): true, pkt(rightMove + "\n"): true,
		pkt("shallow "+there) + pkt(rightMove): false, pkt("shallow " + here): false, "": false, pkt(rightMove) + pkt(rightMove): false,
		pkt(rightMove + "\x00push-options"): false, pkt(rightMove + "\x00push-cert=x"): false, pkt(rightMove + "\x00object-format=sha256"): false, pkt(rightMove + "\x00agent"): false,
		pkt(ZeroID + " " + there + " refs/heads/x"): false, pkt(here + " " + here + " refs/heads/x"): false, pkt(here + " " + there + " refs/heads/y"): false,
		pkt(rightMove+"\x00quiet") + pkt(here+" "+ZeroID+" refs/heads/main"): false,
	} {
		err := vetted(Pushing(one), said+"0000PACK", at, boundary)
		assert.Equal(t, right, err == nil, "%q: %v", said, err)
	}
}

func TestPktLinesThatGitDoesNotSendAreRefused(t *testing.T) {
	for _, said := range []string{
		"", "000", "0001", "0002", "0003", "0004", "00040000", "xxxx", "+001", "-001", "0x10", " 010", "00a0short", pkt(rightMove), "fff1" + strings.Repeat("x", 70000),
		pkt("push-cert\x00") + "0000", pkt(here+" "+there) + "0000", pkt(strings.ToUpper(there)+" "+here+" refs/heads/x") + "0000", pkt(here+" "+there+" x") + "0000",
		pkt(rightMove+"\r") + "0000", pkt("shallow "+here+"\x00quiet") + "0000", pkt("shallow x") + "0000", strings.Repeat(pkt("shallow "+here), 80700) + "0000",
	} {
		_, err := readPushRequest(strings.NewReader(said))
		require.Error(t, err, "%.60q", said)
	}
}

// FuzzHear: what was heard is what stands there byte by byte, and said again it means the same.
func FuzzHear(f *testing.F) {
	for _, said := range []string{"0000", pkt(rightMove+"\x00 quiet agent=x") + "0000PACK", pkt("shallow "+here) + pkt(rightMove) + "0000", "0004", "ffff", "0001", "00a0short", ""} {
		f.Add([]byte(said))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bytes.NewReader(text)
		heard, err := readPushRequest(r)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(text, heard.raw) || len(heard.raw)+r.Len() != len(text) || !bytes.HasSuffix(heard.raw, []byte("0000")) {
			t.Fatalf("%q was heard as %q", text, heard.raw)
		}
		again, err := readPushRequest(bytes.NewReader(heard.raw))
		require.NoError(t, err)
		assert.Equal(t, heard, again)
		if slices.Equal(heard.moves, []Move{one}) && !bytes.Contains(heard.raw, []byte(rightMove)) {
			t.Fatalf("%q is not the right move", heard.raw)
		}
	})
}

// relayOf is a relay to a server, which limits what a connection may send after its greeting.
func relayOf(t testing.TB, url string, allowed Op, limit int64) *Relay {
	t.Helper()
	r, err := Start(Server{URL: url, Site: url + "/", Log: slog.New(slog.DiscardHandler)}, allowed, nil)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	r.limit = limit + int64(len(greeting(r)))
	return r
}

// greeting is what git says first.
func greeting(r *Relay) string {
	return pkt(r.allowed.service + " /" + r.listener.Secret + "\x00host=127.0.0.1\x00\x00version=2\x00")
}

// talk says something to a relay as git does, and gives all that it answers before it ends the connection.
func talk(t testing.TB, r *Relay, said io.Reader) string {
	t.Helper()
	conn, err := net.Dial("tcp4", r.listener.Address)
	require.NoError(t, err)
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
		_, err := io.WriteString(w, text)
		assert.NoError(t, err)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAPushHasALimit(t *testing.T) {
	pack := packOf(object(3, 2<<20))
	opening := pkt(rightMove) + "0000"
	for limit, passed := range map[int64]bool{packLimit: true, int64(len(opening) + len(pack)): true, int64(len(opening)+len(pack)) - 1: false} {
		var whole []string
		url := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if got, err := io.ReadAll(r.Body); err == nil { // what breaks off is nothing
				whole = append(whole, string(got))
			}
			_, err := io.WriteString(w, "done")
			assert.NoError(t, err)
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
		_, err := w.Write([]byte("soon"))
		assert.NoError(t, err)
		assert.NoError(t, rc.Flush())
		all, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got <- len(all)
	})
	said := pkt(rightMove) + "0000" + packOf(object(3, 8<<20))
	answer := talk(t, relayOf(t, url, Pushing(one), packLimit), strings.NewReader(said))
	assert.True(t, strings.HasSuffix(answer, "0000soon"), "%.300q", answer)
	assert.Len(t, said, <-got, "all of it")
}

// Git sends no commands where the server's refs are such that there is nothing to do, or that a lease does not hold.
func TestAPushOfNothingAsksTheServerNothing(t *testing.T) {
	url := serving(t, func(http.ResponseWriter, *http.Request) { assert.Fail(t, "the server was asked") })
	for _, said := range []string{"0000", pkt("shallow "+here) + "0000"} {
		r := relayOf(t, url, Pushing(one), packLimit)
		answer := talk(t, r, strings.NewReader(said))
		assert.Equal(t, pkt(here+" refs/heads/x\x00report-status\n")+"0000", answer)
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
			_, err := io.WriteString(w, pkt("version 2\n")+"0000")
			assert.NoError(t, err)
		}))
		defer server.Close()
		r := relayOf(t, server.URL, Listing, packLimit)
		r.Credential = &twoTokens{}
		assert.Contains(t, talk(t, r, strings.NewReader("0000")), want, good)
		assert.LessOrEqual(t, asked, 2, good)
	}
}

func TestAnAnswerThatIsNotGitsIsNotPassedOn(t *testing.T) {
	for _, kind := range []string{"text/html", "application/x-git-receive-pack-advertisement", ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{kind}
			_, err := io.WriteString(w, pkt("version 2\n")+"0000")
			assert.NoError(t, err)
		}))
		defer server.Close()
		answer := talk(t, relayOf(t, server.URL, Listing, packLimit), strings.NewReader("0000"))
		assert.Contains(t, answer, "is this a git repository?", kind)
		assert.NotContains(t, answer, "version 2", kind)
	}
}

// https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#rate-limit-errors
func TestARateLimitIsNoDenial(t *testing.T) {
	for _, test := range []struct {
		status, want int
		name, value  string
		body         string
	}{
		{403, 403, "X-Ratelimit-Remaining", "12", "Permission to octo/widgets.git denied to octocat."},
		{403, 429, "Retry-After", "60", ""},
		{403, 429, "X-Ratelimit-Remaining", "0", ""},
		{403, 429, "Date", "", "You have exceeded a secondary rate limit."},
		{403, 429, "Date", "", "You have triggered an abuse detection mechanism."},
		{404, 404, "Retry-After", "60", "rate limit"},
		{200, 200, "X-Ratelimit-Remaining", "0", ""},
	} {
		answer := &http.Response{StatusCode: test.status, Header: http.Header{test.name: {test.value}}, Body: io.NopCloser(strings.NewReader(test.body))}
		assert.Equal(t, test.want, statusIn(answer), "%+v", test)
	}
}
