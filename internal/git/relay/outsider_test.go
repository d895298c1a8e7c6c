package relay_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// asked are the requests that the server gets from here on.
type asked struct {
	h    *gittest.Hub
	mu   sync.Mutex
	seen []string
}

func (a *asked) watch() {
	a.mu.Lock()
	a.seen = nil
	a.mu.Unlock()
	a.h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, r.Method)
		return false
	})
}

// refused lets an outsider try something: the relay says no, and the server was asked for nothing but what it has.
func (a *asked) refused(t *testing.T, address, service, said string) string {
	t.Helper()
	answer := asking(t, address, service, said)
	assert.Contains(t, answer, "ERR refused", "%q", said)
	a.mu.Lock()
	defer a.mu.Unlock()
	assert.NotContains(t, a.seen, "POST", "%q", said)
	return answer
}

func TestAnOutsiderCanReadNothingElseAndPushNothing(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	fetching := pkt("command=fetch") + "0001" + pkt("want "+start) + pkt("done") + "0000"
	for name, test := range map[string]struct {
		do        func(*git.Checkout) error
		forbidden func(a *asked, address string)
	}{
		"listing of refs": {func(c *git.Checkout) error {
			_, err := history.RemoteRefs(gittest.Ctx, c, "refs/heads/main")
			return err
		}, func(a *asked, address string) {
			a.refused(t, address, "git-upload-pack", fetching)
			a.refused(t, address, "git-upload-pack", pkt("want "+start)+"0000"+pkt("done"))
			listing := pkt("command=ls-refs") + "0001" + pkt("ref-prefix refs/heads/") + "0000"
			assert.Contains(t, asking(t, address, "git-upload-pack", strings.Repeat(listing, 30)), "more requests than it needs", "on one connection")
			assert.Contains(t, asking(t, address, "git-upload-pack", ""), "more requests than it needs", "nor on another one")
		}},
		"fetch": {func(c *git.Checkout) error {
			_, err := history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x")
			return err
		}, func(a *asked, address string) {
			a.refused(t, address, "git-upload-pack", pkt("command=object-info")+"0001"+pkt("oid "+start)+"0000")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var logged strings.Builder
			c := h.Open("", func(o *git.Options) { o.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
			require.NoError(t, during(h, func() error { return test.do(c) }, func(address string, _ []process) {
				a := &asked{h: h}
				a.watch()
				said := a.refused(t, address, "git-receive-pack", pkt(start+" "+strings.Repeat("0", 40)+" refs/heads/main\x00report-status")+"0000")
				assert.Equal(t, pkt("ERR refused, since this is a "+name+": \"git-receive-pack\""), said)
				a.refused(t, address, "git-upload-archive", "0000")
				a.refused(t, address[:len(address)-1]+"x", "git-upload-pack", "")
				a.refused(t, address[:strings.LastIndex(address, "/")]+"/octo/widgets", "git-upload-pack", "")
				host, path, _ := strings.Cut(strings.TrimPrefix(address, "git://"), "/")
				assert.Contains(t, dialog(t, host, pkt("git-upload-pack /"+path+"\x00host="+host+"\x00")), "an old version of git's protocol")
				assert.Empty(t, a.seen, "the server was asked nothing")
				answer := asking(t, address, "git-upload-pack", pkt("command=ls-refs")+"0001"+pkt("ref-prefix refs/heads/")+"0000")
				assert.Contains(t, answer, start+" refs/heads/agent/x", "what the operation needs is passed on")
				a.watch()
				test.forbidden(a, address)
			}))
			assert.Regexp(t, `level=WARN msg=relay_refused operation="?`+name+`"? error=`, logged.String())
			assert.NotContains(t, logged.String(), gittest.Encoded)
		})
	}
	assert.NotEmpty(t, h.Tip("refs/heads/main"))
}

func TestAnOutsiderCannotSplitAnAtomicPush(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	main, none := h.Tip("refs/heads/main"), strings.Repeat("0", 40)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, sha))
	const caps = "\x00 report-status-v2 side-band-64k atomic object-format=sha1 agent=git/2.39.5"
	move, drop := start+" "+sha+" refs/heads/agent/x", sha+" "+none+" "+gittest.Stage
	require.NoError(t, during(h, func() error {
		return transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage})
	}, func(address string, _ []process) {
		a := &asked{h: h}
		a.watch()
		for _, body := range []string{
			pkt(move+caps) + "0000", pkt(drop+caps) + "0000", pkt(drop+strings.Replace(caps, " atomic", "", 1)) + pkt(move) + "0000",
			pkt(move+caps) + pkt(main+" "+none+" "+gittest.Stage) + "0000", pkt(move+caps) + pkt(sha+" "+main+" "+gittest.Stage) + "0000",
			pkt(move+caps) + pkt(drop) + pkt(main+" "+none+" refs/heads/main") + "0000", pkt(main+" "+sha+" refs/heads/agent/x"+caps) + pkt(drop) + "0000",
		} {
			a.refused(t, address, "git-receive-pack", body)
		}
	}))
	assert.Equal(t, sha+main, h.Tip("refs/heads/agent/x")+h.Tip("refs/heads/main"))
	assert.Empty(t, h.Tip(gittest.Stage))
}

func TestAnOutsiderCanForceAStageToNothingElse(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	none := strings.Repeat("0", 40)
	require.NoError(t, transport.Stage(gittest.Ctx, c, gittest.Stage, start))
	const caps = "\x00 report-status-v2 side-band-64k object-format=sha1"
	require.NoError(t, during(h, func() error { return transport.Stage(gittest.Ctx, c, gittest.Stage, sha) }, func(address string, _ []process) {
		a := &asked{h: h}
		a.watch()
		for _, move := range []string{
			start + " " + none + " " + gittest.Stage, start + " " + start + " " + gittest.Stage, none + " " + sha + " " + gittest.Stage, sha + " " + sha + " " + gittest.Stage,
			start + " " + sha + " refs/heads/agent/x", none + " " + sha + " refs/mergexo/turn/7/other",
		} {
			a.refused(t, address, "git-receive-pack", pkt(move+caps)+"0000")
		}
	}))
	assert.Equal(t, sha, h.Tip(gittest.Stage))
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
}
