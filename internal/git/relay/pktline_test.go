package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		_, err := Pushing(one).vetPush(strings.NewReader(said+"0000PACK"), at, boundary)
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

// relayOf is a relay to a server which has said where refs are.
func relayOf(t testing.TB, url string, allowed Op, limit int64) *Relay {
	t.Helper()
	r, err := Start(Server{URL: url, Site: url + "/", Log: slog.New(slog.DiscardHandler)}, allowed, nil)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	r.limit, r.at = limit, map[string]string{"refs/heads/x": here}
	return r
}

func TestAPackHasALimit(t *testing.T) {
	asked := make(chan string, 3)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got, err := io.ReadAll(r.Body); err == nil { // what breaks off is nothing
			asked <- string(got)
		}
	}))
	const size = 2 << 20
	opening := pkt(rightMove) + "0000"
	r := relayOf(t, server.URL, Pushing(one), int64(len(opening))+size)
	for _, test := range []struct {
		text string
		want int
	}{
		{opening + strings.Repeat("p", size), http.StatusOK}, {opening + strings.Repeat("p", size+1), http.StatusRequestEntityTooLarge},
		{"0000", http.StatusOK}, {"0000x", http.StatusBadRequest},
	} {
		answer, err := http.Post(r.Address+"/git-receive-pack", "", struct{ io.Reader }{strings.NewReader(test.text)}) // of no known length
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, test.want, answer.StatusCode)
	}
	r.Close()
	server.Close()
	close(asked)
	var whole []string
	for text := range asked {
		whole = append(whole, text)
	}
	assert.True(t, slices.Equal([]string{opening + strings.Repeat("p", size), "0000"}, whole), "and nothing else came in whole: %d", len(whole))
	assert.ErrorContains(t, expectEOF(io.MultiReader(strings.NewReader(""), broken{})), "broken", "an end that cannot be read is none")
}

func TestAnAnswerMayComeBeforeThePackIsThrough(t *testing.T) {
	got := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		assert.NoError(t, rc.EnableFullDuplex())
		_, err := w.Write([]byte("soon"))
		assert.NoError(t, err)
		assert.NoError(t, rc.Flush())
		all, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got <- len(all)
	}))
	defer server.Close()
	r := relayOf(t, server.URL, Pushing(one), packLimit)
	said := pkt(rightMove) + "0000" + strings.Repeat("p", 8<<20)
	answer, err := http.Post(r.Address+"/git-receive-pack", "", struct{ io.Reader }{strings.NewReader(said)})
	require.NoError(t, err)
	defer func() { assert.NoError(t, answer.Body.Close()) }()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	assert.Len(t, said, <-got, "all of it")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }
