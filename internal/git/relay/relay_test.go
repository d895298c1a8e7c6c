package relay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// process is what a process of the same user can read of another one.
type process struct{ argv, environ string }

// below are the processes that this one has started, and those that they have.
func below(t testing.TB) []process {
	t.Helper()
	parent, list := map[int]int{}, []process(nil)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		parent[pid], err = strconv.Atoi(rest[1])
		require.NoError(t, err)
	}
	for pid := range parent {
		up := parent[pid]
		for up > 1 && up != os.Getpid() {
			up = parent[up]
		}
		if up != os.Getpid() {
			continue
		}
		argv, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		environ, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err1 == nil && err2 == nil {
			list = append(list, process{string(argv), string(environ)})
		}
	}
	return list
}

// during lets a push wait in the server and gives an outsider the time to look at it. The address is what git was told to
// push to.
func during(h *gittest.Hub, push func() error, look func(address string, processes []process)) error {
	h.T.Helper()
	arrived, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var first atomic.Bool
	h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && first.CompareAndSwap(false, true) {
			close(arrived)
			<-leave
		}
		return false
	})
	go func() { done <- push() }()
	select {
	case <-arrived:
	case err := <-done:
		require.Fail(h.T, "the push did not get to the server", "%v", err)
	}
	func() {
		defer close(leave)
		processes := below(h.T)
		address := ""
		for _, p := range processes {
			if found := gittest.RelayAddress.FindString(p.argv); found != "" {
				address = found
			}
		}
		look(address, processes)
	}()
	return <-done
}

// pkt is a pkt-line.
func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// asking makes a request as an outsider and gives the answer with its body.
func asking(t *testing.T, method, target, body string, header ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(gittest.Ctx, method, target, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	require.NoError(t, err, "%s %s", method, target)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(text)
}

func TestAnOutsiderCanMakeNothingButThisPush(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	main, none := h.Tip("refs/heads/main"), strings.Repeat("0", 40)
	caps := "\x00 report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5"
	move := start + " " + sha + " refs/heads/agent/x"
	bodies := map[string]string{
		"another branch": pkt(none+" "+sha+" refs/heads/agent/y"+caps) + "0000", "a tag": pkt(none+" "+sha+" refs/tags/v1"+caps) + "0000",
		"another commit": pkt(start+" "+main+" refs/heads/agent/x"+caps) + "0000", "from elsewhere": pkt(main+" "+sha+" refs/heads/agent/x"+caps) + "0000",
		"a deletion": pkt(start+" "+none+" refs/heads/agent/x"+caps) + "0000", "deletion of main": pkt(main+" "+none+" refs/heads/main"+caps) + "0000",
		"one more": pkt(move+caps) + pkt(main+" "+none+" refs/heads/main") + "0000", "twice": pkt(move+caps) + pkt(move) + "0000",
		"one before": pkt(main+" "+none+" refs/heads/main"+caps) + pkt(move) + "0000", "after a probe": "0000" + pkt(main+" "+none+" refs/heads/main"+caps) + "0000",
		"push options": pkt(move+caps+" push-options") + "0000" + pkt("merge_request.create") + "0000", "a certificate": pkt("push-cert\x00"+caps) + "0000",
		"a foreign shallow commit": pkt("shallow "+sha) + pkt(move+caps) + "0000", "nothing": "", "no flush": pkt(move + caps), "a delimiter": pkt(move+caps) + "0001",
		"an empty line": pkt(move+caps) + "00040000", "not a length": "zzzz", "a sign": "+0a5", "too long": "ffff" + move, "cut off": "00a0" + move, "text": pkt("want "+sha) + "0000",
		"a space too many": pkt(" "+move+caps) + "0000", "another spelling": pkt(start+" "+sha+" refs/heads//agent/x"+caps) + "0000",
	}
	var mu sync.Mutex
	var upstream []string
	push := func() error {
		return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
	}
	require.NoError(t, during(h, push, func(address string, _ []process) {
		h.Behave(true, func(_ http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			upstream = append(upstream, r.Method+" "+r.URL.String())
			return false
		})
		host := address[:strings.LastIndex(address, "/")]
		for _, target := range []string{
			"GET /info/refs?service=git-upload-pack", "GET /info/refs", "GET /info/refs?service=git-receive-pack&x=1", "POST /git-upload-pack", "GET /git-receive-pack",
			"POST /git-receive-pack?x", "POST /info/refs?service=git-receive-pack", "GET /../octo/widgets/info/refs?service=git-receive-pack", "GET /HEAD", "PUT /git-receive-pack",
			"GET //info/refs?service=git-receive-pack", "GET ",
		} {
			method, path, _ := strings.Cut(target, " ")
			answer, _ := asking(t, method, address+path, "0000")
			assert.Equal(t, http.StatusNotFound, answer.StatusCode, target)
		}
		for _, secret := range []string{"", "/", "/" + strings.Repeat("0", 48), "/octo/widgets", address[len(host) : len(address)-1], address[len(host):] + "0"} {
			answer, _ := asking(t, "GET", host+secret+"/info/refs?service=git-receive-pack", "")
			assert.Equal(t, http.StatusNotFound, answer.StatusCode, secret)
		}
		assert.Empty(t, upstream, "the server was asked nothing")
	}))
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			upstream = nil
			h.Git(h.Bare, "update-ref", "refs/heads/agent/x", start)
			err := during(h, push, func(address string, _ []process) {
				h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
					upstream = append(upstream, r.Method+" "+r.URL.String())
					return false
				})
				for encoding, sent := range map[string]string{"": body, "gzip": gzipped(t, body), "br": body} {
					answer, _ := asking(t, "POST", address+"/git-receive-pack", sent, "Content-Encoding", encoding)
					assert.GreaterOrEqual(t, answer.StatusCode, 400, encoding)
				}
				assert.Empty(t, upstream, "the server was asked nothing")
			})
			require.NoError(t, err)
			assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
			assert.Equal(t, main, h.Tip("refs/heads/main"))
			assert.Empty(t, h.Tip("refs/heads/agent/y")+h.Tip("refs/tags/v1"))
		})
	}
}

func TestWhatPassesTheRelayIsLittle(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	var seen []http.Header
	var late string
	require.NoError(t, during(h, func() error {
		return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
	}, func(address string, _ []process) {
		late = address
		h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			seen = append(seen, r.Header.Clone())
			for _, name := range []string{"Set-Cookie", "WWW-Authenticate", "Location", "X-Else", "Strict-Transport-Security", "Alt-Svc"} {
				w.Header().Set(name, "x")
			}
			return false
		})
		probe, _ := asking(t, "POST", address+"/git-receive-pack", gzipped(t, "0000"), "Content-Encoding", "gzip", "Cookie", "a=b", "Authorization", "basic eA==", "X-Else", "x", "User-Agent", "evil\tagent", "Git-Protocol", "version=2")
		assert.Equal(t, http.StatusOK, probe.StatusCode)
		answer, text := asking(t, "GET", address+"/info/refs?service=git-receive-pack", "", "User-Agent", "git/2.39.5 (x)")
		assert.Contains(t, text, start+" refs/heads/agent/x")
		for name := range answer.Header {
			assert.Contains(t, []string{"Content-Type", "Content-Length", "Date"}, name)
		}
		requests := 3
		for ; requests < 30; requests++ {
			if answer, _ := asking(t, "GET", address+"/info/refs?service=git-receive-pack", ""); answer.StatusCode == http.StatusTooManyRequests {
				break
			}
		}
		assert.Less(t, requests, 30, "somebody asks too much")
	}))
	auth := "basic " + gittest.Encoded
	assert.Equal(t, http.Header{
		"Accept": {"application/x-git-receive-pack-result"}, "Content-Type": {"application/x-git-receive-pack-request"}, "User-Agent": {"git/2"}, "Authorization": {auth},
		"Content-Length": {"4"},
	}, seen[0])
	assert.Equal(t, http.Header{"Accept": {"*/*"}, "User-Agent": {"git/2.39.5 (x)"}, "Authorization": {auth}}, seen[1])
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))

	seen = nil
	require.NoError(t, during(h, func() error { _, err := fetch.Remote(gittest.Ctx, c); return err }, func(address string, _ []process) {
		h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
			seen = append(seen, r.Header.Clone())
			return false
		})
		for _, version := range []string{"version=2", "version=2:x"} {
			asking(t, "GET", address+"/info/refs?service=git-upload-pack", "", "Cookie", "a=b", "Git-Protocol", version, "User-Agent", "git/2.39.5")
		}
	}))
	plain := http.Header{"Accept": {"*/*"}, "User-Agent": {"git/2.39.5"}, "Authorization": {auth}}
	assert.Equal(t, plain, seen[1], "git says one version")
	plain.Set("Git-Protocol", "version=2")
	assert.Equal(t, plain, seen[0])

	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, late+"/info/refs?service=git-receive-pack", nil)
	require.NoError(t, err)
	_, err = http.DefaultTransport.RoundTrip(request)
	require.ErrorContains(t, err, "connection refused", "after the push nobody is there")
	gittest.Stays(t)
}
