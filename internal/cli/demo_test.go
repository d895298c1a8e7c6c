package cli_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

// demo is a running mergexo sandbox --demo.
type demo struct {
	*running
	t    testing.TB
	url  string // of octo/widgets
	door string // the address with the key
	key  string
	said string
	temp string
}

func newDemo(t testing.TB, args ...string) *demo {
	t.Helper()
	temp := t.TempDir()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	p := &running{Cmd: prepared(t, []string{"TMPDIR=" + temp}, append([]string{"sandbox", "--demo"}, args...)...)}
	p.Stdout, p.Stderr = w, &p.errout
	require.NoError(t, p.Start())
	require.NoError(t, w.Close())
	t.Cleanup(func() { _ = p.Process.Kill() }) // where a test failed half-way
	d := &demo{running: p, t: t, temp: temp}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		d.said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "Ctrl-C") {
			break
		}
	}
	first, _, _ := strings.Cut(d.said, "\n")
	d.door = strings.TrimPrefix(first, "Open ")
	origin, key, ok := strings.Cut(d.door, "/?key=")
	require.True(t, ok, "%s", &p.errout)
	d.url, d.key = origin+"/octo/widgets", key
	return d
}

// page gives a page once no event is waiting for a run: it is answered when they are done.
func (d *demo) page(path string) string {
	d.t.Helper()
	for {
		if shown := d.ask(http.MethodGet, path+"?wait", nil); !strings.Contains(shown, "MergeXO is working") {
			return shown
		}
	}
}

func (d *demo) send(form string, fields url.Values) {
	d.t.Helper()
	d.ask(http.MethodPost, form, fields)
}

// ask sends a request as a browser that has been let in.
func (d *demo) ask(method, path string, form url.Values) string {
	d.t.Helper()
	req := must.Get(http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(form.Encode())))(d.t)
	req.AddCookie(&http.Cookie{Name: "key", Value: d.key})
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(r *http.Request, before []*http.Request) error {
		r.AddCookie(&http.Cookie{Name: "key", Value: d.key})
		return nil
	}}
	resp := must.Get(client.Do(req))(d.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(d.t)
	require.Equal(d.t, http.StatusOK, resp.StatusCode, "%s", raw)
	return string(raw)
}

// opened is the address that a new browser ends at behind a printed link.
func opened(t *testing.T, link string) string {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	resp := must.Get((&http.Client{Jar: jar}).Get(link))(t)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, link)
	asked := must.Get(url.Parse(link))(t)
	if asked.Path != "/" { // which leads to the repository
		require.Equal(t, asked.Path, resp.Request.URL.Path)
	}
	return resp.Request.URL.String()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	d := newDemo(t)
	u := must.Get(url.Parse(d.url))(t)
	golden.File(t, "demo.txt", strings.NewReplacer(u.Host, "127.0.0.1:8080", d.key, "0f3a9c51d27e4b8860c1f2ab93d57e14").Replace(d.said))
	for _, link := range regexp.MustCompile(`http://\S+`).FindAllString(d.said, -1) {
		assert.NotContains(t, opened(t, link), "key=", link)
	}
	assert.Contains(t, d.page("/pull/2"), "Applied to line 3 of <code>greet.py</code>.")
	assert.Contains(t, d.page("/issues/1"), `<a href="`+d.url+`/pull/5">#5</a>`)

	d.send("/2/comment", url.Values{"as": {"octo"}, "body": {"/mergexo merge"}})
	assert.Contains(t, d.page("/pull/2"), `<span class="badge green">open</span>`, "it waits for an approval")
	d.send("/2/review", url.Values{"as": {"alice"}, "event": {"APPROVE"}})
	merged := d.page("/pull/2")
	assert.Contains(t, merged, `<span class="badge violet">merged</span>`)
	assert.Contains(t, d.page("/actions"), "pull_request_review</code> by alice")
	assert.Contains(t, d.page("/train"), "There is no merge train.")

	require.NoError(t, d.Process.Signal(os.Interrupt))
	got := d.ended()
	assert.Zero(t, got.exit)
	assert.Empty(t, got.errout)
	assert.Empty(t, must.Get(filepath.Glob(filepath.Join(d.temp, "*demo*")))(t), "nothing stays")
}

func TestADemoWithStateGoesOn(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	d := newDemo(t, "--state", state)
	d.page("")
	require.NoError(t, d.Process.Signal(syscall.SIGTERM))
	assert.Zero(t, d.ended().exit)
	assert.Contains(t, d.said, "the same --state continues it")
	d = newDemo(t, "--state", state)
	assert.Equal(t, 2, strings.Count(d.page("/actions"), `class="title"`), "nothing happened again")
	assert.Contains(t, d.page("/pull/2"), "Applied to line 3")
}

func TestWhereADemoCannotListen(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	at := l.Addr().String()
	mistakes(t, map[string]mistake{
		"the port":              {nil, []string{"sandbox", "--demo", "--listen", at}, "mergexo: --listen " + at + ": the port is in use: give another one, or port 0 for one that is free\n"},
		"the port of a sandbox": {nil, []string{"sandbox", "--state", t.TempDir(), "--listen", at}, "mergexo: --listen " + at + ": the port is in use: give another one, or port 0 for one that is free\n"},
		"all machines":          {nil, []string{"sandbox", "--demo", "--listen", "0.0.0.0:0"}, "mergexo: --listen 0.0.0.0:0: the demo is for this machine only: want 127.0.0.1:PORT\n"},
		"no host":               {nil, []string{"sandbox", "--demo", "--listen", "8080"}, "mergexo: --listen 8080: want HOST:PORT, as 127.0.0.1:8080\n"},
		"no port":               {nil, []string{"sandbox", "--demo", "--listen", "127.0.0.1:x"}, "mergexo: --listen 127.0.0.1:x: listen tcp: lookup tcp/x: unknown port\n"},
		"a seed":                {nil, []string{"sandbox", "--demo", "--seed", "x"}, "mergexo: --demo begins with a repository of its own: leave --seed out\n"},
	})
}
