package relay_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// process is what a process of the same user can read of another one.
type process struct{ argv, environ string }

// below are the processes that this one has started, and those that they have.
func below(t testing.TB) []process {
	t.Helper()
	parent, list := map[int]int{}, []process(nil)
	stats := gittest.Must(filepath.Glob("/proc/[0-9]*/stat"))(t)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid := gittest.Must(strconv.Atoi(filepath.Base(filepath.Dir(path))))(t)
		parent[pid] = gittest.Must(strconv.Atoi(rest[1]))(t)
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
			if found := gittest.RelayAddress.FindString(p.environ); found != "" {
				address = found
			}
		}
		look(address, processes)
	}()
	return <-done
}

// pkt is a pkt-line.
func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// asking says something to the relay as an outsider who knows its address, and gives all that it answers before it ends the
// connection: first what the server has, if what it was greeted with belongs to the operation.
func asking(t *testing.T, address, service, said string) string {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(address, "git://"), "/")
	return dialog(t, host, pkt(service+" /"+path+"\x00host="+host+"\x00\x00version=2\x00")+said)
}

// dialog says something to whoever listens, and gives all of the answer.
func dialog(t *testing.T, host, said string) string {
	t.Helper()
	conn := gittest.Must(net.Dial("tcp4", host))(t)
	defer func() { _ = conn.Close() }()
	gittest.Must(io.WriteString(conn, said))(t)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, _ := io.ReadAll(conn) // what there is before it is cut off
	return string(answer)
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
	watch := func() {
		upstream = nil
		h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			upstream = append(upstream, r.Method)
			return false
		})
	}
	push := func() error {
		return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
	}
	require.NoError(t, during(h, push, func(address string, _ []process) {
		watch()
		host, secret, _ := strings.Cut(strings.TrimPrefix(address, "git://"), "/")
		right := "git-receive-pack /" + secret + "\x00host=" + host + "\x00"
		for _, said := range []string{
			"0000", "zzzz", pkt(""), pkt("git-receive-pack"), pkt("git-upload-pack /" + secret + "\x00host=x\x00\x00version=2\x00"), pkt("git-upload-archive /" + secret), pkt("git-receive-pack /"),
			pkt("git-receive-pack /" + strings.Repeat("0", 48)), pkt("git-receive-pack /octo/widgets"), pkt("git-receive-pack /" + secret[1:]), pkt("git-receive-pack /" + secret + "0"),
			pkt("git-receive-pack " + secret), pkt("git-receive-pack  /" + secret), pkt("GIT-RECEIVE-PACK /" + secret), right, "GET /" + secret + "/info/refs?service=git-receive-pack HTTP/1.0\r\n\r\n",
		} {
			assert.Regexp(t, "^.{4}ERR refused, since this is a push: ", dialog(t, host, said), "%q", said)
		}
		for _, said := range []string{"", "00", pkt(right)[:20]} {
			assert.Empty(t, dialog(t, host, said), "it has ended itself: %q", said)
		}
		assert.Empty(t, upstream, "the server was asked nothing")
	}))
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			h.Git(h.Bare, "update-ref", "refs/heads/agent/x", start)
			err := during(h, push, func(address string, _ []process) {
				watch()
				answer := asking(t, address, "git-receive-pack", body)
				_, after, told := strings.Cut(answer, "0000")
				assert.True(t, told, "%q", answer)
				if !slices.Contains([]string{"nothing", "no flush", "cut off", "after a probe"}, name) { // these are ends
					assert.Contains(t, after, "ERR refused, since this is a push: ")
				}
				assert.Equal(t, []string{"GET"}, upstream, "the server was asked for nothing but its refs")
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
	watch := func(_ http.ResponseWriter, r *http.Request) bool {
		header := r.Header.Clone()
		header.Del("Content-Length")
		seen = append(seen, header)
		return false
	}
	var late string
	require.NoError(t, during(h, func() error {
		return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
	}, func(address string, _ []process) {
		late = address
		requests := 0
		for ; requests < 30; requests++ {
			if answer := asking(t, address, "git-receive-pack", ""); strings.Contains(answer, "more requests than it needs") {
				break
			}
		}
		assert.Less(t, requests, 30, "somebody asks too much")
	}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	host, _, _ := strings.Cut(strings.TrimPrefix(late, "git://"), "/")
	require.ErrorContains(t, gittest.Err(net.Dial("tcp4", host)), "connection refused", "after the push nobody is there")
	gittest.Stays(t)

	ask := func(service, version string) []http.Header {
		header := http.Header{"Accept": {"*/*"}, "User-Agent": {"git/2"}, "Authorization": {"basic " + gittest.Encoded}}
		if version != "" {
			header.Set("Git-Protocol", version)
		}
		post := header.Clone()
		post.Set("Accept", "application/x-"+service+"-result")
		post.Set("Content-Type", "application/x-"+service+"-request")
		return []http.Header{header, post}
	}
	h.Behave(false, watch)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	assert.Equal(t, ask("git-receive-pack", ""), seen)
	seen = nil
	gittest.Must(history.RemoteRefs(gittest.Ctx, c))(t)
	assert.Equal(t, ask("git-upload-pack", "version=2"), seen)
}
